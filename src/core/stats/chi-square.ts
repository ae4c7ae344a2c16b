import { logGamma } from './gamma.ts'

/**
 * P(X > x) of the χ² distribution: the regularized upper incomplete gamma function Q(df/2, x/2), by its series below
 * x/2 = df/2 + 1 and by its continued fraction above (A&S 6.5.29 and 6.5.31). Reference case: `chiSquareUpper`.
 *
 * @throws RangeError unless df > 0 and x ≥ 0
 */
export function chiSquareUpper(x: number, df: number): number {
  if (!(df > 0 && x >= 0)) throw new RangeError(`χ² needs df > 0 and x ≥ 0, not ${df} and ${x}`)
  if (x === 0) return 1
  const a = df / 2
  const z = x / 2
  const front = Math.exp(a * Math.log(z) - z - logGamma(a))
  if (z < a + 1) {
    let term = 1 / a
    let sum = term
    for (let n = 1; term > sum * 1e-17; n++) {
      term *= z / (a + n)
      sum += term
    }
    return Math.max(0, 1 - front * sum)
  }
  let b = z + 1 - a
  let c = Number.MAX_VALUE
  let d = 1 / b
  let fraction = d
  for (let i = 1; i <= 10_000; i++) {
    const an = -i * (i - a)
    b += 2
    d = 1 / (an * d + b)
    c = b + an / c
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-16) break
  }
  return front * fraction
}
