import type { PlannedGate } from '../campaign/plan.ts'
import type { Outcome, Reason } from './report.ts'

export type ExitCode = 0 | 1 | 2 | 3

const CODES: { readonly [outcome in Outcome]: ExitCode } = {
  ship: 0,
  hold: 0,
  regress: 1,
  invalid: 2,
  inconclusive: 3,
  underpowered: 3,
}

/**
 * What a gate's outcome means for the process that asked. A `pr` gate is red for what is shown wrong and, under
 * `onInconclusive: fail`, for what is not decided; a `release` gate is green for `ship` alone, and under
 * `onInconclusive: warn` for what is not decided.
 *
 * @param alwaysRed the rule is red in any gate: cells are missing that could change the answer
 */
export function exitCodeOf(
  outcome: Outcome,
  { kind, onInconclusive }: Pick<PlannedGate, 'kind' | 'onInconclusive'>,
  alwaysRed: boolean,
): ExitCode {
  if (outcome === 'hold') return kind === 'release' ? 3 : 0
  const code = CODES[outcome]
  return code === 3 && !alwaysRed && onInconclusive === 'warn' ? 0 : code
}

/** Problems of a run that leave campaigns out of it: what it holds may be green, and it is not all. */
const LEAVING_OUT: ReadonlySet<string> = new Set([
  'definition',
  'campaign_twice',
  'file_not_loaded',
  'manifest_mismatch',
])

/** Gravest first: an invalid campaign says nothing about anybody, a shown loss more than an open question. */
export const GRAVITY: readonly ExitCode[] = [2, 1, 3, 0]

/** Whether a problem of a run leaves campaigns out of it. */
export const leavesOut = ({ code }: Reason): boolean => LEAVING_OUT.has(code)

/**
 * What a whole run means for the process that asked: its gravest campaign, and 2 where something is not in it.
 *
 * @param finished it reached its end; one that was cut off may lack campaigns that it had not come to
 */
export function exitCodeOfRun(
  campaigns: readonly ExitCode[],
  problems: readonly Reason[],
  finished: boolean,
): ExitCode {
  if (!finished || campaigns.length === 0 || problems.some(leavesOut)) return 2
  return GRAVITY.find((code) => campaigns.includes(code)) ?? 0
}
