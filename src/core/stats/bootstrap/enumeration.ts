import { requireFinite } from '../finite.ts'
import { requireLevel } from '../mean-interval.ts'
import type { Interval } from '../refusal.ts'
import { type BcaRefusal, bcaInterval, bcaLevels, percentileInterval } from './bca.ts'

/** n^n resamples: 823,543 at seven units. */
const MOST_UNITS = 7

export interface EnumeratedBootstrap {
  readonly mean: number
  /** Standard deviation over all resamples, without simulation error: σ_n/√n. */
  readonly seIdeal: number
  readonly percentile: { readonly lo: number; readonly hi: number }
  readonly bca: { readonly z0: number | null; readonly a: number | null } & Interval<BcaRefusal>
  /** Levels at which BCa reads the resamples. */
  readonly adjusted: readonly [lower: number, upper: number] | null
}

/**
 * The bootstrap of a mean with all n^n resamples instead of drawn ones: what the sampled bootstrap tends to, free of
 * randomness. Far fewer units than any interval may be shown for, so it is a yardstick for the sampled one, not a
 * statistic of a report. Reference cases: `bcaExact`, and `clusterBootstrapExact` for rows in clusters of equal size.
 *
 * @throws RangeError for no or more than seven units, or a value that is not finite
 */
export function enumeratedBootstrap(values: readonly number[], level: number): EnumeratedBootstrap {
  requireLevel(level)
  requireFinite(values, 'value')
  const n = values.length
  if (n < 1 || n > MOST_UNITS) throw new RangeError(`resamples of 1 to ${MOST_UNITS} units are enumerated, not of ${n}`)
  let sums = Float64Array.of(0)
  for (let drawn = 0; drawn < n; drawn++) {
    const longer = new Float64Array(sums.length * n)
    sums.forEach((sum, i) => {
      for (let u = 0; u < n; u++) longer[i * n + u] = sum + (values[u] ?? 0)
    })
    sums = longer
  }
  const sorted = sums.map((sum) => sum / n).sort()
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const jackknife = values.map((value) => (mean * n - value) / (n - 1))
  const bca = bcaInterval(mean, sorted, jackknife, level)
  return {
    mean,
    seIdeal: Math.sqrt(squares) / n,
    percentile: percentileInterval(sorted, level),
    bca,
    adjusted: bca.z0 === null || bca.a === null ? null : bcaLevels(bca.z0, bca.a, level),
  }
}
