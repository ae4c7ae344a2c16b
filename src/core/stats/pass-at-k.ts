import { requireCounts } from './clopper-pearson.ts'
import { type Interval, refuseInterval } from './refusal.ts'

function requireK(k: number): void {
  if (!Number.isInteger(k) || k < 1) throw new RangeError(`k must be a positive whole number, not ${k}`)
}

/**
 * pass@k: the chance that at least one of k runs drawn from these n, of which c passed, passed:
 * 1 − C(n−c, k)/C(n, k), as the product 1 − ∏ (1 − k/i) over i = n−c+1…n (Chen et al. 2021). Unbiased per scenario.
 * Reference cases: `passAtK`.
 *
 * @returns null where k > n (`k_exceeds_n`): an extrapolation would misstate it
 */
export function passAtK(n: number, c: number, k: number): number | null {
  requireCounts(c, n)
  requireK(k)
  if (k > n) return null
  if (n - c < k) return 1
  let none = 1
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i
  return 1 - none
}

/**
 * pass^k: the chance that all of k runs drawn from these n passed: C(c, k)/C(n, k) (Yao et al. 2024). Reference
 * cases: `passHatK`.
 *
 * @returns null where k > n (`k_exceeds_n`)
 */
export function passHatK(n: number, c: number, k: number): number | null {
  requireCounts(c, n)
  requireK(k)
  if (k > n) return null
  let all = 1
  for (let i = 0; i < k; i++) all *= Math.max(0, c - i) / (n - i)
  return all
}

/** pass@k or pass^k of a scenario with runs that were not scored: as if all of them had failed, and as if all had passed. */
export function passBounds(
  statistic: typeof passAtK,
  {
    runs,
    passes,
    missing,
    k,
  }: { readonly runs: number; readonly passes: number; readonly missing: number; readonly k: number },
): Interval<'k_exceeds_n'> {
  requireCounts(missing, missing)
  const lo = statistic(runs + missing, passes, k)
  const hi = statistic(runs + missing, passes + missing, k)
  return lo === null || hi === null ? refuseInterval('k_exceeds_n') : { lo, hi }
}
