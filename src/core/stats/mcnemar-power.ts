import { binomialPmf } from './binomial.ts'
import { mcnemarExact } from './mcnemar.ts'

export interface McnemarDesign {
  /** Chance that a scenario goes from fail to pass, and from pass to fail. */
  readonly p10: number
  readonly p01: number
  readonly n: number
  /** Two-sided level. */
  readonly alpha: number
}

/**
 * Chance that the exact two-sided McNemar test shows a difference in its true direction, by enumeration: D = b + c is
 * Bin(n, p10 + p01), b given D is Bin(D, p10/(p10 + p01)), and every (b, c) on the side of the larger rate whose exact p is
 * at most α counts. Rejections on the wrong side are not counted, as in `pairedTPower`. The normal formula overstates it
 * (.7365 instead of .7034). Reference cases: `mcnemarPowerExact`.
 *
 * @throws RangeError unless p10, p01 ≥ 0, p10 + p01 ≤ 1, n is whole and 0 < α < 1
 */
export function mcnemarPowerExact({ p10, p01, n, alpha }: McnemarDesign): number {
  const discordance = p10 + p01
  if (!(p10 >= 0 && p01 >= 0 && discordance <= 1 && alpha > 0 && alpha < 1 && Number.isInteger(n) && n >= 0)) {
    throw new RangeError(`no design: p10 ${p10}, p01 ${p01}, n ${n}, alpha ${alpha}`)
  }
  if (discordance === 0) return 0
  const larger = Math.max(p10, p01) / discordance
  let power = 0
  for (let d = 0; d <= n; d++) {
    const weight = binomialPmf(d, n, discordance)
    const largest = largestRejected(d, alpha)
    let rejected = 0
    for (let fewer = 0; fewer <= largest; fewer++) rejected += binomialPmf(d - fewer, d, larger)
    power += weight * rejected
  }
  return Math.min(1, power)
}

/** Largest min(b, c) that is still rejected among d discordant pairs; −1 where none is. */
function largestRejected(d: number, alpha: number): number {
  let low = -1
  let high = Math.ceil(d / 2) - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (mcnemarExact(middle, d - middle) <= alpha * (1 + 1e-12)) low = middle
    else high = middle - 1
  }
  return low
}
