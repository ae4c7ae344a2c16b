import { PRINTED, percent, tokenPair, unknown } from '../numbers.ts'
import { estimated, latency, money, refusal, total, wallClock } from '../quantities.ts'
import { frontierSentence } from '../sentences.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { pareto } from './pareto.ts'
import { label, section, sentence, table } from './text.ts'

/** What each variant scored and what it took, and how quality and cost stand to each other. */
export function variants(model: Model): Html | null {
  const { report, columns, scores } = model
  const walls = report.variants.every(({ latency: { wall } }) => wall.medianMs.refused !== 'replayed')
  const level = Math.round((report.variants[0]?.mean.level ?? 0.95) * 100)
  const frontier = frontierSentence(report)
  return section(
    'variants',
    'Quality and cost',
    html`${pareto(model)}
${frontier === null ? null : html`<p>Better and cheaper than whom: ${sentence(frontier)}.</p>`}
${table(
  'Variants',
  [
    { title: 'variant', heads: true },
    { title: `mean [${level} % CI]`, align: 'right' },
    { title: 'passed', align: 'right' },
    { title: 'cost per cell', align: 'right' },
    { title: 'cost per success', align: 'right' },
    { title: 'cost in total', align: 'right' },
    { title: 'provider latency, median', align: 'right' },
    { title: 'p95', align: 'right' },
    ...(walls ? ([{ title: 'wall clock, median / p95', align: 'right' }] as const) : []),
    { title: 'tokens in / out', align: 'right' },
  ],
  columns.map(({ letter, summary }) => [
    html`<span class="letter">${letter}</span> ${label(summary.id)}${summary.role === 'comparator' ? html` <span class="q">comparator</span>` : null}`,
    estimated(summary.mean, scores.value),
    summary.passRate.est === null ? refusal(summary.passRate.refused) : percent(summary.passRate.est),
    money(summary.cost.perCellUsd, summary),
    money(summary.cost.perSuccessUsd, summary),
    total(summary),
    latency(summary, summary.latency.medianMs),
    latency(summary, summary.latency.p95Ms),
    ...(walls ? [wallClock(summary)] : []),
    tokenPair(summary.tokens, PRINTED) ?? unknown('no_data'),
  ]),
)}`,
  )
}
