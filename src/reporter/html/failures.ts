import type { CampaignReport } from '../../core/report/report.ts'
import { plural } from '../numbers.ts'
import { block, type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { cut, label, listed, section, sentence } from './text.ts'

const LONGEST = 50
const EXAMPLE = 600

/** What went wrong in cells, each cause once, and what the integrity checks found. */
export function failures({ report }: Model): Html | null {
  const { backend, issues } = report.integrity
  if (report.failures.length + issues.length === 0) return null
  const { shown, rest } = listed(report.failures, LONGEST, 'classes')
  const found = listed(issues, LONGEST, 'findings')
  return section(
    'failures',
    'Failures and integrity',
    html`${shown.map(cluster)}${rest}
<h3>Integrity</h3><p>Answers came from: ${backend}.</p>
${found.shown.length === 0 ? null : html`<ul>${found.shown.map(({ code, severity, count, example }) => html`<li><strong>${severity === 'error' ? '✗ error' : '! warning'}</strong> <code>${label(code, 80)}</code> × ${count}: ${sentence(example)}</li>`)}</ul>`}${found.rest}`,
  )
}

function cluster({
  class: name,
  mode,
  count,
  messages,
  distinct,
  variants,
  cells,
}: CampaignReport['failures'][number]): Html {
  const unseen = distinct - messages.length
  return html`<details class="dt" open><summary><strong>${plural(count, 'cell')}: ${label(name, 80)}</strong>${mode === null ? null : ` (${label(mode, 80)})`} <span class="q">${variants.map(({ variant, count: own }) => `${label(variant, 40)} ${own}`).join(', ')}</span></summary>
${messages.map(({ text, count: own }) => html`${distinct > 1 ? html`<p class="q">${own} ×</p>` : null}${block(cut(text, EXAMPLE))}`)}${unseen > 0 ? html`<p class="cut">and ${plural(unseen, 'other message')}.</p>` : null}
${cells.length === 0 ? null : html`<p class="q">cells ${cells.map((cell) => html`<code>${label(cell, 40)}</code> `)}</p>`}</details>
`
}
