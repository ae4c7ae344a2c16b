import type { PlannedGuardrail } from '../campaign/plan.ts'
import type { Clock } from './latency.ts'
import type { Estimate, Outcome, PValue, Reason, RefusalCode, Variance } from './report.ts'

export interface GuardrailReport extends PlannedGuardrail {
  readonly comparator: number | null
  readonly candidate: number | null
  /** Of candidate / comparator where the limit is a ratio, else of candidate − comparator. */
  readonly estimate: Estimate
  /** `violated`: shown beyond the limit; `ok`: shown within; `unproven`: neither. */
  readonly outcome: 'ok' | 'violated' | 'unproven'
  /** Clock of a latency; null for every other endpoint. */
  readonly clock: Clock | null
}

export interface ScenarioChange {
  readonly scenario: string
  /** Mean over seeds. */
  readonly comparator: number | null
  readonly candidate: number | null
  readonly delta: number | null
  readonly comparatorSeeds: string
  readonly candidateSeeds: string
  /** Seeds that disagree on pass or fail. */
  readonly flaky: { readonly comparator: boolean; readonly candidate: boolean }
}

export interface CandidateReport {
  readonly id: string
  /** Arm it is compared with; null where there is none. */
  readonly comparator: string | null
  readonly outcome: Outcome
  /** Row of the verdict table that fired, for instance `3` or `2b`. */
  readonly rule: string
  readonly reasons: readonly Reason[]
  /** Paired difference to the comparator with missing cells at their worst: what the verdict reads. */
  readonly difference: Estimate | null
  /** The same over scenarios where both arms are complete. */
  readonly completeCase: Estimate | null
  readonly bounds: {
    readonly lo: number | null
    readonly hi: number | null
    readonly tippingCells: number | null
  } | null
  readonly signFlip: PValue | null
  /** p after correction over the candidates, and how the level of their intervals is shared among them. */
  readonly adjusted: {
    readonly method: 'holm' | 'maxT' | 'none'
    readonly p: number | null
    readonly intervals: 'maxT' | 'bonferroni' | 'none'
  }
  readonly tests: {
    /** Pass or fail with one seed, no cell missing: pairs that got better and worse. A gain needs p and interval. */
    readonly mcnemar: {
      readonly better: number
      readonly worse: number
      /** Exact, two-sided. */
      readonly p: number
      readonly midP: number
      readonly interval: Estimate
    } | null
    /** A judge's graded scores, no cell missing: exact signed ranks. Of the pseudo-median, so beside every verdict. */
    readonly wilcoxon: {
      readonly p: number | null
      readonly pFloor: number
      readonly moving: number
      readonly zeros: number
      readonly pseudoMedian: Estimate
    } | null
  }
  /** Smallest drop that would have been caught 4 times in 5, score units. */
  readonly detectableDrop: { readonly drop: number | null; readonly refused?: RefusalCode }
  /** Units that lost more than half of the scale, and the loss rate still compatible with having seen so many. */
  readonly unseenLoss: { readonly lost: number; readonly units: number; readonly upperRate: number } | null
  readonly atLeast: { readonly threshold: number; readonly outcome: Outcome; readonly mean: Estimate } | null
  readonly mustPass: {
    readonly scenarios: number
    readonly broken: readonly { readonly scenario: string; readonly failedSeeds: readonly number[] }[]
  }
  readonly guardrails: readonly GuardrailReport[]
  /** Lower bound of the difference that holds for any distribution on the scale; null unless `assurance: bounded`. */
  readonly boundedLower: Estimate | null
  /** Of the differences, scenario by scenario and seed by seed. */
  readonly variance: Variance
  readonly power: {
    /** Effect that the plan asks to see; null where it names none. */
    readonly target: number | null
    /** What is counted: scenarios, or the families they come in. */
    readonly unit: 'scenario' | 'family'
    /** Units that would show it 4 times in 5 at this number of seeds, and at any number of seeds. */
    readonly requiredScenarios: number | null
    readonly requiredAtAnySeeds: number | null
    /** Money for the scenarios that are missing, both arms, at what a cell cost here. */
    readonly requiredUsd: number | null
    /** Largest share by which any number of seeds could narrow the interval. */
    readonly seedsNarrowBy: number | null
    /** One line: buy scenarios or seeds. */
    readonly advice: string | null
    readonly refused?: RefusalCode
  }
  /** candidate / comparator. */
  readonly costRatio: { readonly perCell: Estimate; readonly perSuccess: Estimate }
  readonly latencyRatio: { readonly clock: Clock; readonly median: Estimate; readonly p95: Estimate }
  /** Disagreement of seeds, candidate less comparator. */
  readonly flakinessChange: Estimate
  readonly worst: readonly ScenarioChange[]
  readonly changed: { readonly worse: number; readonly better: number; readonly same: number; readonly missing: number }
}
