export interface EmpiricalProcessTuning {
  /** First number of runs at which anything is claimed. */
  readonly tMin: number
  /** Leading constant, above 1/√2; .85 is the published choice. */
  readonly a?: number
}

/**
 * Half-width, at every t ≥ tMin at once, of a band around the empirical distribution function that holds the true one
 * with probability 1 − α: A √((ln(1 + ln(t/tMin)) + C)/t), C the smallest constant whose error bound
 * min over η of 4 e^{−γ²C} (1 + 1/((γ²−1) ln η)), γ² = (2/η)(A − √(2(η−1)/C))², is at most α. Howard & Ramdas 2022,
 * Theorem 2. For latency quantiles under any stopping. Reference case: `empiricalProcessLIL`.
 *
 * Infinite before tMin: nothing is claimed there yet.
 *
 * @throws RangeError unless t, tMin ≥ 1, 0 < α < 1 and A > 1/√2
 */
export function empiricalProcessLil(t: number, alpha: number, { tMin, a = 0.85 }: EmpiricalProcessTuning): number {
  if (!(t >= 1 && tMin >= 1 && alpha > 0 && alpha < 1 && a > Math.SQRT1_2)) {
    throw new RangeError(`no band at t ${t}, α ${alpha}, tMin ${tMin}, A ${a}`)
  }
  if (t < tMin) return Number.POSITIVE_INFINITY
  return a * Math.sqrt((Math.log1p(Math.log(t / tMin)) + smallestConstant(alpha, a)) / t)
}

function smallestConstant(alpha: number, a: number): number {
  let low = 0
  let high = 1
  while (leastError(high, a) > alpha) {
    low = high
    high *= 2
  }
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (leastError(middle, a) > alpha) low = middle
    else high = middle
  }
  return high
}

/** Least error bound over η ∈ (1, η_max), where γ² > 1; golden-section search, as the bound has one minimum there. */
function leastError(c: number, a: number): number {
  const gamma2 = (eta: number): number => (2 / eta) * Math.max(0, a - Math.sqrt((2 * (eta - 1)) / c)) ** 2
  const error = (eta: number): number => {
    const g = gamma2(eta)
    return g > 1 ? 4 * Math.exp(-g * c) * (1 + 1 / ((g - 1) * Math.log(eta))) : Number.POSITIVE_INFINITY
  }
  let low = 1
  let high = 2 * a * a
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (gamma2(middle) > 1) low = middle
    else high = middle
  }
  const ratio = (Math.sqrt(5) - 1) / 2
  let [from, to] = [1, low]
  let [x1, x2] = [to - ratio * (to - from), from + ratio * (to - from)]
  let [y1, y2] = [error(x1), error(x2)]
  for (let i = 0; i < 60; i++) {
    if (y1 <= y2) {
      to = x2
      ;[x2, y2] = [x1, y1]
      x1 = to - ratio * (to - from)
      y1 = error(x1)
    } else {
      from = x1
      ;[x1, y1] = [x2, y2]
      x2 = from + ratio * (to - from)
      y2 = error(x2)
    }
  }
  return Math.min(y1, y2)
}
