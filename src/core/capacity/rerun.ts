import type { CellStatus, StatusReason } from '../record/status.ts'

/** How often a cell is run again, by what ended it. The same for every variant: a bad score is never run again. */
export interface RerunPolicy {
  /** After an infrastructure error; 0 or 1. Default 0. */
  readonly infra: number
}

/** Ends that another try may mend. A closed lane, a lost worker and a stopped run are none. */
const MENDABLE: ReadonlySet<StatusReason> = new Set<StatusReason>(['provider-fault', 'deadline-while-waiting'])

/** What is known of a cell that is about to settle. */
export interface EndedCell {
  readonly status: CellStatus
  readonly reason: StatusReason | null
  /** Its subject gave an output: nothing buys that again. */
  readonly subjectSettled: boolean
  /** How often it was run again already. */
  readonly reruns: number
}

/**
 * Whether a cell runs once more, at the end of its seed block, in place of settling: release its lease and ask for
 * another with `rerun: reruns + 1`.
 */
export function runsAgain({ status, reason, subjectSettled, reruns }: EndedCell, { infra }: RerunPolicy): boolean {
  if (status !== 'infra_error' || reason === null || subjectSettled) return false
  return MENDABLE.has(reason) && reruns < infra
}
