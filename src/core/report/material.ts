import type { AcceptedRecords } from '../accepted/format.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import type { Exchange } from '../traffic/exchange.ts'

/** What a cell asked and was answered, as far as it is still on disk. */
export interface CellTraffic {
  /** One per file that holds some of it: each attempt's capture, the recording that was replayed. */
  readonly parts: readonly {
    /** For people. */
    readonly file: string
    /** Where each of `exchanges` stands in it, from 1. */
    readonly lines: readonly number[]
    /** Attempt at the cell; null for a recording. */
    readonly attempt: number | null
    readonly exchanges: readonly Exchange[]
  }[]
  /** What a reader must know of it: a torn file, a recording that was made again since. */
  readonly notes: readonly string[]
}

/** What a report was computed from, for renderings that go down to the cells. */
export interface CampaignMaterial {
  readonly runId: string
  readonly plan: CampaignPlan
  /** May be asked for more than once. */
  records(): Iterable<RunRecord>
  /** What the run was compared with; null where its gate compares with none. */
  readonly accepted: AcceptedRecords | null
  /** Reads the disk; never throws. */
  traffic(record: RunRecord): CellTraffic
}
