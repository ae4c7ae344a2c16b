import type { PlannedGate } from '../campaign/plan.ts'
import type { PhiloxKey } from '../stats/philox.ts'
import type { Arm } from './arm.ts'
import type { Cells } from './cells.ts'
import type { JudgeReport } from './judges/report.ts'
import type { Reason } from './report.ts'
import type { Units } from './units.ts'

/** Everything that judging a campaign's candidates needs. */
export interface Trial {
  /** The cells that decide. */
  readonly cells: Cells
  /** Every cell: a must-pass scenario counts in any split. */
  readonly allCells: Cells
  readonly arms: readonly Arm[]
  readonly units: Units
  /** With the level of this look as its alpha. */
  readonly gate: PlannedGate
  readonly scale: readonly [number, number]
  /** Of the candidate that is judged; null where it has none. */
  readonly comparator: Arm | null
  readonly candidates: readonly Arm[]
  readonly coverageFloor: number
  readonly invalid: readonly Reason[]
  /** Why nothing here is confirmed; empty where it is. */
  readonly exploratory: readonly Reason[]
  /** Scales of all scorers. */
  readonly scales: ReadonlyMap<string, readonly [number, number] | null>
  /** Whether the primary score says pass or fail. */
  readonly passes: boolean
  /** Whether the primary scorer is a judge. */
  readonly judged: boolean
  /** How far that judge agrees with others who were asked the same; null where nobody was. */
  readonly judge: JudgeReport | null
  readonly key: PhiloxKey
}

export const SHOWN_POWER = 0.8
