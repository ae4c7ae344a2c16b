import { requireLevel } from '../mean-interval.ts'
import { type Interval, refuseInterval } from '../refusal.ts'
import { type BcaRefusal, bcaInterval, percentileInterval } from './bca.ts'
import { drawUnits, type ResampleSource } from './resample.ts'

/** Below these numbers of units the interval is not shown (coverage 82–90 % of a nominal 95 % on skewed differences). */
export const PERCENTILE_UNITS = 30
export const BCA_UNITS = 50
export const BOOTSTRAP_RESAMPLES = 10_000

/** Value of the statistic on the units with these indices, repeats and all; null where it has none. */
export type UnitStatistic = (indices: ArrayLike<number>) => number | null

export interface ClusterBootstrapOptions extends ResampleSource {
  readonly level: number
  readonly resamples?: number
}

export interface ClusterBootstrap {
  readonly units: number
  readonly resamples: number
  readonly estimate: number | null
  /** Standard deviation of the resampled statistic. */
  readonly se: number | null
  readonly percentile: Interval<'no_data' | 'too_few_scenarios' | 'undefined_resample' | 'zero_spread'>
  /** For display only: it never carries a gate. */
  readonly bca: Interval<'too_few_scenarios' | 'undefined_resample' | BcaRefusal>
  readonly refused?: 'no_data' | 'too_few_scenarios' | 'undefined_resample' | 'zero_spread'
}

/**
 * Cluster bootstrap: whole units (scenarios) are drawn with replacement, the same draws for every statistic with the
 * same key and stream. Seeds are not drawn again inside a unit: the first stage already holds their variance. For ratios,
 * quantile differences and displays; means have a t interval. Efron & Tibshirani 1993; Davison & Hinkley 1997, 3.8.
 *
 * Refuses everything below {@link PERCENTILE_UNITS} units, BCa below {@link BCA_UNITS}, a statistic without a value on
 * some resample, and resamples without spread. Rows are summed by unit in the order given, so the order of the units is
 * part of the input: fix it by the plan.
 */
export function clusterBootstrap(
  units: number,
  statistic: UnitStatistic,
  options: ClusterBootstrapOptions,
): ClusterBootstrap {
  requireLevel(options.level)
  const resamples = options.resamples ?? BOOTSTRAP_RESAMPLES
  if (!Number.isInteger(resamples) || resamples < 1) throw new RangeError(`no bootstrap of ${resamples} resamples`)
  const every = Uint32Array.from({ length: units }, (_, i) => i)
  const estimate = units === 0 ? null : statistic(every)
  const refusal = (
    refused: 'no_data' | 'too_few_scenarios' | 'undefined_resample' | 'zero_spread',
  ): ClusterBootstrap => ({
    units,
    resamples,
    estimate,
    se: null,
    percentile: refuseInterval(refused),
    bca: refuseInterval(refused),
    refused,
  })
  if (estimate === null) return refusal(units === 0 ? 'no_data' : 'undefined_resample')
  if (units < PERCENTILE_UNITS) return refusal('too_few_scenarios')
  const values = resampled(units, statistic, resamples, options)
  if (values === null) return refusal('undefined_resample')
  const se = spread(values)
  values.sort()
  if (!(se > 1e-12 * Math.abs(estimate))) return refusal('zero_spread')
  const percentile = percentileInterval(values, options.level)
  if (units < BCA_UNITS) {
    return { units, resamples, estimate, se, percentile, bca: refuseInterval('too_few_scenarios') }
  }
  const jackknife = every.length === 0 ? null : deleteOne(units, statistic)
  if (jackknife === null) {
    return { units, resamples, estimate, se, percentile, bca: refuseInterval('undefined_resample') }
  }
  return { units, resamples, estimate, se, percentile, bca: bcaInterval(estimate, values, jackknife, options.level) }
}

/** The statistic on every resample, in the order of the resamples; null where one has no value. */
export function resampled(
  units: number,
  statistic: UnitStatistic,
  resamples: number,
  source: ResampleSource,
): Float64Array | null {
  const values = new Float64Array(resamples)
  const indices = new Uint32Array(units)
  for (let r = 0; r < resamples; r++) {
    drawUnits(indices, r, source)
    const value = statistic(indices)
    if (value === null || !Number.isFinite(value)) return null
    values[r] = value
  }
  return values
}

/** The statistic without each unit in turn. */
export function deleteOne(units: number, statistic: UnitStatistic): number[] | null {
  const values: number[] = []
  for (let left = 0; left < units; left++) {
    const rest = Uint32Array.from({ length: units - 1 }, (_, i) => (i < left ? i : i + 1))
    const value = statistic(rest)
    if (value === null || !Number.isFinite(value)) return null
    values.push(value)
  }
  return values
}

function spread(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
}
