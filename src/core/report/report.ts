import type { CampaignPlan } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import type { CellStatus } from '../record/status.ts'
import type { CostProvenance } from '../record/usage.ts'

export const REPORT_SCHEMA = 'vitest-campaign/report@1'

export const OUTCOMES = ['ship', 'hold', 'regress', 'inconclusive', 'underpowered', 'invalid'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Why a number is null. Every null of a report stands beside one of these. */
export const REFUSALS = [
  'no_data',
  'one_scenario',
  'too_few_scenarios',
  'zero_spread',
  'zero_variance_unidentified',
  'missing_cells',
  'no_successes',
  'uncaptured',
  'replayed',
  'not_applicable',
  'k_exceeds_n',
] as const
export type RefusalCode = (typeof REFUSALS)[number]

/** A number with its interval; null beside a refusal, never NaN or an invented 0. */
export interface Estimate {
  readonly est: number | null
  readonly lo: number | null
  readonly hi: number | null
  /** Confidence level of [lo, hi], for instance 0.95. */
  readonly level: number
  readonly se: number | null
  readonly df: number | null
  /** Units (scenarios or families) that entered. */
  readonly n: number
  readonly unit: 'scenario' | 'family'
  readonly method: 't' | 'order-statistic' | 'log-ratio-t' | 'bounds'
  /** True when A0 allows the interval as a description only: no verdict may rest on it. */
  readonly descriptive: boolean
  readonly refused?: RefusalCode
}

export interface PValue {
  readonly p: number | null
  /** Smallest p this design can give. */
  readonly pFloor: number
  readonly exact: boolean
  readonly resamples: number | null
  readonly refused?: RefusalCode
}

export interface Reason {
  readonly code: string
  readonly text: string
}

export type StatusCounts = { readonly [status in CellStatus]: number }

export interface VariantSummary {
  readonly id: string
  readonly role: 'comparator' | 'candidate' | 'variant'
  readonly counts: StatusCounts
  readonly planned: number
  /** scored + task_fail over planned. */
  readonly coverage: number
  /** Mean of the primary score over scenarios (task_fail at the bottom of the scale), complete cases. */
  readonly mean: Estimate
  /** The same with every missing cell at the worst and best value. */
  readonly bounds: { readonly lo: number | null; readonly hi: number | null }
  readonly passRate: Estimate
  readonly cost: {
    /** Null when some cell's charge is not known. */
    readonly totalUsd: number | null
    /** What is known: a lower bound where the total is null. */
    readonly knownUsd: number
    readonly uncapturedCells: number
    readonly perCellUsd: number | null
    readonly perSuccessUsd: number | null
    readonly provenance: CostProvenance
    readonly refused?: RefusalCode
  }
  /** Median over scenarios of the median over seeds; the one part of a report that a live clock enters. */
  readonly latency: { readonly medianMs: Estimate; readonly source: 'live' | 'recorded' | 'mixed' | 'none' }
  readonly tokens: { readonly input: number | null; readonly output: number | null; readonly known: boolean }
}

export interface ScenarioChange {
  readonly scenario: string
  /** Mean over seeds. */
  readonly comparator: number | null
  readonly candidate: number | null
  readonly delta: number | null
  readonly comparatorSeeds: string
  readonly candidateSeeds: string
}

export interface CandidateReport {
  readonly id: string
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
  /** p after correction over the candidates. */
  readonly adjusted: { readonly method: 'holm' | 'maxT' | 'none'; readonly p: number | null }
  /** Smallest drop that would have been caught 4 times in 5, score units. */
  readonly detectableDrop: { readonly drop: number | null; readonly refused?: RefusalCode }
  /** Units that lost more than half of the scale, and the loss rate still compatible with having seen so many. */
  readonly unseenLoss: { readonly lost: number; readonly units: number; readonly upperRate: number } | null
  readonly atLeast: { readonly threshold: number; readonly outcome: Outcome; readonly mean: Estimate } | null
  readonly mustPass: {
    readonly scenarios: number
    readonly broken: readonly { readonly scenario: string; readonly failedSeeds: readonly number[] }[]
  }
  readonly worst: readonly ScenarioChange[]
  readonly changed: { readonly worse: number; readonly better: number; readonly same: number; readonly missing: number }
}

/** One report per campaign: the one source of terminal, Markdown and every other rendering. No clock in it. */
export interface CampaignReport {
  readonly schema: typeof REPORT_SCHEMA
  readonly campaignId: string
  readonly file: string
  readonly line: number | null
  readonly verdict: {
    /** PASS: the gate is green and says something; FAIL: red; NO VERDICT: green or not gated, nothing shown. */
    readonly word: 'PASS' | 'FAIL' | 'NO VERDICT'
    readonly gate: 'pr' | 'none'
    readonly outcome: Outcome | null
    readonly rule: string | null
    readonly red: boolean
    /** One sentence that a product manager can act on. */
    readonly headline: string
    readonly reasons: readonly Reason[]
  }
  readonly design: {
    readonly comparator: string | null
    readonly candidates: readonly string[]
    readonly primary: string
    readonly scale: readonly [number, number] | null
    readonly scenarios: number
    readonly families: number | null
    readonly seeds: number
    readonly splits: { readonly [split: string]: number }
    readonly splitDeclared: boolean
    readonly margin: number | null
    readonly minGain: number
    readonly target: number | null
    readonly alpha: number
    readonly coverageFloor: number
  }
  readonly fingerprint: { readonly campaign: string; readonly records: string; readonly report: string }
  readonly coverage: {
    readonly planned: number
    readonly counts: StatusCounts
    readonly reasons: { readonly [reason: string]: number }
  }
  readonly variants: readonly VariantSummary[]
  readonly candidates: readonly CandidateReport[]
  readonly integrity: {
    readonly backend: 'real' | 'mixed' | 'stub' | 'none'
    readonly issues: readonly {
      readonly code: string
      readonly severity: 'error' | 'warn'
      readonly count: number
      readonly example: string
    }[]
  }
  readonly evidence: {
    readonly live: number
    readonly replayed: number
    readonly mixed: number
    readonly carried: number
    readonly recordedFrom: string | null
    readonly recordedTo: string | null
  }
  readonly failures: readonly {
    readonly class: string
    readonly mode: string | null
    readonly count: number
    readonly example: string | null
    readonly cells: readonly string[]
  }[]
  readonly warnings: readonly Reason[]
}

export interface ReportInput {
  readonly plan: CampaignPlan
  readonly fingerprint: string
  /** Every record of the campaign; cells without one count as `not_run`. */
  readonly records: Iterable<RunRecord>
  /** Campaign-level findings: calls without a cell, import errors, lost workers. */
  readonly problems: readonly Reason[]
}
