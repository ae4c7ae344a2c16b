import { requireFinite } from './finite.ts'
import { tQuantile } from './student-t.ts'

/** Relative spread up to which values count as equal: what is left of 1/3 computed on two ways. */
export const EQUAL_WITHIN = 1e-12

interface Interval {
  readonly n: number
  /** Null below two values. */
  readonly se: number | null
  readonly df: number | null
  readonly lo: number | null
  readonly hi: number | null
}

/** Of nothing there is no mean; of one value, or of equal ones, there is a mean without an interval. */
export type MeanInterval = Interval &
  (
    | { readonly mean: number; readonly refused?: 'one_scenario' | 'zero_spread' }
    | { readonly mean: null; readonly refused: 'no_data' }
  )

/**
 * Mean of independent units with Student's t interval: mean ± t(n−1, (1+level)/2) · sd/√n, sd with divisor n − 1.
 *
 * Assumes that the units are exchangeable draws from the population the claim is about; nothing about their
 * distribution. Seeds are not units: give scenario means. Refuses an interval for fewer than two units and for units
 * without spread: a zero standard error would read as certainty. Reference case: `scenarioMeanT`.
 *
 * @param values one number per unit, in a fixed order (sums depend on it in the last bit)
 * @param level two-sided confidence, for instance 0.95
 * @throws RangeError for a value that is not finite
 */
export function meanInterval(values: ArrayLike<number>, level: number): MeanInterval {
  requireLevel(level)
  const n = values.length
  if (n === 0) return { n, mean: null, se: null, df: null, lo: null, hi: null, refused: 'no_data' }
  const { mean, sd, equal } = moments(values)
  if (n === 1) return { n, mean, se: null, df: null, lo: null, hi: null, refused: 'one_scenario' }
  if (equal) return { n, mean, se: null, df: n - 1, lo: null, hi: null, refused: 'zero_spread' }
  const se = sd / Math.sqrt(n)
  const reach = tQuantile((1 + level) / 2, n - 1) * se
  return { n, mean, se, df: n - 1, lo: mean - reach, hi: mean + reach }
}

export interface Moments {
  readonly mean: number
  /** Divisor n − 1; 0 for one value. */
  readonly sd: number
  /** All values equal up to {@link EQUAL_WITHIN} of their size. */
  readonly equal: boolean
}

/**
 * Two-pass mean and standard deviation.
 *
 * @throws RangeError for no values, and for one that is not finite
 */
export function moments(values: ArrayLike<number>): Moments {
  const n = values.length
  if (n === 0) throw new RangeError('no moments of nothing')
  requireFinite(values, 'value')
  let sum = 0
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < n; i++) {
    const value = values[i] ?? Number.NaN
    sum += value
    if (value < least) least = value
    if (value > most) most = value
  }
  const mean = sum / n
  let squares = 0
  for (let i = 0; i < n; i++) squares += ((values[i] ?? Number.NaN) - mean) ** 2
  const size = Math.max(Math.abs(least), Math.abs(most))
  return { mean, sd: n > 1 ? Math.sqrt(squares / (n - 1)) : 0, equal: most - least <= EQUAL_WITHIN * size }
}

export function requireLevel(level: number): void {
  if (!(level > 0 && level < 1)) throw new RangeError(`a confidence level lies in (0, 1), not ${level}`)
}
