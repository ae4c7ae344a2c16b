import { CELL_STATUSES } from '../../core/record/status.ts'
import { grouped, percent } from '../numbers.ts'
import { counts, measured, missing, missingWords } from '../sentences.ts'
import { heatMap } from './heat-map.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, section, sentence, table } from './text.ts'

/** Which cells were measured, and how they scored: the planned cells are the denominator. */
export function coverage(model: Model): Html | null {
  const { report } = model
  const { planned, counts: all, reasons } = report.coverage
  const gone = missing(all)
  return section(
    'coverage',
    'Coverage',
    html`<p>${grouped(String(planned))} cells planned: ${counts(all)}.${gone === 0 ? ' None is missing.' : html` Missing ${grouped(String(gone))}: ${sentence(missingWords(all, reasons))}.`} An arm needs ${percent(report.design.coverageFloor)} of its cells.</p>
${table(
  'Coverage by variant',
  [
    { title: 'variant', heads: true },
    { title: 'measured', align: 'right' },
    { title: 'share of the planned cells' },
    { title: 'statuses' },
  ],
  model.columns.map(({ letter, summary }) => [
    html`<span class="letter">${letter}</span> ${label(summary.id)}`,
    measured(summary),
    html`<svg class="share" width="100%" height="14" role="img" aria-label="${percent(summary.coverage)} measured">${stacked(summary)}</svg>`,
    counts(summary.counts),
  ]),
)}
${heatMap(model)}`,
  )
}

/** One bar: scored, failed by the subject, missing. */
function stacked({ counts: all, planned }: Model['columns'][number]['summary']): Html {
  const parts = [
    ['s-scored', all.scored],
    ['s-fail', all.task_fail],
    ['s-missing', CELL_STATUSES.reduce((sum, status) => sum + all[status], 0) - all.scored - all.task_fail],
  ] as const
  let at = 0
  return html`<rect class="s-none" x="0" y="0" width="100%" height="14"/>${parts.map(([name, count]) => {
    const x = (at / planned) * 100
    at += count
    return count === 0
      ? null
      : html`<rect class="${name}" x="${x.toFixed(2)}%" y="0" width="${((count / planned) * 100).toFixed(2)}%" height="14"/>`
  })}`
}
