import { CLOCKS, type Clock, isLive, runTime } from '../../core/report/latency.ts'
import { duration } from '../numbers.ts'
import { type Axis, linearAxis, logarithmicAxis } from './axis.ts'
import { axisLabels, yLabels } from './axis-labels.ts'
import { type Html, html } from './markup.ts'
import { type Column, cellOf, type Model } from './model.ts'
import { label, section } from './text.ts'

const HEIGHT = 240
const PLOT_HEIGHT = HEIGHT + 26
const SHARES = [0, 0.25, 0.5, 0.75, 1]
/** Curves beside each other that can still be told apart by their dashes. */
const DRAWN = 8
/** Steps of a curve; more are drawn at as many evenly spaced ranks. */
const STEPS = 240
/** Times that differ by more than this factor stand on a logarithmic axis. */
const WIDE = 30

interface Curve {
  readonly column: Column
  readonly at: number
  /** Ascending; Infinity where the cell was cut off at its limit. */
  readonly times: readonly number[]
}

/** Share of runs done after a time. A run cut off at its limit never counts as done: its curve ends below 100 %. */
export function latencies(model: Model): Html | null {
  const clocks = CLOCKS.filter((clock) => clock === 'provider' || isLive(model.cells.records))
  const plots = clocks.flatMap((clock) => plot(model, clock) ?? [])
  return plots.length === 0 ? null : section('latency', 'Latency', plots)
}

function plot(model: Model, clock: Clock): Html | null {
  const curves = model.columns.slice(0, DRAWN).flatMap((column, at): Curve[] => {
    const times = timesOf(model, column, clock)
    return times.some(Number.isFinite) ? [{ column, at, times }] : []
  })
  if (curves.length === 0) return null
  const finite = curves.flatMap(({ times }) => times.filter(Number.isFinite))
  const [low, high] = finite.reduce(
    ([a, b], time) => [Math.min(a, time), Math.max(b, time)],
    [Number.POSITIVE_INFINITY, 0],
  )
  const axis = low > 0 && high / low > WIDE ? logarithmicAxis([low, high]) : linearAxis([0, high], 0.03, 0)
  const censored = curves.some(({ times }) => times.some((time) => !Number.isFinite(time)))
  return html`<h3>${clock === 'provider' ? 'Provider time of a cell' : 'Wall clock of a cell'}</h3>
<p class="legend">${curves.map(({ column, at, times }) => html`<span><svg width="30" height="12" aria-hidden="true"><path class="k${at}" d="M0 6H30"/></svg> <span class="letter">${column.letter}</span> ${label(column.summary.id, 40)}: ${summary(times)}</span> `)}</p>
<div class="chart${censored ? ' ends' : ''}">${yLabels(SHARES.map((share) => [HEIGHT * (1 - share), `${share * 100} %`]))}<svg class="pane" width="100%" height="${PLOT_HEIGHT}" role="img" aria-label="Share of cells done after a time. ${curves.map(({ column, times }) => `${label(column.summary.id, 40)}: ${summary(times)}`).join('; ')}">
<rect class="frame" width="100%" height="${HEIGHT}"/>
${SHARES.map((share) => html`<line class="grid" x1="0" x2="100%" y1="${HEIGHT * (1 - share)}" y2="${HEIGHT * (1 - share)}"/>`)}
<svg width="100%" height="${HEIGHT}" viewBox="0 0 100 ${HEIGHT}" preserveAspectRatio="none">${curves.map(({ at, times }) => html`<path class="k${at}" d="${stepsOf(times, axis)}"/>`)}</svg>
${axisLabels(axis, duration, HEIGHT + 18)}
</svg>${censored ? ends(curves) : null}</div>
</svg>
${censored ? html`<p class="q">✕ at the right: cells cut off at their limit; they took longer, nobody knows how long.</p>` : null}
`
}

function timesOf(model: Model, column: Column, clock: Clock): number[] {
  const times: number[] = []
  model.cells.scenarios.forEach((_, at) => {
    model.cells.seeds.forEach((__, seed) => {
      const record = cellOf(model, column, at, seed)
      const time = record === undefined ? null : runTime(record, clock)
      if (time !== null) times.push(time)
    })
  })
  return times.sort((a, b) => a - b)
}

function summary(times: readonly number[]): string {
  const at = (share: number): string => {
    const time = times[Math.min(times.length - 1, Math.ceil(share * times.length) - 1)]
    return time === undefined ? 'unknown' : Number.isFinite(time) ? duration(time) : 'beyond the limit'
  }
  const gone = times.filter((time) => !Number.isFinite(time)).length
  return `${times.length} cells, half in ${at(0.5)}, 95 % in ${at(0.95)}${gone > 0 ? `, ${gone} cut off` : ''}`
}

/** A step per run, or per so many of them, from the lower left on. */
function stepsOf(times: readonly number[], axis: Axis): string {
  const n = times.length
  const done = times.filter(Number.isFinite).length
  const count = Math.min(STEPS, done)
  let path = `M0 ${HEIGHT}`
  for (let step = 1; step <= count; step++) {
    const rank = Math.ceil((step / count) * done)
    const y = Math.round(HEIGHT * (1 - rank / n) * 10) / 10
    path += `H${axis.at(times[rank - 1] ?? 0)}V${y}`
  }
  return `${path}H100`
}

/** What was cut off, beside the end of its curve; below each other where the curves end at one height. */
function ends(curves: readonly Curve[]): Html {
  let free = 0
  const marks = curves
    .map(({ column, times }) => ({
      column,
      gone: times.filter((time) => !Number.isFinite(time)).length,
      all: times.length,
    }))
    .filter(({ gone }) => gone > 0)
    .sort((a, b) => a.gone / a.all - b.gone / b.all)
    .map(({ column, gone, all }) => {
      const y = Math.max(free, Math.round(HEIGHT * (gone / all)) + 4)
      free = y + 14
      return html`<text x="4" y="${y}">✕ ${column.letter} ${gone}</text>`
    })
  return html`<svg class="ys" width="56" height="${PLOT_HEIGHT}" aria-hidden="true">${marks}</svg>`
}
