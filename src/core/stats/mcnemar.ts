import { binomialCdf, binomialPmf } from './binomial.ts'

export function requireDiscordant(b: number, c: number): void {
  if (!Number.isInteger(b) || !Number.isInteger(c) || b < 0 || c < 0) {
    throw new RangeError(`discordant pairs are counted, not ${b} and ${c}`)
  }
}

/**
 * Exact two-sided McNemar test of paired pass/fail outcomes: p = min(1, 2 · P(Bin(b+c, ½) ≤ min(b, c))). No discordant
 * pair is p = 1. Reference cases: `mcnemarExact`.
 *
 * Assumes one row per scenario (K = 1); seeds of one scenario are not independent pairs. McNemar 1947, exact form.
 *
 * @param b pairs that went from fail to pass
 * @param c pairs that went from pass to fail
 * @throws RangeError for counts that are none
 */
export function mcnemarExact(b: number, c: number): number {
  requireDiscordant(b, c)
  return Math.min(1, 2 * binomialCdf(Math.min(b, c), b + c, 0.5))
}

/**
 * Mid-p McNemar test: outcomes more extreme than the observed split, plus half of those as extreme, so that it is not
 * conservative on average (Fagerland, Lydersen & Laake 2013). That is the exact p less P(Bin = b), and 1 − ½ P(Bin = b)
 * at b = c. It may exceed its level slightly; a gate uses {@link mcnemarExact}. No discordant pair is p = 1. Reference
 * cases: `mcnemarMidP`.
 *
 * @throws RangeError for counts that are none
 */
export function mcnemarMidP(b: number, c: number): number {
  requireDiscordant(b, c)
  const n = b + c
  if (n === 0) return 1
  const observed = binomialPmf(b, n, 0.5)
  return b === c ? 1 - observed / 2 : 2 * binomialCdf(Math.min(b, c), n, 0.5) - observed
}
