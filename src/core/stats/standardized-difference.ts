import { requireFinite } from './finite.ts'
import { moments } from './mean-interval.ts'
import { refuse, type Statistic } from './refusal.ts'

/**
 * d_z = Δ̄ / sd(Δ_s) of paired differences: the effect in standard deviations of the differences. Printed after Δ̄ in
 * score units, never instead of it. Refuses differences without spread.
 *
 * @throws RangeError for a difference that is not finite
 */
export function standardizedDifference(
  differences: ArrayLike<number>,
): Statistic<'no_data' | 'one_scenario' | 'zero_spread'> {
  requireFinite(differences, 'difference')
  if (differences.length === 0) return refuse('no_data')
  if (differences.length === 1) return refuse('one_scenario')
  const { mean, sd, equal } = moments(differences)
  return equal ? refuse('zero_spread') : { value: mean / sd }
}
