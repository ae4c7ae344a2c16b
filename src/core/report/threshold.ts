import { meanInterval } from '../stats/mean-interval.ts'
import { skewedBounds } from '../stats/skewed-bounds.ts'
import type { Arm } from './arm.ts'
import type { Estimate } from './report.ts'
import { type Units, unitMeans } from './units.ts'

/**
 * Bounds of one variant's mean, missing cells at the bottom for the lower and at the top for the upper one. Scores near
 * an end of the scale are skewed, so the bounds are those of {@link skewedBounds}.
 *
 * Where all units have the same value c, t says nothing. Then whatever share q of the population has another value,
 * all n agreeing has probability (1 − q)^n, so with one-sided confidence 1 − tail at most q = 1 − tail^(1/n) differs,
 * and in the worst case lies at an end of the scale: [c − q (c − bottom), c + q (top − c)].
 *
 * @param tail one-sided level after correction
 */
export function meanBounds(arm: Arm, units: Units, [bottom, top]: readonly [number, number], tail: number): Estimate {
  const level = 1 - 2 * tail
  const lowest = unitMeans(units, arm.lowest)
  const highest = unitMeans(units, arm.highest)
  const n = lowest.length
  const bound = (values: Float64Array, side: 'lo' | 'hi'): number | null => {
    const interval = meanInterval(values, level)
    if (interval.refused !== 'zero_spread') return skewedBounds(values, level)?.[side] ?? null
    const unseen = 1 - tail ** (1 / n)
    return side === 'lo'
      ? interval.mean - unseen * (interval.mean - bottom)
      : interval.mean + unseen * (top - interval.mean)
  }
  const clamp = (value: number | null): number | null =>
    value === null ? null : Math.min(top, Math.max(bottom, value))
  const middle = (meanInterval(lowest, level).mean + meanInterval(highest, level).mean) / 2
  const [lo, hi] = [clamp(bound(lowest, 'lo')), clamp(bound(highest, 'hi'))]
  const base = {
    lo,
    hi,
    level,
    se: null,
    df: n > 1 ? n - 1 : null,
    n,
    unit: units.kind,
    method: 'bounds',
    descriptive: false,
  } as const
  return n < 2
    ? { ...base, est: n === 0 ? null : middle, refused: n === 0 ? 'no_data' : 'one_scenario' }
    : { ...base, est: middle }
}
