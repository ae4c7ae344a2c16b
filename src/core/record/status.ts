/**
 * What became of a planned cell; exactly one per cell.
 *
 * - `scored`: the subject ran and the primary scorer gave a score
 * - `task_fail`: the subject's own failure (its error, its refusal, its deadline)
 * - `infra_error`: a fault around the subject (provider outage left after retries, lost worker)
 * - `judge_error`: the subject ran, the primary scorer gave no valid score
 * - `capture_error`: an integrity check of severity error failed: we do not know that we measured what we say
 * - `skipped`: excluded by hand (`.skip`) or waiting when the run was drained
 * - `not_run`: planned, and never started, or nothing it asked for was sent for want of money; `reason` says why
 */
export const CELL_STATUSES = [
  'scored',
  'task_fail',
  'infra_error',
  'judge_error',
  'capture_error',
  'skipped',
  'not_run',
] as const
export type CellStatus = (typeof CELL_STATUSES)[number]

/** Why a cell was not run, was skipped or met an infrastructure error. */
export const STATUS_REASONS = [
  'budget',
  'interrupted',
  'bail',
  'filtered',
  'skip',
  'lane-exhausted',
  'lane-failed',
  'worker-lost',
  'collection-error',
  'provider-fault',
  'deadline-while-waiting',
  'missing',
  'unknown-effect',
] as const
export type StatusReason = (typeof STATUS_REASONS)[number]
