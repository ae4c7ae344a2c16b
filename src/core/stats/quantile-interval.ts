import { binomialCdf, binomialQuantile } from './binomial.ts'
import { requireLevel } from './mean-interval.ts'

export interface QuantileRanks {
  /** 1-based ranks of the ordered sample; null where no rank bounds the quantile on that side. */
  readonly lower: number | null
  readonly upper: number | null
  /** Exact coverage of the interval between the ranks (0 or n+1 standing for −∞ and +∞). */
  readonly coverage: number
}

/**
 * Ranks of the order statistics that bound the q-quantile with the level in each tail: X_(l) with
 * l = qbinom((1−level)/2), X_(u) with u = qbinom((1+level)/2) + 1. Coverage is P(l ≤ Bin(n, q) < u). No assumption but
 * independent draws of one distribution. Below n = 59 there is no upper bound of the 95th percentile: null. Reference
 * cases: `quantileOrderCI`.
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

/**
 * Fewest runs with which some order statistic bounds the q-quantile from above with one-sided confidence `level`:
 * smallest n with 1 − qⁿ ≥ level; 59 for p95 at 95 %. With fewer the report prints ">max". Reference: `p95-min-n`.
 *
 * @throws RangeError unless 0 < q < 1
 */
export function minRunsForQuantileBound(q: number, level: number): number {
  requireLevel(level)
  if (!(q > 0 && q < 1)) throw new RangeError(`a quantile lies in (0, 1), not ${q}`)
  return Math.max(1, Math.ceil(Math.log1p(-level) / Math.log(q) - 1e-12))
}
