import { incompleteBeta } from './beta.ts'

function requireDf(df: number): void {
  if (!(df > 0)) throw new RangeError(`Student's t needs df > 0, not ${df}`)
}

/**
 * P(T ≤ t) of Student's t with df > 0 degrees of freedom (not necessarily whole): half of I_{df/(df+t²)}(df/2, ½) is
 * the tail beyond |t|. Abramowitz & Stegun 26.7.1.
 */
export function tCdf(t: number, df: number): number {
  requireDf(df)
  if (Number.isNaN(t)) throw new RangeError('tCdf needs a number, not NaN')
  const tail = upperTail(Math.abs(t), df)
  return t < 0 ? tail : 1 - tail
}

/** Two-sided p of an observed t. */
export function tTwoSided(t: number, df: number): number {
  requireDf(df)
  return 2 * upperTail(Math.abs(t), df)
}

function upperTail(t: number, df: number): number {
  if (t === Number.POSITIVE_INFINITY) return 0
  const whole = df + t * t
  return incompleteBeta(df / whole, df / 2, 0.5, (t * t) / whole) / 2
}

/**
 * Quantile of Student's t by bisection on the tail, to the last bits. Reference case: `tInv(.975)`.
 *
 * @throws RangeError for p outside (0, 1) or df ≤ 0
 */
export function tQuantile(p: number, df: number): number {
  requireDf(df)
  if (!(p > 0 && p < 1)) throw new RangeError(`tQuantile needs p in (0, 1), not ${p}`)
  if (p === 0.5) return 0
  if (p < 0.5) return -tQuantile(1 - p, df)
  const tail = 1 - p
  let high = 1
  while (upperTail(high, df) > tail) high *= 2
  let low = high === 1 ? 0 : high / 2
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (upperTail(middle, df) > tail) low = middle
    else high = middle
  }
  return (low + high) / 2
}
