import { type Interval, refuseInterval } from '../refusal.ts'
import { predictableBets, TRUNCATION } from './bets.ts'

/**
 * Predictable plug-in empirical Bernstein confidence sequence of the mean of values in [0, 1], as it stands after the
 * last one: the intersection over t of Σ λx/Σ λ ± (ln(2/α) + Σ v ψ(λ))/Σ λ, with v_i = 4(x_i − μ̂_{i−1})²,
 * ψ(λ) = (−ln(1−λ) − λ)/4 and bets cut at ½. Valid at every look. Waudby-Smith & Ramdas 2024, Theorem 2. Reference:
 * `prpl-eb`.
 *
 * Assumes values with one conditional mean, in an order fixed before the data (the plan's, never sorted by outcome).
 * Refuses no values.
 *
 * @throws RangeError for values outside [0, 1]
 */
export function empiricalBernsteinSequence(values: readonly number[], alpha: number): Interval<'no_data'> {
  const bets = predictableBets(values, alpha / 2)
  if (values.length === 0) return refuseInterval('no_data')
  let weight = 0
  let weighted = 0
  let penalty = Math.log(2 / alpha)
  let lo = 0
  let hi = 1
  bets.forEach(({ bet, meanBefore }, i) => {
    const value = values[i] ?? 0
    const lambda = Math.min(bet, TRUNCATION)
    weight += lambda
    weighted += lambda * value
    penalty += (value - meanBefore) ** 2 * (-Math.log1p(-lambda) - lambda)
    lo = Math.max(lo, (weighted - penalty) / weight)
    hi = Math.min(hi, (weighted + penalty) / weight)
  })
  return { lo, hi }
}
