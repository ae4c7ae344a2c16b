import { type MicroUsd, toUsd } from '../record/usage.ts'
import type { Reason } from '../report/report.ts'
import type { EarlierSpend } from './entry.ts'
import { AGAIN, type Again, type CellFate } from './resume.ts'

/** What became of the cells of a campaign that goes on. */
export interface FateCounts {
  readonly cells: number
  readonly carried: number
  readonly rescored: number
  readonly held: number
  readonly again: { readonly [why in Again]: number }
}

export function countFates(fates: Iterable<CellFate>): FateCounts {
  const counts = { cells: 0, carried: 0, rescored: 0, held: 0 }
  const again = Object.fromEntries(AGAIN.map((why) => [why, 0])) as Record<Again, number>
  for (const fate of fates) {
    counts.cells++
    if (fate.kind === 'again') again[fate.why]++
    else counts[fate.kind]++
  }
  return { ...counts, again }
}

const AGAIN_WORDS: { readonly [why in Again]: (cells: string) => string } = {
  not_run: (cells) => `${cells} had not run`,
  unknown_effect: (cells) =>
    `${cells} run again: an earlier run was cut off in them, and what their calls gave is lost`,
  unfaithful: (cells) =>
    `${cells} run again: they had an output and no score, and the journal does not have the output as a scorer saw it (a ` +
    'secret of it was redacted, or JSON does not give it back)',
  infra_error: (cells) => `${cells} run again: they ended as infra_error in an earlier run`,
  judge_error: (cells) =>
    `${cells} run again: they ended as judge_error in an earlier run, with no output to score anew`,
  replayed: (cells) => `${cells} replay again: their recordings cost nothing`,
}

/**
 * One finding per kind: what was carried over, and why each other cell was not. Neither run ids nor clocks are in it,
 * because it stands in the report.
 */
export function resumedReasons(counts: FateCounts, spends: readonly EarlierSpend[]): Reason[] {
  const cells = (count: number): string => `${count} of ${counts.cells} cells`
  const reasons: Reason[] = []
  const say = (count: number, code: string, words: (cells: string) => string): void => {
    if (count > 0) reasons.push({ code, text: words(cells(count)) })
  }
  say(
    counts.carried,
    'carried',
    (some) => `${some} are carried over from an earlier run, which settled them; nothing of them is paid again`,
  )
  say(
    counts.rescored,
    'rescored',
    (some) => `${some} are scored on the output that an earlier run journalled; their subjects do not run again`,
  )
  for (const why of AGAIN) say(counts.again[why], `again_${why}`, AGAIN_WORDS[why])
  say(
    counts.held,
    'held_back',
    (some) =>
      `${some} wait: an earlier run was cut off in them, and the campaign has side effects. Look what they did, then ` +
      'set EVALS_RECONCILE=1 to run them again',
  )
  const money = spendText(spends)
  if (money !== null) reasons.push({ code: 'earlier_spend', text: money })
  return reasons
}

/** What attempts cost whose results do not last; null where they cost nothing. */
function spendText(spends: readonly EarlierSpend[]): string | null {
  let microUsd = 0
  let unknown = 0
  let bound: MicroUsd | null = 0
  for (const spend of spends) {
    microUsd += spend.microUsd
    unknown += spend.unknownCalls
    bound = bound === null || spend.boundMicroUsd === null ? null : bound + spend.boundMicroUsd
  }
  if (microUsd === 0 && unknown === 0) return null
  const most = bound === null ? 'which nothing bounds' : `at most $${toUsd(bound)}`
  const rest =
    unknown === 0 ? '' : `; the charge of ${unknown} more ${unknown === 1 ? 'call' : 'calls'} is unknown, ${most}`
  return `attempts of earlier runs that left no result cost $${toUsd(microUsd)}, which no record contains${rest}`
}
