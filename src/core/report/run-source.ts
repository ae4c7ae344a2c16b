import type { CampaignPlan } from '../campaign/plan.ts'
import type { LaneWait } from '../capacity/waiting.ts'
import type { RunRecord } from '../record/record.ts'
import type { CampaignMaterial } from './material.ts'
import type { CampaignReport } from './report.ts'
import type { RunForecast } from './run-forecast.ts'

/** The state of a run at this moment, for the live line. */
export interface LiveState {
  readonly done: number
  readonly planned: number
  readonly inFlight: readonly { readonly lane: string; readonly requests: number; readonly cells: number }[]
  readonly waiting: number
  /** Lanes that somebody waits for. */
  readonly waits: readonly LaneWait[]
  readonly replayed: number
  readonly live: number
  readonly failed: number
  /** Money paid in this run so far, where known. */
  readonly spentUsd: number
  /** Live cells whose charge nobody knows. */
  readonly unknownCharges: number
  readonly etaMs: number | null
}

/** Of the files in the folder of reports. */
export type ReportExtension = 'json' | 'md' | 'html'

export interface FinishInput {
  readonly reason: 'passed' | 'failed' | 'interrupted'
  readonly modules: readonly {
    readonly file: string
    readonly project: string
    readonly errors: readonly string[]
  }[]
}

/** Renderings of a whole run, by their names in its folder. */
export const RUN_OUTPUTS = ['junit.xml', 'comment.md'] as const
export type RunOutput = (typeof RUN_OUTPUTS)[number]

export const TASK_META_SHAPES = ['vitest-evals'] as const
export type TaskMetaShape = (typeof TASK_META_SHAPES)[number]

export interface FinishedRun {
  /** One per eval project that ran something. */
  readonly runs: readonly {
    readonly project: string
    readonly runDir: string
    /** Root of the project: the files that reports name are below it. */
    readonly root: string
    readonly policy: { readonly traffic: string; readonly reason: string }
    readonly reports: readonly CampaignReport[]
    /** Where a rendering of a report belongs. */
    reportPath(campaignId: string, extension: ReportExtension): string
    /** Where a rendering of the whole run belongs; null: its folder is not this run's any more. */
    outputPath(file: RunOutput): string | null
    /** Every record of a campaign that has a report, in the order of its plan; read one by one. */
    records(campaignId: string): Iterable<RunRecord>
    /** Why the run is red beside its reports; empty where it is not. */
    readonly problems: readonly string[]
    /** Whether its outputs go to GitHub; null: on GitHub Actions. */
    readonly github: boolean | null
    /** What a report was computed from; null where it is not at hand. */
    material(campaignId: string): CampaignMaterial | null
  }[]
  /** The run must not end green. */
  readonly red: boolean
  /** Lines to print beside the reports. */
  readonly notes: readonly string[]
  /** What runs would do and take that were only planned; absent: none was. */
  readonly forecasts?: readonly RunForecast[]
}

/** How the reporter reaches the run it reports; the plugin hands it over in the reporter's options. */
export interface RunSource {
  live(): LiveState | null
  /** Tells what a run will do and take, and waits until it is shown, before anything of it is bought. */
  onForecast(show: (forecast: RunForecast) => Promise<void>): void
  /** Shapes of other tools in which this project's cells are told to Vitest's reporters too. */
  taskMeta(project: string): TaskMetaShape | null
  /** The journalled record of a cell of this run or the one before; null for a cell that has none. */
  record(cellId: string): RunRecord | null
  /** The plan of a campaign of this run or the one before; null for a campaign that has none. */
  plan(campaignId: string): { readonly plan: CampaignPlan; readonly fingerprint: string } | null
  /** Gives every planned cell its status, computes the reports and closes the journal. */
  finish(input: FinishInput): Promise<FinishedRun>
  /** Everything is printed. */
  closed(): void
}
