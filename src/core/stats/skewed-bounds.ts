import { moments, requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

/**
 * Lower and upper bound of a mean for laws that may be skewed, never inside Student's t. With the t interval alone a
 * mean of pass rates near 0 or 1 is wrongly bounded up to 9 % of the time at a nominal 2.5 %: where the rare score is
 * absent, mean and spread are both too small.
 *
 * Hall's (1992, JRSS B 54) monotone transformation of (x̄ − μ)/s, g(T) = T + γT²/3 + γ²T³/27 + γ/(6n), inverted at
 * ± t(n−1)/√n. Its skewness γ is the sample's (adjusted for bias) moved by its own standard error √(6n(n−1)/((n−2)(n+1)(n+3)))
 * in the direction that widens, because few values show too little of the skewness behind them.
 *
 * Assumes what the t interval does. Null for fewer than two values and for values without spread; two values have no
 * skewness and get Student's t.
 *
 * @param level two-sided confidence; each side errs at (1 − level)/2
 */
export function skewedBounds(
  values: ArrayLike<number>,
  level: number,
): { readonly lo: number; readonly hi: number } | null {
  requireLevel(level)
  const n = values.length
  if (n < 2) return null
  const { mean, sd, equal } = moments(values)
  if (equal) return null
  const reach = tQuantile((1 + level) / 2, n - 1) * (sd / Math.sqrt(n))
  const [lo, hi] = [mean - reach, mean + reach]
  if (n < 3) return { lo, hi }
  const q = reach / sd
  let cubes = 0
  for (let i = 0; i < n; i++) cubes += (((values[i] ?? Number.NaN) - mean) / sd) ** 3
  const skewness = (cubes * n) / ((n - 1) * (n - 2))
  const error = Math.sqrt((6 * n * (n - 1)) / ((n - 2) * (n + 1) * (n + 3)))
  return {
    lo: Math.min(lo, mean - sd * untransformed(q, skewness - error, n)),
    hi: Math.max(hi, mean - sd * untransformed(-q, skewness + error, n)),
  }
}

/** The T with g(T) = x. */
function untransformed(x: number, skewness: number, n: number): number {
  if (Math.abs(skewness) < 1e-9) return x
  return (3 / skewness) * (Math.cbrt(1 + skewness * (x - skewness / (6 * n))) - 1)
}
