import type { Forecast } from '../capacity/forecast.ts'
import type { PlannedPower } from './planned-power.ts'

/** What becomes of the cells of a campaign in this run. */
export interface CellOutlook {
  /** Of the whole campaign. */
  readonly planned: number
  /** That this run executes: a filter or a shard leaves others out. */
  readonly here: number
  /** An earlier run settled them. */
  readonly carried: number
  /** An earlier run has their output: judges alone are called. */
  readonly rescored: number
  /** Cut off in an earlier run, with side effects: they wait for somebody's word. */
  readonly held: number
  /** A recording serves them. */
  readonly replayed: number
  /** They run, and what they call is called. */
  readonly live: number
}

/** Where the numbers of a forecast come from. */
export interface ForecastSource {
  readonly kind: 'run' | 'recordings'
  /** Cells that were looked at. */
  readonly cells: number
  /** The run; null for recordings. */
  readonly runId: string | null
  /** The campaign is another one since: its prompts, code or scenarios. */
  readonly changed: boolean
}

export interface CampaignForecast {
  readonly campaignId: string
  readonly file: string
  readonly variants: number
  readonly scenarios: number
  readonly seeds: number
  readonly cells: CellOutlook
  /** Nobody sees what its cells call. */
  readonly uncaptured: boolean
  readonly budgetUsd: number | null
  readonly sources: readonly ForecastSource[]
  /** Null where this run gives no verdict, because it executes a part of the cells only. */
  readonly power: PlannedPower | null
}

/** What a run of one eval project will do and take, before anything of it is bought. */
export interface RunForecast {
  readonly project: string
  /** How provider calls are answered, and why. */
  readonly policy: { readonly traffic: string; readonly reason: string }
  readonly shard: { readonly index: number; readonly count: number } | null
  readonly campaigns: readonly CampaignForecast[]
  /** Of the cells that call something; null: none does. */
  readonly forecast: Forecast | null
  /** Of the run; null: no limit. */
  readonly budgetUsd: number | null
  /** Why some of it would not run. */
  readonly problems: readonly string[]
}
