import type { AcceptedRecords } from '../accepted/format.ts'
import type { Json } from '../campaign/canonical-json.ts'
import type { CampaignPlan, PlannedGate, PlannedGuardrail } from '../campaign/plan.ts'
import type { Registration } from '../prereg/registration.ts'
import type { RunRecord } from '../record/record.ts'
import type { CellStatus } from '../record/status.ts'
import type { BudgetBasis, BudgetReport } from './budget.ts'
import type { CandidateReport } from './candidate-report.ts'
import type { CapacityBasis, CapacityReport } from './capacity.ts'
import type { HumanLabel } from './judges/label.ts'
import type { JudgeReport } from './judges/report.ts'
import type { VariantSummary } from './variant-report.ts'

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
  'beyond_limit',
  'no_pairs',
  'no_variation',
  'too_few_labels',
  'weak_judge',
  'cut_off',
  'merged',
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
  /** Units (scenarios, families, for a 95th percentile single runs) that entered. */
  readonly n: number
  readonly unit: 'scenario' | 'family' | 'run'
  readonly method:
    | 't'
    | 'order-statistic'
    | 'log-ratio-t'
    | 'bounds'
    | 'betting'
    | 'mover'
    | 'tango'
    | 'hodges-lehmann'
    | 'rogan-gladen'
    | 'ppi'
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

/** Where the variance of a mean comes from, and so what narrows it: more scenarios, or more seeds. */
export interface Variance {
  /** Between scenarios. */
  readonly tau2: number | null
  /** Between the seeds of one scenario; null with one seed, which cannot show it. */
  readonly sigma2: number | null
  readonly icc: number | null
  readonly deff: number | null
  /** Independent cells that would tell as much: S·K / deff. */
  readonly nEff: number | null
  readonly refused?: RefusalCode
}

export type StatusCounts = { readonly [status in CellStatus]: number }

/** One candidate in one kind of scenarios. Exploratory: it feeds no verdict. */
export interface SliceReport {
  /** `family`, or `tag <name>`. */
  readonly by: string
  readonly value: string
  readonly candidate: string
  readonly scenarios: number
  /** Over complete pairs; where q picks the row, wide enough for having been picked. */
  readonly difference: Estimate
  /** Paired t, two-sided; null below six scenarios, or where all moved alike. */
  readonly p: number | null
  /** Share of false discoveries when this row and all smaller q are believed. */
  readonly q: number | null
}

/** Cells that failed in one way. */
export interface FailureCluster {
  readonly count: number
  /** The most frequent message. */
  readonly example: string | null
  /** At most five, the most frequent first. */
  readonly messages: readonly { readonly text: string; readonly count: number }[]
  /** Messages that differ, of which `messages` lists the first. */
  readonly distinct: number
  readonly cells: readonly string[]
}

/** Why accepted rows and the run do not pair. */
export const MISMATCHES = ['no_row', 'scenario_changed', 'scorer_changed', 'judge_changed'] as const
export type MismatchCode = (typeof MISMATCHES)[number]

export interface Mismatch {
  readonly code: MismatchCode
  /** Cells of the run that have no partner for this reason. */
  readonly count: number
  /** One of their scenarios. */
  readonly example: string
}

/** What the candidates were compared with. */
export interface AcceptedReport {
  /** Of the file's text. */
  readonly digest: string
  /** The run they come from, and the commit it ran on. */
  readonly runId: string
  readonly commit: string | null
  /** Earliest and latest moment at which they were measured. */
  readonly measuredFrom: string | null
  readonly measuredTo: string | null
  readonly arms: readonly {
    /** Name of the arm in this report, and of the variant among the accepted rows. */
    readonly id: string
    readonly variant: string
    readonly candidates: readonly string[]
    /** Cells that pair. */
    readonly paired: number
    readonly mismatches: readonly Mismatch[]
    /** Models asked for by the same name, then and now, and answered by different ones. */
    readonly models: readonly {
      readonly requested: string
      readonly accepted: readonly string[]
      readonly now: readonly string[]
    }[]
  }[]
  /** Candidates without accepted rows: nothing is compared with them. */
  readonly without: readonly string[]
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
    readonly gate: 'pr' | 'release' | 'none'
    readonly outcome: Outcome | null
    readonly rule: string | null
    readonly red: boolean
    /**
     * Exit code of `vitest-campaign gate`; the run itself exits 0 or 1. 0: green; 1: regress; 2: invalid; 3: too little
     * evidence, where that is red.
     */
    readonly exitCode: 0 | 1 | 2 | 3
    /** One sentence that a product manager can act on. */
    readonly headline: string
    readonly reasons: readonly Reason[]
  }
  /** Decided on holdout scenarios, within the planned looks, and as a verified preregistration says. */
  readonly confirmatory: boolean
  readonly prereg: Preregistration | null
  readonly looks: {
    readonly used: number
    readonly allowed: number
    readonly exhausted: boolean
    /** One-sided error rate spent by this look and those before; null where no ledger counts looks. */
    readonly spent: number | null
  }
  readonly design: {
    /** Name of the arm, or `accepted records` where each candidate has its own. */
    readonly comparator: string | null
    /** The accepted records that the candidates are compared with; null without such. */
    readonly accepted: AcceptedReport | null
    readonly candidates: readonly string[]
    readonly primary: string
    readonly scale: readonly [number, number] | null
    readonly scenarios: number
    /** Scenarios that the verdict reads: those of the holdout where there are any. */
    readonly deciding: number
    readonly families: number | null
    readonly seeds: number
    readonly splits: { readonly [split: string]: number }
    readonly splitDeclared: boolean
    readonly margin: number | null
    readonly minGain: number
    readonly target: number | null
    readonly alpha: number
    /** One-sided level of this look: alpha / looks. */
    readonly alphaOfLook: number
    readonly guardrails: readonly PlannedGuardrail[]
    readonly assurance: PlannedGate['assurance'] | null
    readonly onInconclusive: PlannedGate['onInconclusive'] | null
    readonly coverageFloor: number
  }
  readonly fingerprint: { readonly campaign: string; readonly records: string; readonly report: string }
  readonly coverage: {
    readonly planned: number
    readonly counts: StatusCounts
    readonly reasons: { readonly [reason: string]: number }
  }
  /** Absent where no budget was set. */
  readonly budget?: BudgetReport
  /** Absent where no lane was asked for anything. */
  readonly capacity?: CapacityReport
  readonly variants: readonly VariantSummary[]
  readonly candidates: readonly CandidateReport[]
  readonly judges: readonly JudgeReport[]
  readonly slices: readonly SliceReport[]
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
    /** Ran without a call to a model provider that was captured: neither live nor replayed. */
    readonly silent: number
    readonly recordedFrom: string | null
    readonly recordedTo: string | null
  }
  /** By class and mode; a failed scorer stands under `scorer_error` with its name as the mode. */
  readonly failures: readonly (FailureCluster & {
    readonly class: string
    readonly mode: string | null
    /** The same by variant, as cluster of class and mode. */
    readonly variants: readonly (FailureCluster & { readonly variant: string })[]
  })[]
  readonly warnings: readonly Reason[]
  /** What to do next, most urgent first, one line each. */
  readonly actions: readonly Reason[]
}

export interface Preregistration {
  /** Digest of the registered terms. */
  readonly hash: string
  readonly claim: string
  /** The file that holds it, relative to the project root. */
  readonly source: string
  /** Commit that last touched the file; null where it is not committed as it is, or nobody knows. */
  readonly commit: string | null
  /** When that was, against the first measurement. */
  readonly order: 'before' | 'after' | 'uncommitted' | 'unknown'
  /** It was committed before the first measurement, and what ran is what it says. */
  readonly verified: boolean
  readonly deviations: readonly { readonly field: string; readonly planned: Json; readonly actual: Json }[]
}

export interface ReportInput {
  /** The rows that a gate with `accepted()` compares with; absent or null: there are none. */
  readonly accepted?: AcceptedRecords | null
  readonly plan: CampaignPlan
  readonly fingerprint: string
  /** Every record of the campaign; cells without one count as `not_run`. */
  readonly records: Iterable<RunRecord>
  /** Campaign-level findings: calls without a cell, import errors, lost workers. */
  readonly problems: readonly Reason[]
  /** What people say about outputs of this campaign; those of other campaigns are ignored. Default: nobody does. */
  readonly labels?: readonly HumanLabel[]
  /** What is known of money beside the records; absent or null: nothing, and the report says nothing of budgets. */
  readonly budget?: BudgetBasis | null
  /** What is known of lanes beside the records; absent or null: nothing, and the report says nothing of them. */
  readonly capacity?: CapacityBasis | null
  /** What the preregistration says; absent or null: there is none. */
  readonly prereg?: Registration | null
  /**
   * Confirmatory looks at these scenarios: `used` counts this one; `allowed` defaults to the gate's `looks`. Each is
   * decided at alpha / allowed; beyond the last nothing is confirmatory. `spent` is the error rate spent so far.
   * Default: the first look.
   */
  readonly looks?: {
    readonly used: number
    readonly allowed?: number
    readonly spent?: number
    /** When these answers were first looked at, if that was before this run. */
    readonly since?: string | null
  } | null
}
