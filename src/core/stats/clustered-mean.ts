import { requireFinite } from './finite.ts'
import { requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

export interface ClusteredMean {
  readonly mean: number | null
  readonly clusters: number
  readonly rows: number
  /** sd/√n as if rows were independent: for the record, never for a decision. */
  readonly iid: number | null
  /** Without and with the small-sample factor √(C/(C−1)). */
  readonly cr0: number | null
  readonly se: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly refused?: 'no_data' | 'one_scenario'
}

/**
 * Mean over raw rows whose errors are dependent inside a cluster: SE = √(C/(C−1)) · √(Σ_c (Σ_i (y_ci − ȳ))²) / n, and
 * t with C − 1 degrees of freedom (Miller 2024; the factor as inspect_ai applies it).
 *
 * Reference case: `clusteredSE`. With equal cluster sizes it equals sd(cluster means)/√C. Refuses an interval below two
 * clusters.
 *
 * @param clusters rows by cluster; empty clusters are ignored
 * @throws RangeError for a row that is not finite
 */
export function clusteredMean(clusters: readonly (readonly number[])[], level: number): ClusteredMean {
  requireLevel(level)
  const filled = clusters.filter((rows) => rows.length > 0)
  const all = filled.flat()
  requireFinite(all, 'row')
  const n = all.length
  const count = filled.length
  const none = { clusters: count, rows: n, iid: null, cr0: null, se: null, lo: null, hi: null }
  if (n === 0) return { mean: null, ...none, refused: 'no_data' }
  const mean = all.reduce((sum, y) => sum + y, 0) / n
  if (count < 2) return { mean, ...none, refused: 'one_scenario' }
  let between = 0
  for (const rows of filled) between += rows.reduce((sum, y) => sum + (y - mean), 0) ** 2
  const cr0 = Math.sqrt(between) / n
  const se = cr0 * Math.sqrt(count / (count - 1))
  const iid = Math.sqrt(all.reduce((sum, y) => sum + (y - mean) ** 2, 0) / (n - 1) / n)
  const reach = tQuantile((1 + level) / 2, count - 1) * se
  return { mean, clusters: count, rows: n, iid, cr0, se, lo: mean - reach, hi: mean + reach }
}
