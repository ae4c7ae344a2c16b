import { normalCdf, normalQuantile } from '../normal.ts'
import { quantileOfSorted } from '../quantile.ts'
import { type Interval, refuse, refuseInterval, type Statistic } from '../refusal.ts'

/** Relative distance below which a resampled statistic counts as equal to the estimate. */
export const TIE = 1e-12

/**
 * Acceleration of BCa from delete-one values θ₍ᵢ₎: a = Σ (θ̄ − θ₍ᵢ₎)³ / (6 (Σ (θ̄ − θ₍ᵢ₎)²)^{3/2}). Delete one *unit*,
 * never one seed. Reference case: `acceleration(var)`. Efron & Tibshirani 1993, 14.15.
 *
 * Refuses delete-one values that are all equal.
 */
export function acceleration(jackknife: readonly number[]): Statistic<'no_data' | 'zero_spread'> {
  if (jackknife.length === 0) return refuse('no_data')
  const mean = jackknife.reduce((sum, value) => sum + value, 0) / jackknife.length
  let squares = 0
  let cubes = 0
  for (const value of jackknife) {
    squares += (mean - value) ** 2
    cubes += (mean - value) ** 3
  }
  if (squares <= (TIE * mean) ** 2) return refuse('zero_spread')
  return { value: cubes / (6 * squares ** 1.5) }
}

/**
 * Bias correction z₀ = Φ⁻¹((#{θ* < θ̂} + ½ #{θ* = θ̂}) / B): the half keeps discrete statistics centred. Refuses an
 * estimate outside everything its resamples reached.
 */
export function biasCorrection(
  below: number,
  equal: number,
  resamples: number,
): Statistic<'estimate_outside_resamples'> {
  const share = (below + equal / 2) / resamples
  return share > 0 && share < 1 ? { value: normalQuantile(share) } : refuse('estimate_outside_resamples')
}

/**
 * The two levels at which BCa reads the resamples: Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) for z at (1∓level)/2. Null where the
 * denominator is not positive: such an acceleration has no interval. Efron 1987.
 */
export function bcaLevels(z0: number, a: number, level: number): readonly [lower: number, upper: number] | null {
  const adjust = (p: number): number | null => {
    const shifted = z0 + normalQuantile(p)
    const scale = 1 - a * shifted
    return scale > 0 ? normalCdf(z0 + shifted / scale) : null
  }
  const lower = adjust((1 - level) / 2)
  const upper = adjust((1 + level) / 2)
  return lower === null || upper === null ? null : [lower, upper]
}

/** Resampled values in order, as a percentile interval reads them (type-7 quantiles). */
export function percentileInterval(sorted: ArrayLike<number>, level: number): { lo: number; hi: number } {
  return { lo: quantileOfSorted(sorted, (1 - level) / 2), hi: quantileOfSorted(sorted, (1 + level) / 2) }
}

export type BcaRefusal = 'no_data' | 'zero_spread' | 'estimate_outside_resamples' | 'not_applicable'

/** BCa interval of an estimate from its sorted resamples and its delete-one values. Display only: never a gate. */
export function bcaInterval(
  estimate: number,
  sorted: ArrayLike<number>,
  jackknife: readonly number[],
  level: number,
): { readonly z0: number | null; readonly a: number | null } & Interval<BcaRefusal> {
  const near = TIE * Math.abs(estimate)
  let below = 0
  let equal = 0
  for (let i = 0; i < sorted.length; i++) {
    const distance = (sorted[i] ?? 0) - estimate
    if (distance < -near) below++
    else if (distance <= near) equal++
  }
  const z0 = biasCorrection(below, equal, sorted.length)
  const a = acceleration(jackknife)
  if (a.refused !== undefined) return { z0: z0.value, a: null, ...refuseInterval(a.refused) }
  if (z0.refused !== undefined) return { z0: null, a: a.value, ...refuseInterval(z0.refused) }
  const levels = bcaLevels(z0.value, a.value, level)
  if (levels === null) return { z0: z0.value, a: a.value, ...refuseInterval('not_applicable') }
  const [lower, upper] = levels
  return { z0: z0.value, a: a.value, lo: quantileOfSorted(sorted, lower), hi: quantileOfSorted(sorted, upper) }
}
