import type { RunRecord } from '../../core/record/record.ts'
import type { CellTraffic } from '../../core/report/material.ts'
import { plural } from '../numbers.ts'
import { cellsShown, detailOf, exchangesOf, NO_DETAIL, NO_EXCHANGES } from './detail.ts'
import type { Html } from './markup.ts'
import type { Model, Row } from './model.ts'
import { scenarioRow } from './scenario-row.ts'

/** Bytes of a page, whatever the size of its campaign. */
export const PAGE_LIMIT = 6 * 1024 * 1024
/** Left free for what stands around the sections. */
const RESERVE = 256 * 1024
const ROWS_SHOWN = 2_000
/** Reading exchanges ends when less is left: hardly any cell's would fit. */
const SMALLEST = 2 * 1024

/** The table of scenarios as far as it fits. */
export interface Inlined {
  readonly rows: readonly Html[]
  /** What was cut, and where it is. */
  readonly words: readonly string[]
}

/**
 * Fills what the other sections leave of a page: the rows first, then outputs, then exchanges, each for the worst
 * scenarios first. What does not fit is counted and named.
 *
 * @param taken bytes of everything else
 */
export function inlined(model: Model, traffic: (record: RunRecord) => CellTraffic, taken: number): Inlined {
  const room = Math.max(0, PAGE_LIMIT - RESERVE - taken)
  const heads = fitting(model.rows.slice(0, ROWS_SHOWN), room * 0.5, (row) => scenarioRow(model, row, NO_DETAIL))
  let left = room - heads.used
  const details = fitting(heads.kept, left * 0.6, (row) => detailOf(model, row, () => NO_EXCHANGES), true)
  left -= details.used
  const { found, missing } = exchangesThatFit(model, traffic, details.kept, left)
  const shown = new Set(details.kept)
  const rows = heads.kept.map((row) =>
    scenarioRow(
      model,
      row,
      shown.has(row) ? detailOf(model, row, ({ cellId }) => found.get(cellId) ?? NO_EXCHANGES) : NO_DETAIL,
    ),
  )
  return { rows, words: cutWords(model, heads.kept.length, details.kept.length, missing) }
}

function fitting(
  rows: readonly Row[],
  room: number,
  render: (row: Row) => Html,
  skip = false,
): { readonly kept: readonly Row[]; readonly used: number } {
  const kept: Row[] = []
  let used = 0
  for (const row of rows) {
    const { size } = render(row)
    if (used + size > room) {
      if (skip) continue
      break
    }
    used += size
    kept.push(row)
  }
  return { kept, used }
}

function exchangesThatFit(
  model: Model,
  traffic: (record: RunRecord) => CellTraffic,
  rows: readonly Row[],
  room: number,
): { readonly found: ReadonlyMap<string, Html>; readonly missing: number } {
  const found = new Map<string, Html>()
  let left = room
  let missing = 0
  for (const row of rows) {
    for (const { column, record } of cellsShown(model, row)) {
      if (!column.own) continue
      const markup = left < SMALLEST ? null : exchangesOf(traffic(record))
      if (markup === null || markup.size > left) missing++
      else {
        found.set(record.cellId, markup)
        left -= markup.size
      }
    }
  }
  return { found, missing }
}

function cutWords({ rows }: Model, listed: number, detailed: number, missing: number): string[] {
  const limit = `this page holds at most ${PAGE_LIMIT / 1024 / 1024} MiB`
  return [
    ...(listed < rows.length
      ? [`${rows.length - listed} of ${plural(rows.length, 'scenario')} are not listed: ${limit}.`]
      : []),
    ...(detailed < listed
      ? [
          `The outputs of ${listed - detailed} of ${plural(listed, 'scenario')} are not in it: ${limit}. They are in records.jsonl.`,
        ]
      : []),
    ...(missing > 0
      ? [
          `The exchanges of ${plural(missing, 'cell')} are not in it: ${limit}. They are in the folder raw of the run, and in the recordings.`,
        ]
      : []),
  ]
}
