import { requireFinite } from '../finite.ts'
import { normalCdf } from '../normal.ts'

export interface MixtureTuning {
  /** Intrinsic time at which the boundary is tightest. */
  readonly vOpt: number
  /** Level for which it is tuned; default .05. */
  readonly alphaOpt?: number
}

/** Mixture precision ρ that makes the two-sided boundary tightest at v: v / (2 ln(1/α) + ln(1 + 2 ln(1/α))). */
export function mixturePrecision(v: number, alpha: number): number {
  const log = Math.log(1 / alpha)
  return v / (2 * log + Math.log1p(2 * log))
}

/**
 * Boundary that a sub-Gaussian sum S_t with intrinsic time V_t = v (for values with standard deviation 1: v = t) crosses
 * at any time with probability at most α: |S_t| two-sided, S_t one-sided. Two-sided √((v+ρ)(ln(1 + v/ρ) + 2 ln(1/α)));
 * one-sided the root of ½ ln(4ρ/(v+ρ)) + s²/(2(v+ρ)) + ln Φ(s/√(v+ρ)) = ln(1/α). Howard, Ramdas, McAuliffe & Sekhon
 * 2021, Propositions 5 and 6. Reference cases: `normalMixtureBound`.
 *
 * @throws RangeError unless v ≥ 0, vOpt > 0 and the levels lie in (0, 1), the one-sided alphaOpt in (0, ½)
 */
export function normalMixtureBound(
  v: number,
  alpha: number,
  { vOpt, alphaOpt = 0.05 }: MixtureTuning,
  sides: 'one-sided' | 'two-sided',
): number {
  requireFinite([v, vOpt], 'intrinsic time')
  const tuned = sides === 'two-sided' ? alphaOpt : 2 * alphaOpt
  if (!(v >= 0 && vOpt > 0 && alpha > 0 && alpha < 1 && tuned > 0 && tuned < 1)) {
    throw new RangeError(`no boundary at v ${v}, α ${alpha}, vOpt ${vOpt}, alphaOpt ${alphaOpt}`)
  }
  const rho = mixturePrecision(vOpt, tuned)
  const whole = v + rho
  const threshold = Math.log(1 / alpha)
  const twoSided = Math.sqrt(whole * (Math.log1p(v / rho) + 2 * threshold))
  if (sides === 'two-sided') return twoSided
  const excess = (s: number): number =>
    0.5 * Math.log((4 * rho) / whole) + (s * s) / (2 * whole) + Math.log(normalCdf(s / Math.sqrt(whole))) - threshold
  let low = 0
  let high = twoSided
  while (excess(high) < 0) high *= 2
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (excess(middle) < 0) low = middle
    else high = middle
  }
  return high
}
