import { chiSquareUpper } from './chi-square.ts'
import { requireFinite } from './finite.ts'
import { midranks, tieSizes } from './midranks.ts'

export interface Friedman {
  readonly chi2: number | null
  readonly df: number | null
  readonly p: number | null
  /** Mean rank of each variant over the scenarios; higher is a larger score. */
  readonly meanRanks: readonly number[] | null
  readonly refused?: 'no_data' | 'one_scenario' | 'no_variation'
}

/**
 * Friedman's rank test that no variant of several differs: χ² = (k−1) Σ_j (R_j − n(k+1)/2)² / Σ within-scenario
 * variance of the ranks (the tie-corrected form), χ² with k − 1 degrees of freedom. An omnibus test where there is no
 * comparator; it never makes a verdict. Reference case: `friedman`. Hollander & Wolfe 1973, 7.1.
 *
 * The χ² law is asymptotic in the scenarios. Refuses fewer than two scenarios or variants, and scenarios in which all
 * variants tie.
 *
 * @param scenarios per scenario the mean score of each variant, in the same order
 * @throws RangeError for rows of different lengths, or a score that is not finite
 */
export function friedman(scenarios: readonly (readonly number[])[]): Friedman {
  const none = { chi2: null, df: null, p: null, meanRanks: null }
  const n = scenarios.length
  const k = scenarios[0]?.length ?? 0
  if (scenarios.some((row) => row.length !== k)) throw new RangeError('every scenario needs one value per variant')
  if (n === 0 || k < 2) return { ...none, refused: 'no_data' }
  if (n === 1) return { ...none, refused: 'one_scenario' }
  const sums = new Array<number>(k).fill(0)
  let tied = 0
  for (const row of scenarios) {
    requireFinite(row, 'score')
    const ranks = midranks(row)
    ranks.forEach((rank, j) => {
      sums[j] = (sums[j] ?? 0) + rank
    })
    for (const size of tieSizes(ranks)) tied += size ** 3 - size
  }
  const scale = n * k * (k + 1) - tied / (k - 1)
  if (scale <= 0) return { ...none, refused: 'no_variation' }
  const between = sums.reduce((sum, rank) => sum + (rank - (n * (k + 1)) / 2) ** 2, 0)
  const chi2 = (12 * between) / scale
  return { chi2, df: k - 1, p: chiSquareUpper(chi2, k - 1), meanRanks: sums.map((rank) => rank / n) }
}
