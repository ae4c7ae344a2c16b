import { requireFinite } from './finite.ts'
import { midranks } from './midranks.ts'

export interface SignedRank {
  /** Sum of the ranks of the positive differences. */
  readonly v: number | null
  /** Differences that are not 0. */
  readonly n: number
  readonly zeros: number
  /** Two-sided and exact; 1 where nothing differs. */
  readonly p: number | null
  /** Smallest two-sided p that these ranks can give. */
  readonly pFloor: number
  readonly refused?: 'no_data'
}

/**
 * Exact Wilcoxon signed-rank test, zeros dropped (and counted): under the null every sign pattern of the midranks of
 * |Δ| is equally likely, and the distribution of V = Σ ranks of positive differences is built by dynamic programming on
 * doubled ranks. Exact at every n and with ties; never the normal approximation. Two-sided p is twice the smaller tail.
 * Reference cases: `wilcoxonSignedRankExact`. Wilcoxon 1945; Hollander & Wolfe 1999, 3.1.
 *
 * Assumes differences symmetric about 0 under the null. It tests the pseudo-median, not the mean: never for a mean or
 * pass-rate claim. Takes n³ steps.
 *
 * @throws RangeError for a difference that is not finite
 */
export function wilcoxonSignedRank(differences: readonly number[]): SignedRank {
  const moving = differences.filter((value) => value !== 0)
  return signedRank(differences, moving, midranks(moving.map(Math.abs)))
}

/**
 * The same with Pratt's (1959) treatment of zeros: they take part in the ranking and are dropped afterwards, so that many
 * zeros weigh against a difference. Reference cases: `wilcoxonPrattExact`.
 */
export function wilcoxonPratt(differences: readonly number[]): SignedRank {
  const ranks = midranks(differences.map(Math.abs))
  return signedRank(
    differences,
    differences.filter((value) => value !== 0),
    ranks.filter((_, i) => differences[i] !== 0),
  )
}

function signedRank(differences: readonly number[], moving: readonly number[], ranks: readonly number[]): SignedRank {
  requireFinite(differences, 'difference')
  const n = moving.length
  const zeros = differences.length - n
  if (differences.length === 0) return { v: null, n, zeros, p: null, pFloor: 1, refused: 'no_data' }
  const doubled = ranks.map((rank) => Math.round(2 * rank))
  const at = doubled.reduce((sum, rank, i) => ((moving[i] ?? 0) > 0 ? sum + rank : sum), 0)
  const density = signDistribution(doubled)
  let below = 0
  for (let i = 0; i < at; i++) below += density[i] ?? 0
  let above = 0
  for (let i = density.length - 1; i > at; i--) above += density[i] ?? 0
  const p = Math.min(1, 2 * (Math.min(below, above) + (density[at] ?? 0)))
  return { v: at / 2, n, zeros, p, pFloor: Math.min(1, 2 ** (1 - n)) }
}

/** Distribution of the sum of the given whole numbers, each taken with probability ½. */
export function signDistribution(weights: readonly number[]): Float64Array {
  const density = new Float64Array(weights.reduce((sum, weight) => sum + weight, 0) + 1)
  density[0] = 1
  let most = 0
  for (const weight of weights) {
    most += weight
    for (let i = most; i >= 0; i--) {
      density[i] = ((density[i] ?? 0) + (i >= weight ? (density[i - weight] ?? 0) : 0)) / 2
    }
  }
  return density
}
