import type { RunRecord } from '../record/record.ts'
import { CELL_STATUSES, type CellStatus } from '../record/status.ts'
import type { Cells } from './cells.ts'

/** The primary score of one variant, scenario by scenario. Every array has one entry per scenario. */
export interface Arm {
  readonly variant: number
  readonly counts: { readonly [status in CellStatus]: number }
  readonly planned: number
  /** Cells with a value: scored + task_fail. */
  readonly measured: number
  readonly observed: Uint32Array
  /** Mean over the seeds that have a value; NaN where none has. */
  readonly mean: Float64Array
  /** Mean over all planned seeds, the missing ones at the bottom or at the top of the scale. */
  readonly lowest: Float64Array
  readonly highest: Float64Array
  /** Seeds that passed, and seeds known to have passed or failed. */
  readonly passed: Uint32Array
  readonly judged: Uint32Array
}

export function recordAt(cells: Cells, variant: number, scenario: number, seed: number): RunRecord | undefined {
  return cells.records[(variant * cells.scenarios.length + scenario) * cells.seeds.length + seed]
}

/**
 * How a cell enters the estimate: its score, the bottom of the scale for the subject's own failure, null (anything on
 * the scale) where we do not know.
 */
export function cellValue(record: RunRecord | undefined, bottom: number): number | null {
  if (record === undefined) return null
  if (record.status === 'scored') return record.score !== null && Number.isFinite(record.score) ? record.score : null
  return record.status === 'task_fail' ? bottom : null
}

/** Whether the cell passed; null where it has no value or its scorer neither passes nor fails. */
export function passOf(record: RunRecord | undefined): boolean | null {
  if (record?.status === 'task_fail') return false
  return record?.status === 'scored' ? record.pass : null
}

export function armOf(cells: Cells, variant: number, [bottom, top]: readonly [number, number]): Arm {
  const scenarios = cells.scenarios.length
  const seeds = cells.seeds.length
  const counts: { [status in CellStatus]: number } = zeroCounts()
  const observed = new Uint32Array(scenarios)
  const mean = new Float64Array(scenarios)
  const lowest = new Float64Array(scenarios)
  const highest = new Float64Array(scenarios)
  const passed = new Uint32Array(scenarios)
  const judged = new Uint32Array(scenarios)
  const values: number[] = []
  let measured = 0
  for (let scenario = 0; scenario < scenarios; scenario++) {
    values.length = 0
    for (let seed = 0; seed < seeds; seed++) {
      const record = recordAt(cells, variant, scenario, seed)
      counts[record?.status ?? 'not_run']++
      const value = cellValue(record, bottom)
      if (value !== null) values.push(value)
      const pass = passOf(record)
      if (pass !== null) judged[scenario] = (judged[scenario] ?? 0) + 1
      if (pass === true) passed[scenario] = (passed[scenario] ?? 0) + 1
    }
    // By size: which seed gave which value must not reach the last bit of the sum.
    values.sort((a, b) => a - b)
    const sum = values.reduce((total, value) => total + value, 0)
    const missing = seeds - values.length
    observed[scenario] = values.length
    measured += values.length
    mean[scenario] = sum / values.length
    lowest[scenario] = missing === 0 ? sum / seeds : (sum + missing * bottom) / seeds
    highest[scenario] = missing === 0 ? sum / seeds : (sum + missing * top) / seeds
  }
  return { variant, counts, planned: scenarios * seeds, measured, observed, mean, lowest, highest, passed, judged }
}

export function zeroCounts(): { [status in CellStatus]: number } {
  return Object.fromEntries(CELL_STATUSES.map((status) => [status, 0])) as { [status in CellStatus]: number }
}
