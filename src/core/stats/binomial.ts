import { incompleteBeta } from './beta.ts'
import { logGamma } from './gamma.ts'

/** Room for rounding when a probability is compared with a level that it may equal. */
const ULPS = 64 * Number.EPSILON

/** ln C(n, k). */
export function logChoose(n: number, k: number): number {
  return k === 0 || k === n ? 0 : logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1)
}

/** P(X = k), X binomial(n, q), in log space: no underflow on the way. */
export function binomialPmf(k: number, n: number, q: number): number {
  if (k < 0 || k > n) return 0
  if (q <= 0) return k === 0 ? 1 : 0
  if (q >= 1) return k === n ? 1 : 0
  return Math.exp(logChoose(n, k) + k * Math.log(q) + (n - k) * Math.log1p(-q))
}

/** P(X ≤ k), X binomial(n, q), by its identity with the incomplete beta function (A&S 26.5.24). */
export function binomialCdf(k: number, n: number, q: number): number {
  if (k < 0) return 0
  if (k >= n) return 1
  return incompleteBeta(1 - q, n - k, k + 1, q)
}

/** Smallest k with P(X ≤ k) ≥ p, as R's qbinom. */
export function binomialQuantile(p: number, n: number, q: number): number {
  let low = 0
  let high = n
  while (low < high) {
    const middle = (low + high) >> 1
    if (binomialCdf(middle, n, q) >= p * (1 - ULPS)) high = middle
    else low = middle + 1
  }
  return low
}
