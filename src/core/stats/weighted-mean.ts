import { requireFinite } from './finite.ts'
import { EQUAL_WITHIN, requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

export interface WeightedMean {
  readonly n: number
  readonly mean: number | null
  readonly se: number | null
  readonly df: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly refused?: 'no_data' | 'one_scenario' | 'zero_spread'
}

/**
 * Weighted mean Δ̄ = Σ w_s Δ_s / Σ w_s of independent units with a t interval of n − 1 degrees of freedom:
 * SE = √(n/(n−1) · Σ w_s² (Δ_s − Δ̄)²) / Σ w_s. Equal weights give the plain interval. Units of weight 0 do not count.
 * Reference case: `weightedMean`.
 *
 * Refuses as the plain mean does: no data, one unit, no spread.
 *
 * @throws RangeError for different lengths, a value that is not finite, or a weight that is negative or not finite
 */
export function weightedMean(values: readonly number[], weights: readonly number[], level: number): WeightedMean {
  requireLevel(level)
  if (values.length !== weights.length) throw new RangeError(`${values.length} values, ${weights.length} weights`)
  requireFinite(values, 'value')
  const units = values.flatMap((value, i) => {
    const weight = weights[i] ?? Number.NaN
    if (!(weight >= 0 && Number.isFinite(weight))) throw new RangeError(`weight ${i} is ${weight}`)
    return weight === 0 ? [] : [{ value, weight }]
  })
  const n = units.length
  const none = { n, se: null, df: null, lo: null, hi: null }
  if (n === 0) return { ...none, mean: null, refused: 'no_data' }
  const total = units.reduce((sum, unit) => sum + unit.weight, 0)
  const mean = units.reduce((sum, unit) => sum + unit.weight * unit.value, 0) / total
  if (n === 1) return { ...none, mean, refused: 'one_scenario' }
  const all = units.map((unit) => unit.value)
  const least = Math.min(...all)
  const most = Math.max(...all)
  if (most - least <= EQUAL_WITHIN * Math.max(Math.abs(least), Math.abs(most))) {
    return { ...none, mean, df: n - 1, refused: 'zero_spread' }
  }
  const squares = units.reduce((sum, unit) => sum + (unit.weight * (unit.value - mean)) ** 2, 0)
  const se = Math.sqrt((n / (n - 1)) * squares) / total
  const reach = tQuantile((1 + level) / 2, n - 1) * se
  return { n, mean, se, df: n - 1, lo: mean - reach, hi: mean + reach }
}
