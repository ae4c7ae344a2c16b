import { isFlaky } from '../../core/report/flakiness.ts'
import { type Content, type Html, html } from './markup.ts'
import { type Change, type Column, cellOf, deltaAt, type Model, meanAt, type Row } from './model.ts'
import { seedStrip } from './strip.ts'
import { label } from './text.ts'

const CHANGE_WORDS: { readonly [change in Change]: string } = {
  worse: '▼ worse',
  unknown: '? unknown',
  better: '▲ better',
  same: '= same',
}

/** One scenario as a body of the table of its own: its row, and the row that opens to its cells. */
export function scenarioRow(model: Model, row: Row, details: Content): Html {
  const { columns } = model
  const { scenario, change, flaky, missing, mustPassBroken, at } = row
  // Columns that stand alone compare with nothing: no change to speak of.
  const compared = columns.some(({ comparator }) => comparator !== null)
  const words = compared ? CHANGE_WORDS[change] : null
  return html`<tbody data-c="${change}"${flaky ? html` data-f="1"` : null}${missing ? html` data-m="1"` : null} data-l=" ${row.filters.join(' ')} " data-u=" ${statuses(model, row).join(' ')} ">
<tr><th scope="row">${label(scenario.id)}</th>${columns.map((column) => armCell(model, column, at))}<td>${words}${missing ? html` <span class="chip">◌ missing cells</span>` : null}${flaky ? html` <span class="chip">≈ flaky</span>` : null}${
    mustPassBroken
      ? html` <span class="chip o-regress">✗ must-pass broken</span>`
      : scenario.mustPass
        ? html` <span class="chip">must-pass</span>`
        : null
  }</td></tr>
<tr class="d"><td colspan="${columns.length + 2}">${details}</td></tr>
</tbody>
`
}

function statuses(model: Model, { at }: Row): string[] {
  const found = new Set<string>()
  for (const column of model.columns) {
    for (let seed = 0; seed < model.cells.seeds.length; seed++) {
      const status = cellOf(model, column, at, seed)?.status ?? 'not_run'
      if (status !== 'scored') found.add(status)
    }
  }
  return [...found].sort()
}

function armCell(model: Model, column: Column, at: number): Html {
  const { scores, cells } = model
  const mean = meanAt(column, at)
  const delta = deltaAt(column, at)
  const gone = cells.seeds.length - (column.arm.observed[at] ?? 0)
  const passed = column.arm.passed[at] ?? 0
  const judged = column.arm.judged[at] ?? 0
  const value = column.comparator === null ? mean : delta
  return html`<td data-v="${value === null ? '' : String(value)}">${seedStrip(model, column, at)} <span class="n">${mean === null ? 'missing' : scores.value(mean)}</span>${
    judged > 0 ? html` <span class="q">${passed}/${judged}${isFlaky(column.arm, at) ? ' flaky' : null}</span>` : null
  }${gone > 0 && mean !== null ? html` <span class="q">${gone} missing</span>` : null}${
    delta === null ? null : html`<br><span class="${tone(delta)}">${arrow(delta)} ${scores.difference(delta)}</span>`
  }</td>`
}

/** Smaller is what rounding leaves. */
const isNone = (delta: number): boolean => Math.abs(delta) < 1e-9
const tone = (delta: number): string => (isNone(delta) ? 'q' : delta < 0 ? 't-bad' : 't-good')
const arrow = (delta: number): string => (isNone(delta) ? '=' : delta < 0 ? '▼' : '▲')
