import type { Estimate, Outcome } from '../../core/report/report.ts'
import type { Scale } from '../numbers.ts'
import { estimated } from '../quantities.ts'
import { type Axis, linearAxis } from './axis.ts'
import { axisLabels } from './axis-labels.ts'
import { type Html, html } from './markup.ts'
import { label } from './text.ts'

export interface ForestRow {
  readonly id: string
  readonly outcome: Outcome
  readonly estimate: Estimate
}

export interface ForestLine {
  readonly at: number
  readonly kind: 'zero' | 'limit' | 'goal'
  readonly words: string
}

const HEIGHT = 30
const MIDDLE = HEIGHT / 2

/** Intervals of several candidates and the lines they are read against, on one axis; each with its numbers in words. */
export function forest(
  rows: readonly ForestRow[],
  lines: readonly ForestLine[],
  write: (value: number) => string,
  unit: string,
): Html {
  const axis = linearAxis([
    ...rows.flatMap(({ estimate: { est, lo, hi } }) => [est, lo, hi].filter((value) => value !== null)),
    ...lines.map(({ at }) => at),
  ])
  return html`<div class="forest">
${rows.map((row) => rowOf(row, lines, axis, write, unit))}<div class="fr"><span></span>${axisOf(axis, lines, write)}<span class="fn q">${unit}</span></div>
</div>
<p class="legend">${lines.map(({ kind, words }) => html`<span>${sample(kind)} ${words}</span> `)}<span>${pointSample()} estimate with its interval</span></p>
`
}

function rowOf(
  { id, outcome, estimate }: ForestRow,
  lines: readonly ForestLine[],
  axis: Axis,
  write: (value: number) => string,
  unit: string,
): Html {
  const numbers = estimated(estimate, write)
  return html`<div class="fr"><span class="fl">${label(id)} ${outcomeChip(outcome)}</span>${bar(estimate, lines, axis, `${label(id)}: ${numbers} ${unit}, ${outcome}`)}<span class="fn">${numbers}</span></div>
`
}

function bar({ est, lo, hi }: Estimate, lines: readonly ForestLine[], axis: Axis, words: string): Html {
  const from = lo === null ? null : axis.at(lo)
  const to = hi === null ? null : axis.at(hi)
  const limit = lines.find(({ kind }) => kind === 'limit')
  const zero = lines.find(({ kind }) => kind === 'zero')
  return html`<svg class="bar" width="100%" height="${HEIGHT}" role="img" aria-label="${words}">
${limit === undefined || zero === undefined ? null : html`<rect class="band" x="${axis.at(limit.at)}%" y="0" width="${round(axis.at(zero.at) - axis.at(limit.at))}%" height="${HEIGHT}"/>`}
${lines.map(({ at, kind }) => html`<line class="l-${kind}" x1="${axis.at(at)}%" x2="${axis.at(at)}%" y1="0" y2="${HEIGHT}"/>`)}
${
  from === null || to === null
    ? null
    : html`<line class="ci" x1="${from}%" x2="${to}%" y1="${MIDDLE}" y2="${MIDDLE}"/><line class="ci" x1="${from}%" x2="${from}%" y1="${MIDDLE - 5}" y2="${MIDDLE + 5}"/><line class="ci" x1="${to}%" x2="${to}%" y1="${MIDDLE - 5}" y2="${MIDDLE + 5}"/>`
}
${est === null ? null : html`<circle class="pt" cx="${axis.at(est)}%" cy="${MIDDLE}" r="5"/>`}
</svg>`
}

function axisOf(axis: Axis, lines: readonly ForestLine[], write: (value: number) => string): Html {
  return html`<svg class="axis" width="100%" height="22" aria-hidden="true">${lines.map(
    ({ at, kind }) => html`<line class="l-${kind}" x1="${axis.at(at)}%" x2="${axis.at(at)}%" y1="0" y2="5"/>`,
  )}${axisLabels(axis, write, 16)}</svg>`
}

const ICONS: { readonly [outcome in Outcome]: string } = {
  ship: '✓',
  hold: '=',
  regress: '✗',
  inconclusive: '?',
  underpowered: '?',
  invalid: '!',
}

export function outcomeChip(outcome: Outcome): Html {
  return html`<span class="chip o-${outcome}">${ICONS[outcome]} ${outcome}</span>`
}

function sample(kind: ForestLine['kind']): Html {
  return html`<svg width="14" height="14" aria-hidden="true">${kind === 'limit' ? html`<rect class="band" x="7" y="0" width="7" height="14"/>` : null}<line class="l-${kind}" x1="7" x2="7" y1="0" y2="14"/></svg>`
}

function pointSample(): Html {
  return html`<svg width="22" height="14" aria-hidden="true"><line class="ci" x1="1" x2="21" y1="7" y2="7"/><circle class="pt" cx="11" cy="7" r="4"/></svg>`
}

export const unitOf = (scores: Scale): string => (scores.unit === 'pp' ? 'pp' : 'score')

const round = (value: number): number => Math.round(value * 100) / 100
