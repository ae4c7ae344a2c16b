import { meanInterval } from '../../core/stats/mean-interval.ts'
import { dollars } from '../numbers.ts'
import { type Axis, linearAxis } from './axis.ts'
import { axisLabels, yLabels } from './axis-labels.ts'
import { type Html, html } from './markup.ts'
import { type Column, cellOf, type Model } from './model.ts'
import { label } from './text.ts'

const HEIGHT = 300
const PLOT_HEIGHT = HEIGHT + 26
const LEVEL = 0.95
const DRAWN = 26
const RADIUS = 9

interface Point {
  readonly column: Column
  readonly quality: { readonly est: number; readonly lo: number | null; readonly hi: number | null }
  /** USD per cell; a lower bound where the charge of some cell is unknown. */
  readonly cost: {
    readonly est: number
    readonly lo: number | null
    readonly hi: number | null
    readonly bound: boolean
  }
}

/** Mean score against cost per cell, each with its interval over scenarios; a letter for each variant. */
export function pareto(model: Model): Html | null {
  const points = model.columns.slice(0, DRAWN).flatMap((column) => pointOf(model, column) ?? [])
  if (points.length < 2) return null
  const x = linearAxis(
    [0, ...points.flatMap(({ cost }) => [cost.est, cost.lo, cost.hi].filter((value) => value !== null))],
    0.08,
    0,
  )
  const y = linearAxis(
    points.flatMap(({ quality }) => [quality.est, quality.lo, quality.hi].filter((value) => value !== null)),
    0.12,
  )
  const words = points.map(
    ({ column, quality, cost }) =>
      `${label(column.summary.id, 40)} ${model.scores.value(quality.est)} at ${cost.bound ? 'at least ' : ''}${dollars(cost.est)}`,
  )
  return html`<h3>Mean score against cost per cell</h3>
<p class="legend">${points.map(({ column, cost }) => html`<span><span class="letter">${column.letter}</span> ${label(column.summary.id, 40)}${placeOf(column)}${cost.bound ? ' (cost at least)' : null}</span> `)}</p>
<div class="chart">${yLabels(y.ticks.map((tick) => [up(y, tick), model.scores.value(tick)]))}<svg class="pane" width="100%" height="${PLOT_HEIGHT}" role="img" aria-label="Mean score against cost per cell: ${words.join('; ')}">
${gridOf(x, y)}
${points.map((point) => drawn(point, x, y))}
</svg></div>
<p class="q">Up and to the left is better. The crosses are ${Math.round(LEVEL * 100)} % intervals over scenarios, of the score as in the report, of the cost by the same method; an arrow says that some charge is unknown and the cost is a lower bound.</p>
`
}

function placeOf({ summary: { frontier } }: Column): string | null {
  if (frontier.class === null) return null
  const chance = frontier.probability === null ? '' : ` ${(frontier.probability * 100).toFixed(0)} %`
  return ` — ${frontier.class}${chance}`
}

function pointOf(model: Model, column: Column): Point | null {
  const { mean, cost } = column.summary
  if (mean.est === null) return null
  const perScenario: number[] = []
  let unknown = false
  model.cells.scenarios.forEach((_, at) => {
    const charges: number[] = []
    model.cells.seeds.forEach((__, seed) => {
      const record = cellOf(model, column, at, seed)
      if (record === undefined || record.attempts === 0) return
      if (record.cost.usd === null) unknown = true
      else charges.push(record.cost.usd)
    })
    if (charges.length > 0) perScenario.push(charges.reduce((sum, usd) => sum + usd, 0) / charges.length)
  })
  const { mean: est, lo, hi } = meanInterval(perScenario, LEVEL)
  if (est === null) return null
  const bound = unknown || cost.provenance === 'uncaptured'
  return {
    column,
    quality: { est: mean.est, lo: mean.lo, hi: mean.hi },
    cost: bound
      ? { est, lo: null, hi: null, bound }
      : { est: cost.perCellUsd ?? est, lo: lo === null ? null : Math.max(0, lo), hi, bound },
  }
}

function gridOf(x: Axis, y: Axis): Html {
  return html`<rect class="frame" width="100%" height="${HEIGHT}"/>
${y.ticks.map((tick) => html`<line class="grid" x1="0" x2="100%" y1="${up(y, tick)}" y2="${up(y, tick)}"/>`)}${axisLabels(x, dollars, HEIGHT + 18)}`
}

const up = (axis: Axis, value: number): number => Math.round((HEIGHT * (100 - axis.at(value))) / 10) / 10

function drawn({ column, quality, cost }: Point, x: Axis, y: Axis): Html {
  const [cx, cy] = [x.at(cost.est), up(y, quality.est)]
  return html`<g>${
    quality.lo === null || quality.hi === null
      ? null
      : html`<line class="ci" x1="${cx}%" x2="${cx}%" y1="${up(y, quality.lo)}" y2="${up(y, quality.hi)}"/>`
  }${
    cost.bound
      ? html`<line class="ci" x1="${cx}%" x2="100%" y1="${cy}" y2="${cy}" stroke-dasharray="3 4"/><text class="arrow" x="100%" y="${cy + 5}" text-anchor="end">▶</text>`
      : cost.lo === null || cost.hi === null
        ? null
        : html`<line class="ci" x1="${x.at(cost.lo)}%" x2="${x.at(cost.hi)}%" y1="${cy}" y2="${cy}"/>`
  }<circle class="disc" cx="${cx}%" cy="${cy}" r="${RADIUS}"/><text class="in" x="${cx}%" y="${cy + 4}" text-anchor="middle">${column.letter}</text></g>
`
}
