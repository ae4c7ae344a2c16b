import { requireDiscordant } from './mcnemar.ts'
import { requireLevel } from './mean-interval.ts'
import { normalQuantile } from './normal.ts'
import { type Interval, refuseInterval } from './refusal.ts'

/** A paired 2×2 table by what decides it: pairs that got better, pairs that got worse, all pairs. */
export interface PairedCounts {
  readonly b: number
  readonly c: number
  readonly n: number
}

export type TangoInterval = { readonly est: number | null } & Interval<'no_data'>

/**
 * Tango's (1998) score interval of p_c − p_b = (b − c)/n for paired pass/fail outcomes: the δ for which
 * |b − c − nδ| / √(n(2q̂ + δ(1−δ))) ≤ z, where q̂ is the maximum-likelihood estimate of the pass→fail rate under δ.
 * Without any discordant pair it is not zero-width: ±.2775 at n = 10. It can exclude 0 where the exact McNemar test does
 * not (b=5, c=0, n=6), so superiority needs both. Reference cases: `tangoScoreCI`.
 *
 * Assumes one row per scenario. Refuses n = 0.
 *
 * @throws RangeError for counts with b + c > n
 */
export function tangoScoreInterval({ b, c, n }: PairedCounts, level: number): TangoInterval {
  requireDiscordant(b, c)
  requireLevel(level)
  if (!Number.isInteger(n) || b + c > n) throw new RangeError(`${b} + ${c} discordant pairs of ${n}`)
  if (n === 0) return { est: null, ...refuseInterval('no_data') }
  const z = normalQuantile((1 + level) / 2)
  // Exchanging the arms mirrors the interval, so one root finder serves both ends.
  return { est: (b - c) / n, lo: lowerEnd(b, c, n, z), hi: 0 - lowerEnd(c, b, n, z) }
}

/** Smallest δ that is not rejected; the score falls in δ and is 0 at the estimate. */
function lowerEnd(b: number, c: number, n: number, z: number): number {
  if (c === n) return -1
  let low = -1
  let high = (b - c) / n
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (score(middle, b, c, n) > z) low = middle
    else high = middle
  }
  return (low + high) / 2
}

function score(delta: number, b: number, c: number, n: number): number {
  const linear = (2 * n - b + c) * delta - b - c
  const root = Math.sqrt(Math.max(0, linear * linear + 8 * n * c * delta * (1 - delta)))
  const q = Math.max(0, (root - linear) / (4 * n))
  const variance = n * (2 * q + delta * (1 - delta))
  const distance = b - c - n * delta
  return variance > 0 ? distance / Math.sqrt(variance) : distance > 0 ? Number.POSITIVE_INFINITY : 0
}
