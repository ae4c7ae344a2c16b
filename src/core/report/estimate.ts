import { meanInterval } from '../stats/mean-interval.ts'
import { FEWEST_UNITS } from './decision.ts'
import type { Estimate } from './report.ts'
import type { Units } from './units.ts'

/** A mean over units as the report prints it; below six units its interval only describes. */
export function meanEstimate(values: Float64Array, level: number, units: Units): Estimate {
  const interval = meanInterval(values, level)
  return {
    est: values.length === 0 ? null : interval.mean,
    lo: interval.lo,
    hi: interval.hi,
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
