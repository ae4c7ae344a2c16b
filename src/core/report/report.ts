import type { AcceptedRecords } from '../accepted/format.ts'
import type { Json } from '../campaign/canonical-json.ts'
import type { CampaignPlan, PlannedGate, PlannedGuardrail } from '../campaign/plan.ts'
import type { Registration } from '../prereg/registration.ts'
import type { RunRecord } from '../record/record.ts'
import type { CellStatus } from '../record/status.ts'
import type { CostProvenance } from '../record/usage.ts'
import type { FrontierClass } from '../stats/bootstrap/frontier.ts'
import type { HumanLabel } from './judges/label.ts'
import type { JudgeReport } from './judges/report.ts'
import type { Clock } from './latency.ts'

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

/** Milliseconds. */
export interface Latency {
  /** Median over scenarios of the median over seeds. */
  readonly medianMs: Estimate
  /** Over all runs; its interval allows for the dependence of the seeds of a scenario. */
  readonly p95Ms: Estimate
}

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
  /** What the provider needed: the sum of its calls' durations in a cell, the same live and replayed. */
  readonly latency: Latency & {
    /** Runs cut off at the limit: they took longer, nobody knows how long. */
    readonly censored: number
    readonly limitMs: number
    /** Where the provider's durations come from; `none`: no call was timed. */
    readonly source: 'live' | 'recorded' | 'mixed' | 'none'
    /** By the cells' own clock, tools and waiting inside `run` included. Refused unless every cell was live. */
    readonly wall: Latency
  }
  readonly tokens: { readonly input: number | null; readonly output: number | null; readonly known: boolean }
  /** Chance that at least one (pass@k), and that every one (pass^k), of k = seeds runs passes. Complete scenarios. */
  readonly reliability: {
    readonly k: number
    readonly passAtK: Estimate
    readonly passHatK: Estimate
    /** With every missing run failed, and passed. */
    readonly bounds: {
      readonly passAtK: readonly [number, number] | null
      readonly passHatK: readonly [number, number] | null
    }
  }
  readonly flakiness: Flakiness
  readonly variance: Variance
  /** Mean of the primary score by split, where there are several. */
  readonly splits: readonly { readonly split: string; readonly scenarios: number; readonly mean: Estimate }[]
  /** Mean on `search` less mean on `holdout`: what tuning has fitted to the scenarios it saw. Null without both. */
  readonly overfitGap: Estimate | null
  readonly frontier: {
    /** By simultaneous intervals of quality and cost; null where cost or quality is not known. */
    readonly class: FrontierClass | null
    readonly dominatedBy: readonly string[]
    /** Share of joint resamples in which nothing is better and cheaper; null below 30 units. */
    readonly probability: number | null
    readonly refused?: RefusalCode
  }
}

/** How often seeds of one scenario disagree on pass or fail. */
export interface Flakiness {
  /** Scenarios with at least one pass and one failure, of those with at least two judged runs. */
  readonly flaky: number
  readonly stablePass: number
  readonly stableFail: number
  /** Fewer than two judged runs: nothing is known about their stability. */
  readonly unknown: number
  readonly share: number | null
  /** Mean chance that two runs of one scenario disagree: 2·c·(n−c) / (n·(n−1)). */
  readonly disagreement: Estimate
  /** The most divided first. */
  readonly scenarios: readonly {
    readonly scenario: string
    readonly passed: number
    readonly runs: number
    /** 95 % Wilson interval of the scenario's own pass rate. */
    readonly lo: number
    readonly hi: number
  }[]
  readonly refused?: RefusalCode
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
