import type { Outcome } from './report.ts'

/** Units below which only a broken must-pass scenario or an unchanged candidate is a verdict: 2^(1−5) is above .05. */
export const FEWEST_UNITS = 6
/** From here on the t interval may carry a verdict; below, the exact sign-flip test does. */
export const T_UNITS = 10
/** From here on the t interval carries a gain alone. */
export const T_ALONE_UNITS = 30
/** Fewest units that must differ before "not worse by more than the margin" may be said. */
export const FEWEST_DIFFERING = 6

/** What is known about one candidate against the comparator, reduced to what the table reads. */
export interface Evidence {
  readonly invalid: boolean
  readonly mustPassBroken: boolean
  readonly units: number
  /** All differences are 0 and no cell is missing. */
  readonly noDifference: boolean
  /** Both arms gave byte-identical outputs: whatever the scores say, it is about the scorer. */
  readonly sameOutputs: boolean
  /** Bounds of the multiplicity-adjusted interval with missing cells at their worst; null where refused. */
  readonly lower: number | null
  readonly upper: number | null
  /**
   * The lower bound where differences may be skewed, never above `lower`; null where all are equal. Two equal arms have
   * symmetric differences; arms that differ by a margin or a smallest gain need not.
   */
  readonly skewedLower: number | null
  /** All differences equal: lower and upper are then the mean, which the sign-flip test must back. */
  readonly zeroSpread: boolean
  /** Sign-flip p, two-sided, adjusted over the candidates. */
  readonly p: number
  /** One-sided level. */
  readonly alpha: number
  /**
   * Lower bound of Tango's interval where every cell passes or fails and there is one seed; else null. It can exclude 0
   * where the exact test does not, so a gain then needs both, at every number of units.
   */
  readonly tangoLower: number | null
  readonly margin: number | null
  readonly minGain: number
  readonly target: number | null
  /** Some scenario that decides is not of the holdout split. */
  readonly exploratory: boolean
  /** Units whose difference is not 0 wherever their missing cells lie. */
  readonly differing: number
  readonly detectable: number | null
  /** An arm has fewer measured cells than the coverage floor. */
  readonly coverageShort: boolean
  /** The primary score is a judge's, and it agrees too little with those who were asked the same. */
  readonly judgeUnreliable: boolean
  /** A guardrail is shown beyond its limit. */
  readonly guardrailViolated: boolean
  /** A guardrail that must be shown to hold is not. */
  readonly guardrailOpen: boolean
  /**
   * Under `assurance: bounded`: whether the bound for any distribution clears the smallest gain, and the margin; null
   * under `standard`.
   */
  readonly bounded: { readonly gain: boolean; readonly withinMargin: boolean } | null
}

export interface Rule {
  /** Row of the table; several rules may share one. */
  readonly row: string
  readonly outcome: Outcome
  /** Stable name of the reason. */
  readonly code: string
  readonly red: boolean
  readonly when: (evidence: Evidence) => boolean
}

const flipShows = (e: Evidence): boolean => e.p <= 2 * e.alpha
const below = (bound: number | null, limit: number): boolean => bound !== null && bound < limit
const above = (bound: number | null, limit: number): boolean => bound !== null && bound > limit

function harm(e: Evidence): boolean {
  if ((e.units < T_UNITS || e.zeroSpread) && !flipShows(e)) return false
  if (e.margin === null) return below(e.upper, 0)
  return below(e.upper, -e.margin) || (below(e.upper, 0) && !above(e.lower, -e.margin))
}

/** Above the limit, skewed differences allowed for: what two equal arms cannot have, arms that differ may. */
const clears = (e: Evidence, limit: number): boolean => above(e.lower, limit) && above(e.skewedLower, limit)

function gain(e: Evidence): boolean {
  if (e.tangoLower !== null && !(e.tangoLower > e.minGain && flipShows(e))) return false
  const shown = e.minGain === 0 || e.zeroSpread ? above(e.lower, e.minGain) : clears(e, e.minGain)
  return shown && ((e.units >= T_ALONE_UNITS && !e.zeroSpread) || flipShows(e))
}

function withinMargin(e: Evidence): boolean {
  return e.margin !== null && clears(e, -e.margin) && !e.zeroSpread && e.units >= T_UNITS
}

/** The t interval says so and the bound for skewed differences does not. */
function skewDecides(e: Evidence): boolean {
  if (e.zeroSpread || e.units < T_UNITS) return false
  const limits = [...(e.minGain > 0 ? [e.minGain] : []), ...(e.margin === null ? [] : [-e.margin])]
  return limits.some((limit) => above(e.lower, limit) && !clears(e, limit))
}

function nonInferior(e: Evidence): boolean {
  return withinMargin(e) && e.differing >= FEWEST_DIFFERING
}

/** Everything but the primary score's own interval that a candidate needs before it ships. */
const ready = (e: Evidence): boolean => e.units >= FEWEST_UNITS && !e.guardrailOpen && !e.judgeUnreliable
const shipsSuperior = (e: Evidence): boolean => ready(e) && gain(e) && (e.bounded === null || e.bounded.gain)
const shipsNonInferior = (e: Evidence): boolean =>
  ready(e) && nonInferior(e) && (e.bounded === null || e.bounded.withinMargin)

/**
 * The verdict on one candidate: the first rule that holds. Row numbers are those of the specification and stay,
 * whichever rows are added. `red` is what a `pr` gate makes of it. Absence of evidence never ships and never regresses.
 */
export const RULES: readonly Rule[] = [
  { row: '1', outcome: 'invalid', code: 'invalid', red: true, when: (e) => e.invalid },
  { row: '2', outcome: 'regress', code: 'must_pass_broken', red: true, when: (e) => e.mustPassBroken },
  { row: '2a', outcome: 'hold', code: 'no_difference_seen', red: false, when: (e) => e.noDifference },
  { row: '2a', outcome: 'hold', code: 'same_outputs', red: false, when: (e) => e.sameOutputs },
  {
    row: '2b',
    outcome: 'underpowered',
    code: 'too_few_scenarios',
    red: false,
    when: (e) => !e.coverageShort && e.units < FEWEST_UNITS,
  },
  { row: '3', outcome: 'regress', code: 'harm_shown', red: true, when: (e) => e.units >= FEWEST_UNITS && harm(e) },
  {
    row: '4',
    outcome: 'regress',
    code: 'guardrail_violated',
    red: true,
    when: (e) => e.units >= FEWEST_UNITS && e.guardrailViolated,
  },
  {
    row: '6',
    outcome: 'hold',
    code: 'exploratory',
    red: false,
    when: (e) => e.exploratory && (shipsSuperior(e) || shipsNonInferior(e)),
  },
  { row: '7', outcome: 'ship', code: 'superior', red: false, when: shipsSuperior },
  { row: '8', outcome: 'ship', code: 'non_inferior', red: false, when: shipsNonInferior },
  {
    row: '8',
    outcome: 'hold',
    code: 'few_differences',
    red: false,
    when: (e) => withinMargin(e) && !nonInferior(e),
  },
  {
    row: '9',
    outcome: 'hold',
    code: 'no_worthwhile_gain',
    red: false,
    // A margin says that the intent is "not worse"; futility is a matter of wanting a gain.
    when: (e) =>
      e.margin === null && e.target !== null && below(e.upper, e.target) && !e.zeroSpread && e.units >= T_UNITS,
  },
  { row: '10', outcome: 'inconclusive', code: 'incomplete', red: true, when: (e) => e.coverageShort },
  {
    row: '10',
    outcome: 'inconclusive',
    code: 'judge_unreliable',
    red: false,
    when: (e) => e.judgeUnreliable && e.units >= FEWEST_UNITS && (gain(e) || nonInferior(e)),
  },
  {
    row: '10',
    outcome: 'inconclusive',
    code: 'guardrail_unproven',
    red: false,
    when: (e) => e.guardrailOpen && (gain(e) || nonInferior(e)),
  },
  {
    row: '10',
    outcome: 'inconclusive',
    code: 'bounded_unproven',
    red: false,
    // The interval says so, the bound that needs no assumption does not: reached only by what 7 and 8 did not ship.
    when: (e) => e.bounded !== null && e.units >= FEWEST_UNITS && (gain(e) || nonInferior(e)),
  },
  { row: '10', outcome: 'inconclusive', code: 'skew_unproven', red: false, when: skewDecides },
  {
    row: '10',
    outcome: 'underpowered',
    code: 'underpowered',
    red: false,
    when: (e) => {
      const wanted = e.target ?? e.margin
      return wanted !== null && e.detectable !== null && e.detectable > wanted
    },
  },
  { row: '11', outcome: 'inconclusive', code: 'inconclusive', red: false, when: () => true },
]

/** @throws Error never in practice: the last rule holds for everything */
export function decide(evidence: Evidence): Rule {
  const rule = RULES.find(({ when }) => when(evidence))
  if (rule === undefined) throw new Error('the verdict table has no rule for this evidence')
  return rule
}

/** What is known about one variant against an absolute threshold. */
export interface ThresholdEvidence {
  readonly invalid: boolean
  readonly mustPassBroken: boolean
  readonly lower: number | null
  readonly upper: number | null
  readonly threshold: number
  readonly coverageShort: boolean
  /** As of {@link Evidence}. */
  readonly judgeUnreliable: boolean
}

export interface ThresholdRule extends Omit<Rule, 'when'> {
  readonly when: (evidence: ThresholdEvidence) => boolean
}

const reaches = (e: ThresholdEvidence): boolean => e.lower !== null && e.lower >= e.threshold

/** `atLeast`: decided by the interval of one variant's mean, at every size where an interval exists. */
export const THRESHOLD_RULES: readonly ThresholdRule[] = [
  { row: '1', outcome: 'invalid', code: 'invalid', red: true, when: (e) => e.invalid },
  { row: '2', outcome: 'regress', code: 'must_pass_broken', red: true, when: (e) => e.mustPassBroken },
  { row: 'at-least', outcome: 'regress', code: 'below_threshold', red: true, when: (e) => below(e.upper, e.threshold) },
  {
    row: 'at-least',
    outcome: 'ship',
    code: 'above_threshold',
    red: false,
    when: (e) => reaches(e) && !e.judgeUnreliable,
  },
  { row: '10', outcome: 'inconclusive', code: 'judge_unreliable', red: false, when: reaches },
  { row: '10', outcome: 'inconclusive', code: 'incomplete', red: true, when: (e) => e.coverageShort },
  { row: '11', outcome: 'inconclusive', code: 'threshold_undecided', red: false, when: () => true },
]

export function decideThreshold(evidence: ThresholdEvidence): ThresholdRule {
  const rule = THRESHOLD_RULES.find(({ when }) => when(evidence))
  if (rule === undefined) throw new Error('the threshold table has no rule for this evidence')
  return rule
}
