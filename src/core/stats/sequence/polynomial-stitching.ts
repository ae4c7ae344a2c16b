export interface StitchingTuning {
  /** Intrinsic time from which the boundary is meant to be tight. */
  readonly vMin: number
  /** Scale of a sub-gamma sum; 0 (the default) is sub-Gaussian. */
  readonly c?: number
  /** Decay of the error spent per epoch (> 1, default 1.4) and ratio of epochs (> 1, default 2). */
  readonly s?: number
  readonly eta?: number
}

/**
 * Polynomial stitched boundary of a sub-gamma sum, crossed at any time with probability at most α, growing like
 * √(v ln ln v): √(k₁² v ℓ + k₂² c² ℓ²) + k₂ c ℓ with ℓ = s ln ln(ηv/vMin) + ln(ζ(s)/(α ln^s η)),
 * k₁ = (η^¼ + η^−¼)/√2, k₂ = (√η + 1)/2. Howard et al. 2021, Theorem 1. Reference: `confseq-poly`.
 *
 * @throws RangeError unless v ≥ 0, vMin > 0, 0 < α < 1, s > 1 and η > 1
 */
export function polynomialStitchingBound(
  v: number,
  alpha: number,
  { vMin, c = 0, s = 1.4, eta = 2 }: StitchingTuning,
): number {
  if (!(v >= 0 && vMin > 0 && alpha > 0 && alpha < 1 && s > 1 && eta > 1)) {
    throw new RangeError(`no boundary at v ${v}, α ${alpha}, vMin ${vMin}, s ${s}, η ${eta}`)
  }
  const time = Math.max(v, vMin)
  const k1 = (eta ** 0.25 + eta ** -0.25) / Math.SQRT2
  const k2 = (Math.sqrt(eta) + 1) / 2
  const ell = s * Math.log(Math.log((eta * time) / vMin)) + Math.log(zeta(s) / Math.log(eta) ** s) + Math.log(1 / alpha)
  const linear = k2 * c * ell
  return Math.sqrt(k1 * k1 * time * ell + linear * linear) + linear
}

/** Riemann's ζ(s), s > 1: twenty terms and the Euler–Maclaurin remainder (A&S 23.2.3). */
function zeta(s: number): number {
  const n = 20
  let sum = 0
  for (let i = 1; i < n; i++) sum += i ** -s
  sum += n ** (1 - s) / (s - 1) + n ** -s / 2
  // B(2k)/(2k)! · s(s+1)…(s+2k−2) · n^(−s−2k+1)
  const coefficients = [1 / 12, -1 / 720, 1 / 30_240, -1 / 1_209_600]
  let rising = s
  coefficients.forEach((coefficient, k) => {
    sum += coefficient * rising * n ** (-s - 2 * k - 1)
    rising *= (s + 2 * k + 1) * (s + 2 * k + 2)
  })
  return sum
}
