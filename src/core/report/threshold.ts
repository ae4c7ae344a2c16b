import { meanInterval } from '../stats/mean-interval.ts'
import { skewedBounds } from '../stats/skewed-bounds.ts'
import type { Arm } from './arm.ts'
import { noEstimate, within } from './estimate.ts'
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
 * @param coverageShort fewer cells are measured than the coverage floor asks for
 */
export function meanBounds(
  arm: Arm,
  units: Units,
  [bottom, top]: readonly [number, number],
  tail: number,
  coverageShort: boolean,
): Estimate {
  const level = 1 - 2 * tail
  const lowest = unitMeans(units, arm.lowest)
  const highest = unitMeans(units, arm.highest)
  const n = lowest.length
  const [low, high] = [meanInterval(lowest, level), meanInterval(highest, level)]
  // Bounds over nothing measured are the scale itself, and would look like a finding.
  if (arm.measured === 0 || low.mean === null || high.mean === null) {
    return { ...noEstimate(level, units, 'no_data'), method: 'bounds' }
  }
  const unseen = 1 - tail ** (1 / n)
  const lo =
    low.refused === 'zero_spread' ? low.mean - unseen * (low.mean - bottom) : (skewedBounds(lowest, level)?.lo ?? null)
  const hi =
    high.refused === 'zero_spread' ? high.mean + unseen * (top - high.mean) : (skewedBounds(highest, level)?.hi ?? null)
  const base = {
    // The middle between the extremes of many missing cells is nobody's mean.
    est: coverageShort ? null : (low.mean + high.mean) / 2,
    lo: within(lo, [bottom, top]),
    hi: within(hi, [bottom, top]),
    level,
    se: null,
    df: n > 1 ? n - 1 : null,
    n,
    unit: units.kind,
    method: 'bounds',
    descriptive: false,
  } as const
  if (n < 2) return { ...base, refused: 'one_scenario' }
  return coverageShort ? { ...base, refused: 'missing_cells' } : base
}
