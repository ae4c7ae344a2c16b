import { meanInterval } from '../stats/mean-interval.ts'
import { FEWEST_UNITS } from './decision.ts'
import type { Estimate } from './report.ts'
import type { Units } from './units.ts'

/** Where a mean can lie at all; null: anywhere. */
export type Range = readonly [lowest: number, highest: number] | null
export const SHARE: Range = [0, 1]
/** Where a difference of two means of this scale can lie. */
export const differences = (scale: Range): Range => (scale === null ? null : [scale[0] - scale[1], scale[1] - scale[0]])

/**
 * A bound as it is reported: cut at the end of the scale. A t interval knows no scale and reaches past it; nothing lies
 * there, so what is cut off takes nothing from its coverage. What decides reads the uncut bounds.
 */
export function within(bound: number | null, range: Range): number | null {
  return bound === null || range === null ? bound : Math.min(range[1], Math.max(range[0], bound))
}

/** A mean over units as the report prints it; below six units its interval only describes. */
export function meanEstimate(values: Float64Array, level: number, units: Units, range: Range): Estimate {
  const interval = meanInterval(values, level)
  return {
    est: interval.mean,
    lo: within(interval.lo, range),
    hi: within(interval.hi, range),
    level,
    se: interval.se,
    df: interval.df,
    n: values.length,
    unit: units.kind,
    method: 't',
    descriptive: values.length < FEWEST_UNITS,
    ...(interval.refused === undefined ? {} : { refused: interval.refused }),
  }
}

export function noEstimate(level: number, units: Units, refused: Estimate['refused']): Estimate {
  return {
    est: null,
    lo: null,
    hi: null,
    level,
    se: null,
    df: null,
    n: 0,
    unit: units.kind,
    method: 't',
    descriptive: true,
    ...(refused === undefined ? {} : { refused }),
  }
}
