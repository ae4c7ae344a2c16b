import type { CostProvenance } from '../record/usage.ts'
import type { FrontierClass } from '../stats/bootstrap/frontier.ts'
import type { Estimate, RefusalCode, StatusCounts, Variance } from './report.ts'

/** Milliseconds. */
export interface Latency {
  /** Median over scenarios of the median over seeds. */
  readonly medianMs: Estimate
  /** Over all runs; its interval allows for the dependence of the seeds of a scenario. */
  readonly p95Ms: Estimate
}

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
