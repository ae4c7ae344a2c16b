import { refuse, type Statistic } from '../refusal.ts'

/**
 * Fleiss's (1971) κ of a fixed number m of ratings per unit: (P̄ − P̄_e)/(1 − P̄_e), P̄ the mean share of agreeing pairs,
 * P̄_e = Σ p_j². Reference case: `fleissKappa`.
 *
 * Assumes as many ratings for every unit, by whomever; with missing ratings use Krippendorff's α. Refuses no units, fewer
 * than two ratings, and one category throughout.
 *
 * @param counts per unit, how many ratings fell into each category
 * @throws RangeError for units with different numbers of ratings or categories
 */
export function fleissKappa(
  counts: readonly (readonly number[])[],
): Statistic<'no_data' | 'no_pairs' | 'no_variation'> {
  const units = counts.length
  if (units === 0) return refuse('no_data')
  const categories = counts[0]?.length ?? 0
  const sizes = counts.map((row) => row.reduce((sum, count) => sum + count, 0))
  const m = sizes[0] ?? 0
  if (sizes.some((size) => size !== m) || counts.some((row) => row.length !== categories)) {
    throw new RangeError('every unit needs the same number of ratings and categories')
  }
  if (m < 2) return refuse('no_pairs')
  let chance = 0
  for (let j = 0; j < categories; j++) {
    chance += (counts.reduce((sum, row) => sum + (row[j] ?? 0), 0) / (units * m)) ** 2
  }
  if (1 - chance < 1e-12) return refuse('no_variation')
  const pairs = counts.reduce((sum, row) => sum + row.reduce((inner, count) => inner + count * (count - 1), 0), 0)
  return { value: (pairs / (units * m * (m - 1)) - chance) / (1 - chance) }
}
