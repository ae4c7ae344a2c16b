import { incompleteBeta } from './beta.ts'
import { requireFinite } from './finite.ts'
import { refuse, type Statistic } from './refusal.ts'

/**
 * Harrell & Davis's (1982) quantile estimate: all order statistics, weighted with the increments of the
 * Beta((n+1)p, (n+1)(1−p)) distribution function over [(i−1)/n, i/n]. Smoother than one order statistic at small n.
 * Reference case: `harrellDavis`.
 *
 * Not for censored values: a time-out that stands for "longer" would be averaged in.
 *
 * @throws RangeError for p outside (0, 1), or a value that is not finite
 */
export function harrellDavis(values: readonly number[], p: number): Statistic<'no_data'> {
  if (!(p > 0 && p < 1)) throw new RangeError(`harrellDavis needs p in (0, 1), not ${p}`)
  requireFinite(values, 'value')
  const n = values.length
  if (n === 0) return refuse('no_data')
  const sorted = Float64Array.from(values).sort()
  let sum = 0
  let before = 0
  for (let i = 1; i <= n; i++) {
    const upTo = incompleteBeta(i / n, (n + 1) * p, (n + 1) * (1 - p))
    sum += (upTo - before) * (sorted[i - 1] ?? Number.NaN)
    before = upTo
  }
  return { value: sum }
}
