import { stepUp } from './step-up.ts'

/**
 * Benjamini & Hochberg's (1995) q values: q_(i) = min_{j ≥ i} (m/j) p_(j). The false discovery rate of a set of
 * rejections, under independence or positive dependence. For exploratory tables only: it does not license shipping one
 * chosen candidate. Reference case: `bh`.
 *
 * @throws RangeError for a p outside [0, 1]
 */
export function benjaminiHochberg(p: readonly number[]): number[] {
  return stepUp(p, (rank) => p.length / rank)
}

/**
 * Benjamini & Yekutieli's (2001) q values: those of {@link benjaminiHochberg} times Σ 1/i, valid under any dependence.
 * Reference case: `by`.
 *
 * @throws RangeError for a p outside [0, 1]
 */
export function benjaminiYekutieli(p: readonly number[]): number[] {
  let harmonic = 0
  for (let i = 1; i <= p.length; i++) harmonic += 1 / i
  return stepUp(p, (rank) => (harmonic * p.length) / rank)
}

/**
 * Level of the intervals printed for `selected` rows picked out of `tests` by {@link benjaminiHochberg} at `alpha`, so
 * that the false coverage rate is at most alpha: 1 − α · selected/tests (Benjamini & Yekutieli 2005).
 *
 * @throws RangeError unless 1 ≤ selected ≤ tests and 0 < alpha < 1
 */
export function falseCoverageLevel(alpha: number, selected: number, tests: number): number {
  if (!(alpha > 0 && alpha < 1 && selected >= 1 && selected <= tests)) {
    throw new RangeError(`${selected} of ${tests} rows selected at ${alpha} have no interval level`)
  }
  return 1 - (alpha * selected) / tests
}
