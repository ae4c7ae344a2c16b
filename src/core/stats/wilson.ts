import { requireCounts } from './clopper-pearson.ts'
import { requireLevel } from './mean-interval.ts'
import { normalQuantile } from './normal.ts'

/**
 * Wilson's (1927) score interval for a rate x/n of independent rows. Reference cases: `wilson`.
 *
 * Not for seeds: S scenarios × K seeds are not S·K independent rows. Refuses n = 0 with null.
 *
 * @throws RangeError unless 0 ≤ x ≤ n are whole numbers
 */
export function wilson(x: number, n: number, level: number): readonly [lo: number, hi: number] | null {
  requireCounts(x, n)
  requireLevel(level)
  if (n === 0) return null
  const z = normalQuantile((1 + level) / 2)
  const rate = x / n
  const centre = (rate + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n))
  return [x === 0 ? 0 : Math.max(0, centre - reach), x === n ? 1 : Math.min(1, centre + reach)]
}
