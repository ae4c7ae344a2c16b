import { requireCounts } from './clopper-pearson.ts'
import { refuse, type Statistic } from './refusal.ts'

export const FLAKINESS = ['stable-pass', 'stable-fail', 'flaky', 'unknown'] as const
export type Flakiness = (typeof FLAKINESS)[number]

/**
 * What a scenario's seeds look like. "Stable" says little without the number of runs: five passes of five still allow a
 * pass rate of .57, and a rate of .9 shows five of five 59 % of the time. Below two runs it is unknown.
 *
 * @throws RangeError for counts that are none
 */
export function flakinessOf(passes: number, runs: number): Flakiness {
  requireCounts(passes, runs)
  if (runs < 2) return 'unknown'
  if (passes === runs) return 'stable-pass'
  return passes === 0 ? 'stable-fail' : 'flaky'
}

/**
 * Unbiased estimate of the chance that two runs of a scenario disagree: 2 c (n − c) / (n (n − 1)). Its paired differences
 * between variants, one per scenario, say whether flakiness changed. Refuses fewer than two runs.
 *
 * @throws RangeError for counts that are none
 */
export function seedDisagreement(passes: number, runs: number): Statistic<'zero_variance_unidentified'> {
  requireCounts(passes, runs)
  if (runs < 2) return refuse('zero_variance_unidentified')
  return { value: (2 * passes * (runs - passes)) / (runs * (runs - 1)) }
}
