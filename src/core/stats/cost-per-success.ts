import { requireFinite } from './finite.ts'
import type { LogRatio } from './log-ratio.ts'
import { requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

/** One scenario's total cost and passes in both arms, over the same cells; failed cells cost too. */
export interface CostAndPasses {
  readonly baseCost: number
  readonly basePasses: number
  readonly changedCost: number
  readonly changedPasses: number
}

export interface CostPerSuccess extends Omit<LogRatio, 'refused'> {
  readonly refused?: LogRatio['refused'] | 'no_successes'
}

/**
 * Ratio of the costs per success of two arms, (Σ cost / Σ passes) changed over base, with a t interval on the log scale
 * by the delta method: residuals c₁/c̄₁ − p₁/p̄₁ − c₀/c̄₀ + p₀/p̄₀ per scenario, n − 1 degrees of freedom.
 *
 * Unknown costs are the caller's to bound: they are not 0. Refuses an arm without a success or without cost, fewer than
 * two scenarios, and residuals without spread.
 *
 * @throws RangeError for a value that is not finite
 */
export function costPerSuccessRatio(scenarios: readonly CostAndPasses[], level: number): CostPerSuccess {
  requireLevel(level)
  const n = scenarios.length
  const none = { ratio: null, lo: null, hi: null }
  if (n === 0) return { ...none, refused: 'no_data' }
  const mean = (of: keyof CostAndPasses): number => {
    const values = scenarios.map((scenario) => scenario[of])
    requireFinite(values, of)
    return values.reduce((sum, value) => sum + value, 0) / n
  }
  const c0 = mean('baseCost')
  const p0 = mean('basePasses')
  const c1 = mean('changedCost')
  const p1 = mean('changedPasses')
  if (!(p0 > 0 && p1 > 0)) return { ...none, refused: 'no_successes' }
  if (!(c0 > 0 && c1 > 0)) return { ...none, refused: 'not_applicable' }
  const ratio = c1 / p1 / (c0 / p0)
  if (n === 1) return { ratio, lo: null, hi: null, refused: 'one_scenario' }
  let squares = 0
  for (const { baseCost, basePasses, changedCost, changedPasses } of scenarios) {
    squares += (changedCost / c1 - changedPasses / p1 - baseCost / c0 + basePasses / p0) ** 2
  }
  if (squares < 1e-24 * n) return { ratio, lo: null, hi: null, refused: 'zero_spread' }
  const reach = tQuantile((1 + level) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n)
  return { ratio, lo: ratio * Math.exp(-reach), hi: ratio * Math.exp(reach) }
}
