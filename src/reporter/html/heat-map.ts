import { type Content, type Html, html } from './markup.ts'
import { type Column, type Model, meanAt, type Row } from './model.ts'
import { label, scrolling } from './text.ts'

/** Up to so many scenarios and variants each cell has its number; beyond, the map is a picture of the whole. */
const NUMBERED_ROWS = 40
const NUMBERED_COLUMNS = 12
/** Scenarios drawn at all, the worst first. */
const DRAWN_CELLS = 12_000
const PER_BLOCK = 50

const STEPS = 5

/** Mean score of every scenario in every variant. Missing cells are hatched; no colour stands without its word or number. */
export function heatMap(model: Model): Html {
  const { rows, columns } = model
  const numbered = rows.length <= NUMBERED_ROWS && columns.length <= NUMBERED_COLUMNS
  return html`<h3>Mean score by scenario and variant</h3>
<p class="legend">${scaleSamples(model)}</p>
${numbered ? numberedMap(model) : picture(model)}`
}

function scaleSamples({ scores, range: [bottom, top] }: Model): Content {
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const edge = (at: number): string => scores.value(bottom + ((top - bottom) * at) / STEPS)
    return html`<span><svg width="14" height="14" aria-hidden="true"><rect class="h${step}" width="14" height="14"/></svg> ${edge(step)} to ${edge(step + 1)}</span> `
  })
  return html`${steps}<span><svg width="14" height="14" aria-hidden="true"><rect class="hx" width="14" height="14"/></svg> missing</span>`
}

/** 0 to STEPS − 1; null where no seed was measured. */
function stepOf({ range: [bottom, top] }: Model, column: Column, at: number): number | null {
  const mean = meanAt(column, at)
  if (mean === null) return null
  return Math.min(STEPS - 1, Math.max(0, Math.floor(((mean - bottom) / (top - bottom || 1)) * STEPS)))
}

function numberedMap(model: Model): Html {
  const { rows, columns, cells, scores } = model
  const body = rows.map(({ at, scenario }) => {
    const heat = columns.map((column) => {
      const step = stepOf(model, column, at)
      const mean = meanAt(column, at)
      const gone = cells.seeds.length - (column.arm.observed[at] ?? 0)
      if (step === null || mean === null) return html`<td class="hx"><span>missing</span></td>`
      return html`<td class="h${step}${gone > 0 ? ' part' : ''}">${scores.value(mean)}${gone > 0 ? html` <span>${gone} missing</span>` : null}</td>`
    })
    return html`<tr><th scope="row">${label(scenario.id, 60)}</th>${heat}</tr>
`
  })
  return scrolling(
    'Mean score by scenario and variant',
    html`<table class="heat"><thead><tr><th scope="col">scenario</th>${columns.map(({ summary }) => html`<th scope="col">${label(summary.id, 40)}</th>`)}</tr></thead>
<tbody>
${body}</tbody></table>`,
  )
}

const CELL = 14
const HIGH = 7

/** Blocks of scenarios beside each other, one column per variant, one path per colour: the numbers stand in the table. */
function picture(model: Model): Html {
  const { rows, columns } = model
  const drawn = rows.slice(0, Math.max(1, Math.floor(DRAWN_CELLS / Math.max(1, columns.length))))
  const blocks: Html[] = []
  for (let from = 0; from < drawn.length; from += PER_BLOCK) blocks.push(blockOf(model, drawn, from))
  const left = rows.length - drawn.length
  return html`<p class="q">Worst scenario first, top to bottom and block by block; columns ${columns.map(({ letter, summary }, i) => html`${i === 0 ? '' : ', '}<span class="letter">${letter}</span> ${label(summary.id, 40)}`)}. The numbers are in the table of scenarios.${left > 0 ? ` ${left} more scenarios are not drawn.` : null}</p>
<div class="blocks">${blocks}</div>`
}

function blockOf(model: Model, drawn: readonly Row[], from: number): Html {
  const rows = drawn.slice(from, from + PER_BLOCK)
  const paths = new Map<string, string>()
  let missing = 0
  rows.forEach(({ at }, y) => {
    model.columns.forEach((column, x) => {
      const step = stepOf(model, column, at)
      if (step === null) missing++
      const name = step === null ? 'hx' : `h${step}`
      paths.set(name, `${paths.get(name) ?? ''}M${x * CELL} ${14 + y * HIGH}h${CELL - 1}v${HIGH - 1}h${1 - CELL}z`)
    })
  })
  const width = model.columns.length * CELL
  const words = `scenarios ${from + 1} to ${from + rows.length} of ${model.rows.length}, ${missing} of ${rows.length * model.columns.length} missing`
  return html`<svg class="block" width="${width}" height="${14 + rows.length * HIGH}" role="img" aria-label="${words}">${model.columns.map(({ letter }, x) => html`<text x="${x * CELL + CELL / 2}" y="10" text-anchor="middle">${letter}</text>`)}${[...paths].map(([name, d]) => html`<path class="${name}" d="${d}"/>`)}</svg>
`
}
