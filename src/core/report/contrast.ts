import { meanInterval, moments } from '../stats/mean-interval.ts'
import type { PhiloxKey } from '../stats/philox.ts'
import { type SignFlip, signFlip } from '../stats/sign-flip.ts'
import { skewedBounds } from '../stats/skewed-bounds.ts'
import type { Arm } from './arm.ts'
import { type Units, unitMeans } from './units.ts'

/** Candidate minus comparator, one difference per unit. */
export interface Contrast {
  /** Missing cells at whatever harms the candidate most, and at whatever helps it most. The same without missing. */
  readonly lowest: Float64Array
  readonly highest: Float64Array
  /** Over scenarios where every seed of both arms has a value; may be shorter. */
  readonly complete: Float64Array
  readonly missingCells: number
}

/** One side of the interval that a verdict reads. */
export interface Side {
  readonly mean: number
  /** The bound of the t interval on this side; the mean itself where all differences are equal. */
  readonly bound: number | null
  readonly zeroSpread: boolean
}

export function contrastOf(candidate: Arm, comparator: Arm, units: Units, span: number, seeds: number): Contrast {
  const scenarios = candidate.mean.length
  // Thirds that differ by rounding only are no difference.
  const snap = (difference: number): number => (Math.abs(difference) <= 1e-12 * span ? 0 : difference)
  const difference = (of: (scenario: number) => number): Float64Array =>
    unitMeans(
      units,
      Float64Array.from({ length: scenarios }, (_, s) => of(s)),
    ).map(snap)
  const complete = (s: number): boolean => candidate.observed[s] === seeds && comparator.observed[s] === seeds
  return {
    lowest: difference((s) => (candidate.lowest[s] ?? 0) - (comparator.highest[s] ?? 0)),
    highest: difference((s) => (candidate.highest[s] ?? 0) - (comparator.lowest[s] ?? 0)),
    complete: difference((s) => (complete(s) ? (candidate.mean[s] ?? 0) - (comparator.mean[s] ?? 0) : Number.NaN)),
    missingCells: candidate.planned - candidate.measured + comparator.planned - comparator.measured,
  }
}

/** The lower bound for differences that may be skewed; null where there is none. */
export const skewedLower = (lowest: Float64Array, level: number): number | null =>
  skewedBounds(lowest, level)?.lo ?? null

/** [lower bound over the lowest values, upper bound over the highest]: conservative where the two differ. */
export function sides(lowest: Float64Array, highest: Float64Array, level: number): readonly [lower: Side, upper: Side] {
  const lower = meanInterval(lowest, level)
  const upper = lowest === highest ? lower : meanInterval(highest, level)
  const side = (interval: typeof lower, bound: number | null): Side => {
    if (interval.mean === null) throw new RangeError('no unit to compare: a plan has at least one scenario')
    const zeroSpread = interval.refused === 'zero_spread'
    return { mean: interval.mean, bound: zeroSpread ? interval.mean : bound, zeroSpread }
  }
  return [side(lower, lower.lo), side(upper, upper.hi)]
}

/** p values of one candidate; both sides of the bounds must agree on the direction, else nothing is shown. */
export interface ContrastP {
  readonly raw: number
  readonly adjusted: number
  readonly exact: boolean
  readonly resamples: number | null
  readonly pFloor: number
}

/**
 * Sign-flip p values of all candidates with the same flips. Where cells are missing, the test runs with them at either
 * extreme and the larger p counts; extremes of different direction give p = 1.
 */
export function testContrasts(contrasts: readonly Contrast[], key: PhiloxKey): ContrastP[] {
  const first = contrasts[0]
  if (first === undefined) return []
  const test = (pick: (contrast: Contrast) => Float64Array): SignFlip => {
    const units = first.lowest.length
    const values = new Float64Array(units * contrasts.length)
    contrasts.forEach((contrast, j) => {
      pick(contrast).forEach((value, unit) => {
        values[unit * contrasts.length + j] = value
      })
    })
    return signFlip({ units, contrasts: contrasts.length, values }, { key, stream: 0 })
  }
  const low = test((contrast) => contrast.lowest)
  const high = contrasts.some((contrast) => contrast.missingCells > 0) ? test((contrast) => contrast.highest) : low
  return contrasts.map((contrast, j) => {
    const agree = Math.sign(moments(contrast.lowest).mean) === Math.sign(moments(contrast.highest).mean)
    const larger = (a: number | undefined, b: number | undefined): number => (agree ? Math.max(a ?? 1, b ?? 1) : 1)
    return {
      raw: larger(low.raw[j], high.raw[j]),
      adjusted: larger(low.stepDown[j], high.stepDown[j]),
      exact: low.exact && high.exact,
      resamples: low.resamples ?? high.resamples,
      pFloor: low.pFloor,
    }
  })
}

/**
 * How many of the candidate's missing cells would have to have failed for the t interval to say something else (loss,
 * gain, neither) than it says with all of them at the top. Null when none are missing or no number changes it.
 */
export function tippingCells(
  candidate: Arm,
  contrast: Contrast,
  units: Units,
  seeds: number,
  span: number,
  t: number,
): number | null {
  const size = new Uint32Array(units.count)
  for (const unit of units.of) size[unit] = (size[unit] ?? 0) + 1
  const missing: number[] = []
  units.of.forEach((unit, scenario) => {
    for (let i = candidate.observed[scenario] ?? 0; i < seeds; i++) missing.push(unit)
  })
  const values = Float64Array.from(contrast.highest)
  const n = values.length
  if (missing.length === 0 || n < 2) return null
  let sum = 0
  let squares = 0
  for (const value of values) {
    sum += value
    squares += value * value
  }
  const says = (): 'loss' | 'gain' | 'neither' => {
    const mean = sum / n
    const reach = t * Math.sqrt(Math.max(0, squares - n * mean * mean) / (n - 1) / n)
    return mean + reach < 0 ? 'loss' : mean - reach > 0 ? 'gain' : 'neither'
  }
  const first = says()
  for (let failed = 1; failed <= missing.length; failed++) {
    const unit = missing[failed - 1] ?? 0
    const before = values[unit] ?? 0
    const after = before - span / seeds / (size[unit] ?? 1)
    values[unit] = after
    sum += after - before
    squares += after * after - before * before
    if (says() !== first) return failed
  }
  return null
}
