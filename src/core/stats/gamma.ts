const HALF_LOG_2PI = 0.9189385332046727
/** B(2n) / (2n (2n − 1)), n = 1…8. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400] as const

/**
 * ln Γ(x) for x > 0.
 *
 * Stirling's series at x ≥ 10, where eight terms reach double precision; below, the recurrence Γ(x+1) = x Γ(x) moves x
 * up first. Abramowitz & Stegun 6.1.40.
 *
 * @throws RangeError for x ≤ 0 or NaN
 */
export function logGamma(x: number): number {
  if (!(x > 0)) throw new RangeError(`logGamma is defined for x > 0, not ${x}`)
  let factor = 1
  let z = x
  while (z < 10) {
    factor *= z
    z += 1
  }
  const inverseSquare = 1 / (z * z)
  let series = 0
  for (let i = STIRLING.length - 1; i >= 0; i--) series = series * inverseSquare + (STIRLING[i] ?? 0)
  return (z - 0.5) * Math.log(z) - z + HALF_LOG_2PI + series / z - Math.log(factor)
}
