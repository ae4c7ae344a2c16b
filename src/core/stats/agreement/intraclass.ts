import { requireFinite } from '../finite.ts'

export interface IntraclassCorrelations {
  /** One-way random: each unit has its own judges. */
  readonly icc1: number | null
  /** Two-way random, absolute agreement: the one for judge scores. */
  readonly icc2: number | null
  /** Two-way mixed, consistency: a constant difference between judges does not count. */
  readonly icc3: number | null
  /** The same three for the mean of the k judges. */
  readonly icc1k: number | null
  readonly icc2k: number | null
  readonly icc3k: number | null
  /** `not_applicable`: ICC(2,k) alone is null, as its denominator is not positive. */
  readonly refused?: 'no_data' | 'no_pairs' | 'no_variation' | 'not_applicable'
}

/**
 * The six intraclass correlations of Shrout & Fleiss (1979) from the mean squares of units (MSR), judges (MSC), residual
 * (MSE) and within units (MSW). ICC(2,1) is the agreement of continuous judge scores. Reference case: `icc`.
 *
 * Assumes a complete table, normal scores and one variance. Refuses fewer than two units or judges, and units
 * that do not differ.
 *
 * @param ratings per unit, one score of each judge
 * @throws RangeError for an incomplete table, or a rating that is not finite
 */
export function intraclass(ratings: readonly (readonly number[])[]): IntraclassCorrelations {
  const none = { icc1: null, icc2: null, icc3: null, icc1k: null, icc2k: null, icc3k: null }
  const n = ratings.length
  const k = ratings[0]?.length ?? 0
  if (ratings.some((row) => row.length !== k)) {
    throw new RangeError('intraclass correlations need one score of every judge for every unit')
  }
  for (const row of ratings) requireFinite(row, 'rating')
  if (n < 2) return { ...none, refused: 'no_data' }
  if (k < 2) return { ...none, refused: 'no_pairs' }
  const unitMeans = ratings.map((row) => row.reduce((sum, y) => sum + y, 0) / k)
  const judgeMeans = Array.from({ length: k }, (_, j) => ratings.reduce((sum, row) => sum + (row[j] ?? 0), 0) / n)
  const mean = unitMeans.reduce((sum, y) => sum + y, 0) / n
  let units = 0
  let judges = 0
  let within = 0
  for (const unit of unitMeans) units += k * (unit - mean) ** 2
  for (const judge of judgeMeans) judges += n * (judge - mean) ** 2
  ratings.forEach((row, i) => {
    for (const y of row) within += (y - (unitMeans[i] ?? 0)) ** 2
  })
  const msr = units / (n - 1)
  const msw = within / (n * (k - 1))
  const msc = judges / (k - 1)
  const mse = Math.max(0, within - judges) / ((n - 1) * (k - 1))
  if (units <= 1e-24 * (n * k * mean * mean + within)) return { ...none, refused: 'no_variation' }
  // Judges far more alike in the mean than the residuals allow can turn this denominator over; the other five have none.
  const meanOfJudges = msr + (msc - mse) / n
  const applicable = meanOfJudges > 1e-12 * (msr + (msc + mse) / n)
  return {
    icc1: (msr - msw) / (msr + (k - 1) * msw),
    icc2: (msr - mse) / (msr + (k - 1) * mse + (k * (msc - mse)) / n),
    icc3: (msr - mse) / (msr + (k - 1) * mse),
    icc1k: (msr - msw) / msr,
    icc2k: applicable ? (msr - mse) / meanOfJudges : null,
    icc3k: (msr - mse) / msr,
    ...(applicable ? {} : { refused: 'not_applicable' as const }),
  }
}
