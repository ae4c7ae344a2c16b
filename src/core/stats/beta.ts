import { logGamma } from './gamma.ts'

const TINY = 1e-300
const MAX_STEPS = 10_000

/**
 * Regularized incomplete beta function I_x(a, b), a, b > 0: the distribution function of Beta(a, b).
 *
 * Continued fraction 26.5.8 of Abramowitz & Stegun by the modified Lentz algorithm, on the side of the symmetry
 * I_x(a, b) = 1 − I_{1−x}(b, a) where it converges fast.
 *
 * @param complement 1 − x, where the caller knows it more exactly than the subtraction does
 * @throws RangeError for a ≤ 0, b ≤ 0 or x outside [0, 1]
 */
export function incompleteBeta(x: number, a: number, b: number, complement = 1 - x): number {
  if (!(a > 0 && b > 0)) throw new RangeError(`incompleteBeta needs a > 0 and b > 0, not ${a} and ${b}`)
  if (!(x >= 0 && x <= 1)) throw new RangeError(`incompleteBeta needs x in [0, 1], not ${x}`)
  if (x === 0 || complement === 0) return x === 0 ? 0 : 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(complement))
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(x, a, b)) / a
    : 1 - (front * continuedFraction(complement, b, a)) / b
}

function continuedFraction(x: number, a: number, b: number): number {
  const guard = (value: number): number => (Math.abs(value) < TINY ? TINY : value)
  let c = 1
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= MAX_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / guard(1 + even * d)
    c = guard(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / guard(1 + odd * d)
    c = guard(1 + odd / c)
    const step = d * c
    fraction *= step
    if (Math.abs(step - 1) < 1e-16) return fraction
  }
  return fraction
}

/**
 * Quantile of Beta(a, b): the x with I_x(a, b) = p, by bisection to the last bit.
 *
 * @throws RangeError for p outside [0, 1]
 */
export function betaQuantile(p: number, a: number, b: number): number {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`betaQuantile needs p in [0, 1], not ${p}`)
  let low = 0
  let high = 1
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (incompleteBeta(middle, a, b) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
