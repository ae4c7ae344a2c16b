import { requireFinite } from './finite.ts'

export interface VarianceComponents {
  readonly units: number
  /** Rows per unit; the effective number where units differ. */
  readonly rowsPerUnit: number
  /** Variance between units; 0 where the estimate is negative. */
  readonly tau2: number | null
  /** Variance between rows of one unit. */
  readonly sigma2: number | null
  readonly icc: number | null
  /** By how much dependent rows inflate the variance of a mean: 1 + (K−1)·ICC. */
  readonly designEffect: number | null
  /** Independent rows that are worth as much. */
  readonly effectiveRows: number | null
  readonly refused?: 'no_data' | 'one_scenario' | 'zero_variance_unidentified' | 'no_variation'
}

/**
 * Variance components of rows in units (seeds in scenarios, repeated judgements in runs) by one-way analysis of variance:
 * σ² = MSW, τ² = max(0, (MSB − MSW)/K₀), ICC = τ²/(τ²+σ²), design effect 1 + (K₀−1)·ICC, with
 * K₀ = (N − Σ K_s²/N)/(S−1), which is K in a balanced design. Searle, Casella & McCulloch 1992, 3.6.
 * Reference case: `varianceComponents`.
 *
 * Refuses σ² where no unit has two rows ("seeds = 1: flakiness unmeasured"), fewer than two units, and rows that are all
 * equal.
 *
 * @param units rows by unit; empty units are ignored
 * @throws RangeError for a row that is not finite
 */
export function varianceComponents(units: readonly (readonly number[])[]): VarianceComponents {
  const filled = units.filter((rows) => rows.length > 0)
  for (const rows of filled) requireFinite(rows, 'row')
  const s = filled.length
  const n = filled.reduce((sum, rows) => sum + rows.length, 0)
  const none = { tau2: null, sigma2: null, icc: null, designEffect: null, effectiveRows: null }
  const squaresOfSizes = filled.reduce((sum, rows) => sum + rows.length ** 2, 0)
  const rowsPerUnit = s < 2 ? n : (n - squaresOfSizes / n) / (s - 1)
  if (n === 0) return { units: s, rowsPerUnit: 0, ...none, refused: 'no_data' }
  if (s < 2) return { units: s, rowsPerUnit, ...none, refused: 'one_scenario' }
  if (n === s) return { units: s, rowsPerUnit, ...none, refused: 'zero_variance_unidentified' }
  const mean = filled.reduce((sum, rows) => sum + total(rows), 0) / n
  let within = 0
  let between = 0
  for (const rows of filled) {
    const unitMean = total(rows) / rows.length
    between += rows.length * (unitMean - mean) ** 2
    for (const y of rows) within += (y - unitMean) ** 2
  }
  const sigma2 = within / (n - s)
  const tau2 = Math.max(0, (between / (s - 1) - sigma2) / rowsPerUnit)
  if (tau2 + sigma2 <= 1e-24 * mean * mean) return { units: s, rowsPerUnit, ...none, refused: 'no_variation' }
  const icc = tau2 / (tau2 + sigma2)
  const designEffect = 1 + (rowsPerUnit - 1) * icc
  return { units: s, rowsPerUnit, tau2, sigma2, icc, designEffect, effectiveRows: n / designEffect }
}

/**
 * Largest share of the standard error that more seeds alone can take away: 1 − √(τ² / (τ² + σ²/K)). What is left only
 * more scenarios reduce.
 *
 * @throws RangeError unless tau2, sigma2 ≥ 0, not both 0, and seeds ≥ 1
 */
export function seedsCanSave({
  tau2,
  sigma2,
  seeds,
}: {
  readonly tau2: number
  readonly sigma2: number
  readonly seeds: number
}): number {
  if (!(tau2 >= 0 && sigma2 >= 0 && tau2 + sigma2 > 0 && seeds >= 1)) {
    throw new RangeError(`no components: tau2 ${tau2}, sigma2 ${sigma2}, seeds ${seeds}`)
  }
  return 1 - Math.sqrt(tau2 / (tau2 + sigma2 / seeds))
}

function total(rows: readonly number[]): number {
  return rows.reduce((sum, y) => sum + y, 0)
}
