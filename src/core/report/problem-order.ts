import { byCodeUnit } from './cells.ts'
import type { Reason } from './report.ts'

/** The order in which problems are told: which of them was found first differs between two runs of the same files. */
export const byProblem = (a: Reason, b: Reason): number => byCodeUnit(a.code, b.code) || byCodeUnit(a.text, b.text)
