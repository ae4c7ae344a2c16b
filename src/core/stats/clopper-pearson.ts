import { betaQuantile } from './beta.ts'
import { requireLevel } from './mean-interval.ts'

export function requireCounts(x: number, n: number): void {
  if (!Number.isInteger(x) || !Number.isInteger(n) || x < 0 || x > n) {
    throw new RangeError(`a rate needs whole counts 0 ≤ x ≤ n, not ${x} of ${n}`)
  }
}

/**
 * Exact (Clopper & Pearson 1934) two-sided interval of a binomial rate: the quantiles (1−level)/2 of Beta(x, n−x+1)
 * and (1+level)/2 of Beta(x+1, n−x). Refuses n = 0 with null. Reference case: `clopperPearson`.
 */
export function clopperPearson(x: number, n: number, level: number): readonly [lo: number, hi: number] | null {
  requireCounts(x, n)
  requireLevel(level)
  if (n === 0) return null
  const tail = (1 - level) / 2
  return [x === 0 ? 0 : betaQuantile(tail, x, n - x + 1), rateUpperBound(x, n, 1 - tail)]
}

/**
 * One-sided exact upper bound of a rate. With x = 0 it is 1 − (1−level)^(1/n): nothing seen in n says no more.
 *
 * @throws RangeError for n = 0
 */
export function rateUpperBound(x: number, n: number, level: number): number {
  requireCounts(x, n)
  requireLevel(level)
  if (n === 0) throw new RangeError('a rate of no observations has no bound')
  if (x === n) return 1
  return x === 0 ? 1 - (1 - level) ** (1 / n) : betaQuantile(level, x + 1, n - x)
}

/**
 * Independent clean runs (not rounded up) that are needed to claim a failure rate of at most `rate`:
 * ln(1−level) / ln(1−rate); 298.07, so 299, for 1 % at 95 %. Reference: `zero-fail-n`.
 *
 * @throws RangeError unless 0 < rate < 1
 */
export function cleanRunsForRate(rate: number, level: number): number {
  requireLevel(level)
  if (!(rate > 0 && rate < 1)) throw new RangeError(`a rate to be claimed lies in (0, 1), not ${rate}`)
  return Math.log1p(-level) / Math.log1p(-rate)
}
