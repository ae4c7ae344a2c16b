import { requireFinite } from './finite.ts'
import { requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

export interface LogRatio {
  readonly ratio: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly refused?: 'no_data' | 'one_scenario' | 'not_applicable' | 'zero_spread'
}

/**
 * Ratio of two paired means, ȳ/x̄, with an interval on the log scale by the delta method: the linearized residuals
 * y_i/ȳ − x_i/x̄ have standard error se, and the interval is ratio · exp(± t(n−1) · se). Reference case:
 * `pairedLogRatio`.
 *
 * Refuses where a mean is not positive (no logarithm), below two pairs, and for proportional arms (no spread).
 *
 * @param base denominators, one per unit
 * @param changed numerators, paired with `base`
 * @throws RangeError for different lengths, or a value that is not finite
 */
export function pairedLogRatio(base: readonly number[], changed: readonly number[], level: number): LogRatio {
  requireLevel(level)
  if (base.length !== changed.length) throw new RangeError(`${base.length} and ${changed.length} values are no pairs`)
  requireFinite(base, 'base value')
  requireFinite(changed, 'changed value')
  const n = base.length
  if (n === 0) return { ratio: null, lo: null, hi: null, refused: 'no_data' }
  const baseMean = base.reduce((sum, x) => sum + x, 0) / n
  const changedMean = changed.reduce((sum, y) => sum + y, 0) / n
  if (!(baseMean > 0 && changedMean > 0)) return { ratio: null, lo: null, hi: null, refused: 'not_applicable' }
  const ratio = changedMean / baseMean
  if (n === 1) return { ratio, lo: null, hi: null, refused: 'one_scenario' }
  let squares = 0
  for (let i = 0; i < n; i++) squares += ((changed[i] ?? 0) / changedMean - (base[i] ?? 0) / baseMean) ** 2
  if (squares < 1e-24 * n) return { ratio, lo: null, hi: null, refused: 'zero_spread' }
  const reach = tQuantile((1 + level) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n)
  return { ratio, lo: ratio * Math.exp(-reach), hi: ratio * Math.exp(reach) }
}
