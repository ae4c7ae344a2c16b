/**
 * Why a statistic is null. A refusal is a fact about the data or the design, a RangeError one about the caller; neither
 * is ever answered with NaN or 0.
 */
export const STATISTIC_REFUSALS = [
  'no_data',
  'one_scenario',
  'too_few_scenarios',
  /** All values equal: a zero standard error would read as certainty. */
  'zero_spread',
  /** One row per unit: what varies inside a unit cannot be told from what varies between units. */
  'zero_variance_unidentified',
  /** All ratings equal: agreement beyond chance has no scale. */
  'no_variation',
  /** A rating exists, but no unit was rated twice. */
  'no_pairs',
  'too_few_labels',
  /** Sensitivity + specificity − 1 is so small that dividing by it only multiplies noise. */
  'weak_judge',
  /** No run passed: a cost per success has no value. */
  'no_successes',
  'not_applicable',
  'k_exceeds_n',
  /** The statistic has no value on some resample, for instance a cost per success without a success. */
  'undefined_resample',
  /** The estimate lies outside everything its resamples reached: no bias correction exists. */
  'estimate_outside_resamples',
  /** Predictors that are linear combinations of each other. */
  'collinear',
] as const
export type StatisticRefusal = (typeof STATISTIC_REFUSALS)[number]

/** One number, or the reason why there is none. */
export type Statistic<Code extends StatisticRefusal> =
  | { readonly value: number; readonly refused?: undefined }
  | { readonly value: null; readonly refused: Code }

export function refuse<Code extends StatisticRefusal>(refused: Code): { readonly value: null; readonly refused: Code } {
  return { value: null, refused }
}

/** An interval, or the reason why there is none. */
export type Interval<Code extends StatisticRefusal> =
  | { readonly lo: number; readonly hi: number; readonly refused?: undefined }
  | { readonly lo: null; readonly hi: null; readonly refused: Code }

export function refuseInterval<Code extends StatisticRefusal>(
  refused: Code,
): { readonly lo: null; readonly hi: null; readonly refused: Code } {
  return { lo: null, hi: null, refused }
}
