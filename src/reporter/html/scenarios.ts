import { CELL_STATUSES } from '../../core/record/status.ts'
import { plural } from '../numbers.ts'
import type { Inlined } from './budget.ts'
import { unitOf } from './forest.ts'
import { type Html, html } from './markup.ts'
import { CHANGES, type Change, type Model } from './model.ts'
import { label, scrolling, section } from './text.ts'

/** Every scenario, what lost most first, each with its cells behind it. */
export function scenarios(model: Model, { rows, words }: Inlined): Html | null {
  const { columns, scores } = model
  const compared = columns.some(({ comparator }) => comparator !== null)
  const intro = compared
    ? `${counted(model)}. Regressions first; a candidate's difference, in ${unitOf(scores)}, stands below its mean.`
    : `${plural(model.rows.length, 'scenario')}, the lowest mean first.`
  return section(
    'scenarios',
    'Scenarios',
    html`<p>${intro} Each mark of a strip is one seed: its height is the score, a cross a failure of the subject, a dashed box a missing cell.</p>
${words.map((said) => html`<p class="cut">${said}</p>`)}
${controls(model)}
${scrolling(
  'Scenarios',
  html`<table class="sc" id="sc">
<thead><tr><th scope="col" data-s="text">scenario</th>${columns.map(
    ({ letter, summary, comparator }) =>
      html`<th scope="col" data-s="number"><span class="letter">${letter}</span> ${label(summary.id, 40)}${comparator === null ? null : ' Δ'}</th>`,
  )}<th scope="col" data-s="text">${compared ? 'change' : 'notes'}</th></tr></thead>
${rows}</table>`,
)}
<p id="sc-none" hidden>No scenario matches the filter.</p>`,
  )
}

function counted({ rows }: Model): string {
  const count = (change: Change): number => rows.filter((row) => row.change === change).length
  return `${plural(rows.length, 'scenario')}: ${count('worse')} worse, ${count('better')} better, ${count('same')} the same, ${rows.filter(({ missing }) => missing).length} with missing cells`
}

/** Shown by the script, which alone can serve it. */
function controls({ filters, report }: Model): Html {
  const { counts } = report.coverage
  const statuses = CELL_STATUSES.filter((status) => status !== 'scored' && counts[status] > 0)
  return html`<form id="filter" class="filter" hidden>
<label>search <input type="search" id="f-text" autocomplete="off"></label>
<label>change <select id="f-change"><option value="">all</option>${CHANGES.map((change) => html`<option value="${change}">${change}</option>`)}</select></label>
<label>status <select id="f-status"><option value="">all</option>${statuses.map((status) => html`<option value="${status}">${status}</option>`)}</select></label>
<label>label <select id="f-label"><option value="">all</option>${filters.map((name, i) => html`<option value="${i}">${label(name, 60)}</option>`)}</select></label>
<label class="check"><input type="checkbox" id="f-flaky"> flaky</label>
<label class="check"><input type="checkbox" id="f-missing"> missing cells</label>
<button type="reset">clear</button>
<output id="f-count"></output>
</form>`
}
