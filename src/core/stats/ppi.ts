import { requireFinite } from './finite.ts'
import { moments, requireLevel } from './mean-interval.ts'
import { normalQuantile } from './normal.ts'

export interface PpiMean {
  readonly est: number | null
  readonly se: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly refused?: 'too_few_labels' | 'no_data' | 'zero_spread'
}

/** Fewest labelled rows from which a judge is corrected. */
export const LEAST_LABELS = 10

/**
 * Prediction-powered mean (Angelopoulos et al. 2023): what a judge says on many rows, corrected with the mean of its error
 * on the rows that a human labelled too: mean f(F) − mean(f − Y), variance var(F)/N + var(f − Y)/n with divisors N − 1
 * and n − 1, normal interval. Reference case: `ppiMean`.
 *
 * Assumes that both sets of rows are independent draws of one population and independent of each other. Refuses fewer
 * than {@link LEAST_LABELS} labels, fewer than two judged rows, and no spread at all.
 *
 * @param labelled rows with the human's label and the judge's
 * @param judged the judge's values on the other rows
 * @throws RangeError for a value that is not finite
 */
export function ppiMean(
  labelled: readonly { readonly human: number; readonly judge: number }[],
  judged: readonly number[],
  level: number,
): PpiMean {
  requireLevel(level)
  requireFinite(judged, 'judged value')
  for (const { human, judge } of labelled) requireFinite([human, judge], 'label')
  const none = { est: null, se: null, lo: null, hi: null }
  if (labelled.length < LEAST_LABELS) return { ...none, refused: 'too_few_labels' }
  if (judged.length < 2) return { ...none, refused: 'no_data' }
  const errors = moments(labelled.map(({ human, judge }) => judge - human))
  const all = moments(judged)
  const est = all.mean - errors.mean
  if (errors.equal && all.equal) return { ...none, est, refused: 'zero_spread' }
  const se = Math.sqrt(all.sd ** 2 / judged.length + errors.sd ** 2 / labelled.length)
  const reach = normalQuantile((1 + level) / 2) * se
  return { est, se, lo: est - reach, hi: est + reach }
}
