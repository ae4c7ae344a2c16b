import { pValue } from '../numbers.ts'
import { estimated } from '../quantities.ts'
import { unitOf } from './forest.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, listed, section, table } from './text.ts'

const LONGEST = 100

/** Kinds of scenarios, the surest moves first. Exploratory, and said so. */
export function slices({ report, scores }: Model): Html | null {
  if (report.slices.length === 0) return null
  const { shown, rest } = listed(
    report.slices.toSorted((a, b) => (a.q ?? 2) - (b.q ?? 2)),
    LONGEST,
    'slices',
  )
  return section(
    'slices',
    'Slices',
    html`<p>Exploratory: where the candidates moved, picked after the fact. No verdict reads it.</p>
${table(
  'Slices',
  [
    { title: 'slice', heads: true },
    { title: 'candidate' },
    { title: 'scenarios', align: 'right' },
    { title: `difference, ${unitOf(scores)} (interval)`, align: 'right' },
    { title: 'p', align: 'right' },
    { title: 'q', align: 'right' },
  ],
  shown.map(({ by, value, candidate, scenarios, difference, p, q }) => [
    `${label(by, 60)} ${label(value, 80)}`,
    label(candidate),
    scenarios,
    estimated(difference, scores.difference),
    p === null ? 'n/a' : pValue(p),
    q === null ? 'n/a' : pValue(q),
  ]),
)}${rest}`,
  )
}
