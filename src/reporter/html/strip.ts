import { cellValue } from '../../core/report/arm.ts'
import { type Html, html } from './markup.ts'
import { type Column, cellOf, type Model } from './model.ts'

const SLOT = 9
const WIDE = 7
const HIGH = 16
/** Seeds drawn; the numbers beside the strip count all of them. */
const DRAWN = 24

/**
 * One slot per seed: a bar as high as its score, a cross where the subject failed, a dashed box where nothing was
 * measured. What it shows stands beside it in words.
 */
export function seedStrip(model: Model, column: Column, scenario: number): Html {
  const [bottom, top] = model.range
  const seeds = model.cells.seeds.slice(0, DRAWN)
  let bars = ''
  let failed = ''
  let gone = ''
  let base = ''
  seeds.forEach((_, seed) => {
    const x = seed * SLOT + 1
    const record = cellOf(model, column, scenario, seed)
    const value = cellValue(record, bottom)
    if (value === null) gone += `M${x} 1h${WIDE}v${HIGH - 2}h-${WIDE}z`
    else if (record?.status === 'task_fail') failed += `M${x + 1} ${HIGH - 7}l5 5m0-5l-5 5`
    else {
      const height = Math.round(((value - bottom) / (top - bottom || 1)) * (HIGH - 2))
      if (height > 0) bars += `M${x} ${HIGH - 1}v-${height}h${WIDE}v${height}z`
      base += `M${x} ${HIGH - 0.5}h${WIDE}`
    }
  })
  return html`<svg class="st" width="${seeds.length * SLOT}" height="${HIGH}" aria-hidden="true">${path('sb', bars)}${path('sl', base)}${path('sx', failed)}${path('sm', gone)}</svg>`
}

const path = (name: string, d: string): Html | null => (d === '' ? null : html`<path class="${name}" d="${d}"/>`)
