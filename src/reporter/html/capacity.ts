import { budgetSentence } from '../budget.ts'
import { closedWords, faultWords, waitWords } from '../capacity.ts'
import { grouped, unknown } from '../numbers.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, section, sentence, table } from './text.ts'

/** What was spent of the budgets, and what the campaign asked of the lanes and waited for there. */
export function capacity({ report }: Model): Html | null {
  const money = budgetSentence(report)
  const { capacity: found } = report
  if (money === null && found === undefined) return null
  return section(
    'capacity',
    'Capacity and budget',
    html`${
      money === null
        ? null
        : html`<p>Budget: ${sentence(money)}.</p>
`
    }${found === undefined ? null : lanes(found)}`,
  )
}

function lanes({ lanes, refused, failovers }: NonNullable<Model['report']['capacity']>): Html {
  const moved = failovers.map(
    ({
      lane,
      cells,
      calls,
      variants,
    }) => html`<p>${label(lane)} served ${grouped(String(cells))} cells (${grouped(String(calls))} calls) in place of their declared lane: ${variants
      .map(({ variant, cells: own, of }) => `${label(variant, 60)} ${own} of ${of}`)
      .join(', ')}.</p>
`,
  )
  if (lanes === null)
    return html`<p>What was asked of the lanes is ${unknown(refused)}.</p>
${moved}`
  if (lanes.length === 0) return html`${moved}`
  return html`<p>Waits are by the clock of the run: how long some cell, judge or request of this campaign waited.</p>
${table(
  'Lanes',
  [
    { title: 'lane', heads: true },
    { title: 'requests', align: 'right' },
    { title: 'at once, of', align: 'right' },
    { title: 'waited' },
    { title: 'throttled, faults' },
    { title: 'closed' },
  ],
  lanes.map((lane) => [
    html`${label(lane.lane)}${lane.account === null ? null : html` (account ${label(lane.account, 60)})`}`,
    grouped(String(lane.requests)),
    `${lane.peak} of ${lane.concurrency}`,
    waitWords(lane) || 'not at all',
    faultWords(lane) || 'none',
    sentence(closedWords(lane)) || 'no',
  ]),
)}
${moved}`
}
