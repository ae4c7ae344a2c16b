import { EQUAL_WITHIN, requireLevel } from '../mean-interval.ts'
import { quantileOfSorted } from '../quantile.ts'
import { refuse, type Statistic } from '../refusal.ts'
import type { Differences } from '../sign-flip.ts'
import { BOOTSTRAP_RESAMPLES, PERCENTILE_UNITS } from './cluster.ts'
import { drawUnits, type ResampleSource } from './resample.ts'

/**
 * Critical value of simultaneous intervals Δ̄_j ± c · SE_j of several contrasts: the level-quantile over resamples of
 * max_j |Δ̄*_j − Δ̄_j| / SE*_j, units drawn together so that the contrasts' correlation is used. Westfall & Young 1993;
 * Davison & Hinkley 1997.
 *
 * A resample in which a contrast has no spread counts as infinitely far off unless its mean did not move; contrasts
 * without any spread are left out. Refuses fewer than 30 units and contrasts that are all without spread.
 */
export function maxTCriticalValue(
  { units, contrasts, values }: Differences,
  level: number,
  source: ResampleSource & { readonly resamples?: number },
): Statistic<'no_data' | 'too_few_scenarios' | 'zero_spread'> {
  requireLevel(level)
  if (values.length !== units * contrasts)
    throw new RangeError(`${units} × ${contrasts} differences, ${values.length} given`)
  if (units === 0 || contrasts === 0) return refuse('no_data')
  if (units < PERCENTILE_UNITS) return refuse('too_few_scenarios')
  const columns = Array.from({ length: contrasts }, (_, j) =>
    Float64Array.from({ length: units }, (_, u) => values[u * contrasts + j] ?? 0),
  ).filter((column) => !flat(column))
  if (columns.length === 0) return refuse('zero_spread')
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / units)
  const resamples = source.resamples ?? BOOTSTRAP_RESAMPLES
  const largest = new Float64Array(resamples)
  const indices = new Uint32Array(units)
  for (let r = 0; r < resamples; r++) {
    drawUnits(indices, r, source)
    let most = 0
    columns.forEach((column, j) => {
      most = Math.max(most, studentized(column, means[j] ?? 0, indices))
    })
    largest[r] = most
  }
  return { value: quantileOfSorted(largest.sort(), level) }
}

function studentized(column: Float64Array, centre: number, indices: Uint32Array): number {
  const n = indices.length
  let sum = 0
  for (let i = 0; i < n; i++) sum += column[indices[i] ?? 0] ?? 0
  const mean = sum / n
  let squares = 0
  for (let i = 0; i < n; i++) squares += ((column[indices[i] ?? 0] ?? 0) - mean) ** 2
  const distance = Math.abs(mean - centre)
  if (squares > 0) return distance / Math.sqrt(squares / (n - 1) / n)
  return distance > 0 ? Number.MAX_VALUE : 0
}

function flat(column: Float64Array): boolean {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const value of column) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  return most - least <= EQUAL_WITHIN * Math.max(Math.abs(least), Math.abs(most))
}
