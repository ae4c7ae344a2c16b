import { incompleteBeta } from './beta.ts'
import { requireLevel } from './mean-interval.ts'

export interface QuantileRanks {
  /** 1-based ranks of the ordered sample; null where no rank bounds the quantile on that side. */
  readonly lower: number | null
  readonly upper: number | null
  /** Exact coverage of the interval between the ranks (0 or n+1 standing for −∞ and +∞). */
  readonly coverage: number
}

/** P(X ≤ k), X binomial(n, q). */
function binomialCdf(k: number, n: number, q: number): number {
  if (k < 0) return 0
  if (k >= n) return 1
  return 1 - incompleteBeta(q, k + 1, n - k)
}

/** Smallest k with P(X ≤ k) ≥ p, as R's qbinom. */
function binomialQuantile(p: number, n: number, q: number): number {
  let low = 0
  let high = n
  while (low < high) {
    const middle = (low + high) >> 1
    if (binomialCdf(middle, n, q) >= p * (1 - 64 * Number.EPSILON)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Ranks of the order statistics that bound the q-quantile with the level in each tail: X_(l) with
 * l = qbinom((1−level)/2), X_(u) with u = qbinom((1+level)/2) + 1. Coverage is P(l ≤ Bin(n, q) < u). No assumption but
 * independent draws of one distribution. Below n = 59 there is no upper bound of the 95th percentile: null.
 *
 * @throws RangeError unless n is a positive whole number and 0 < q < 1
 */
export function quantileRanks(n: number, q: number, level: number): QuantileRanks {
  requireLevel(level)
  if (!Number.isInteger(n) || n < 1 || !(q > 0 && q < 1)) {
    throw new RangeError(`quantileRanks needs n ≥ 1 and 0 < q < 1, not ${n} and ${q}`)
  }
  const lower = binomialQuantile((1 - level) / 2, n, q)
  const upper = binomialQuantile((1 + level) / 2, n, q) + 1
  return {
    lower: lower < 1 ? null : lower,
    upper: upper > n ? null : upper,
    coverage: binomialCdf(upper - 1, n, q) - binomialCdf(lower - 1, n, q),
  }
}

/** Median of a sorted, non-empty sample: the middle value, or the mean of the two middle ones. */
export function medianOfSorted(sorted: ArrayLike<number>): number {
  const n = sorted.length
  if (n === 0) throw new RangeError('no median of nothing')
  const high = sorted[n >> 1] ?? Number.NaN
  if (n % 2 === 1) return high
  const low = sorted[(n >> 1) - 1] ?? Number.NaN
  return low === high ? high : (low + high) / 2
}
