const SQRT_PI = Math.sqrt(Math.PI)

/** erf by its all-positive series (A&S 7.1.6), x ≥ 0. */
function erfSeries(x: number): number {
  let term = x
  let sum = x
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1)
    sum += term
  }
  return (2 / SQRT_PI) * Math.exp(-x * x) * sum
}

/** erfc by the continued fraction A&S 7.1.14, evaluated from the far end, x ≥ 2.5. */
function erfcFraction(x: number): number {
  let fraction = x
  for (let n = 60; n >= 1; n--) fraction = x + n / 2 / fraction
  return Math.exp(-x * x) / (SQRT_PI * fraction)
}

/** Standard normal distribution function Φ(z), relative precision about 1e-14 in the lower tail too. */
export function normalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2
  if (x < 2.5) return z < 0 ? 0.5 - erfSeries(x) / 2 : 0.5 + erfSeries(x) / 2
  return z < 0 ? erfcFraction(x) / 2 : 1 - erfcFraction(x) / 2
}

/**
 * Standard normal quantile: Abramowitz & Stegun 26.2.23 as a start, then Halley steps on {@link normalCdf}.
 *
 * @throws RangeError for p outside (0, 1)
 */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`normalQuantile needs p in (0, 1), not ${p}`)
  if (p > 0.5) return -normalQuantile(1 - p)
  if (p === 0.5) return 0
  const t = Math.sqrt(-2 * Math.log(p))
  let z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
  for (let i = 0; i < 4; i++) {
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
    const step = (normalCdf(z) - p) / density
    z -= step / (1 + (z * step) / 2)
  }
  return z
}
