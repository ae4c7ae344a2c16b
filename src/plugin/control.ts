import type { Json } from '../core/campaign/canonical-json.ts'
import type { CampaignPlan, Selection } from '../core/campaign/plan.ts'
import type { Shard } from '../core/campaign/shard.ts'
import type { PermitOutcome, PermitRequest } from '../core/capacity/events.ts'
import type { RerunPolicy } from '../core/capacity/rerun.ts'
import type { EntryOf, SubjectFacts } from '../core/journal/entry.ts'
import type { PriceOverrides } from '../core/record/cost.ts'
import type { RunRecord } from '../core/record/record.ts'
import type { CellStatus, StatusReason } from '../core/record/status.ts'
import type { RecordCommand } from './record-command.ts'
import type { Telling } from './telling.ts'
import type { TrafficSettings } from './traffic-options.ts'

/** What a worker's file holds, sent after collection: modes (only, skip, -t) are final then. */
export interface FilePlan {
  readonly file: string
  readonly campaigns: readonly {
    readonly plan: CampaignPlan
    readonly selection: Selection
    readonly skipped: boolean
  }[]
}

/** Facts of the run that stand in every record. */
export interface RunFacts {
  readonly runId: string
  readonly commit: { readonly sha: string | null; readonly dirty: boolean }
}

export interface PlanReply {
  readonly run: RunFacts
  /** One per campaign of the file, in its order: one id may stand twice in a file, and the second is refused. */
  readonly campaigns: readonly (
    | {
        readonly fingerprint: string
        readonly refused: null
        /** Cells whose records an earlier run settled: they take no lease and run nothing. */
        readonly carried: readonly CarriedCell[]
      }
    /** Why the campaign must not run (its id is taken): the message of its gate. */
    | { readonly fingerprint: null; readonly refused: string }
  )[]
}

/** What the test of a cell shows whose record is carried over. */
export interface CarriedCell {
  readonly cellId: string
  readonly telling: Telling
  /** Message of the bug that made it red; null where none did. */
  readonly red: string | null
}

/** An output that an earlier run journalled and nobody scored. The subject's exchanges lie in the run's raw capture. */
export interface Rescore {
  readonly subject: SubjectFacts
  /** The output, or the file in `outputs/` that holds it as JSON. */
  readonly output: { readonly value: Json } | { readonly file: string }
}

/** An output on its way into the journal. */
export type SettledSubject = Omit<EntryOf<'subject-settled'>, 'kind' | 'at'>

export type LeaseReply =
  | {
      readonly granted: true
      readonly leaseId: number
      readonly attempt: number
      readonly queueMs: number
      /** Set where the cell is to be scored and not run. */
      readonly rescore?: Rescore
      /** Another lane than the declared one: an `equivalent` of it. */
      readonly failover?: string
    }
  | {
      readonly granted: false
      readonly reason: StatusReason
      readonly queueMs: number
      /** What happened and what to do, where the reason alone does not say it. */
      readonly detail?: string
    }

/** What one request asks for before it leaves; the lane is the one read off the wire. */
export type PermitAsk = Omit<PermitRequest, 'cellId'>

export type PermitReply =
  /**
   * `waitedMs`: how long the lane made it wait, without the way there and back. `leaveBy`: epoch milliseconds after which a
   * request is to be asked for again, because its lane counts when it leaves.
   */
  | { readonly granted: true; readonly waitedMs: number; readonly leaveBy?: number }
  | { readonly granted: false; readonly reason: StatusReason; readonly detail?: string }

/** What became of a scorer's ask to judge. */
export type JudgeReply = PermitReply

export type VerdictReply =
  /** Why this run gives no verdict (`-t`, `.only`, a drain): the gate is skipped with it. */
  | { readonly skipped: string }
  | {
      readonly skipped: null
      readonly red: boolean
      /** Line 1 of the report: PASS, FAIL or NO VERDICT, then words. */
      readonly headline: string
    }

/** What the main process answers every cell. */
export interface CellFunctions {
  lease(cellId: string): Promise<LeaseReply>
  /** Resolves when the record is durable; releases the cell's lease. */
  settled(settlement: Settlement): Promise<void>
}

/** What the main process answers over the control port beside that. Every call is bounded by the caller. */
export interface MainFunctions {
  plan(plan: FilePlan): Promise<PlanReply>
  /** Resolves when the line is durable: no byte may reach a network before. */
  admitted(cellId: string, attempt: number, lane: string | null): Promise<void>
  /** `ticket` is chosen by the worker and new in it. Waits for as long as the lane makes it wait. */
  permit(ticket: number, cellId: string, ask: PermitAsk): Promise<PermitReply>
  /** Gives a permit back, or takes back an ask that still waits. */
  permitDone(ticket: number, outcome: PermitOutcome): void
  /** Resolves when the output is durable: the subject is never run again, and its lane is given back. */
  subjectSettled(settled: SettledSubject): Promise<void>
  /** A scorer asks for its judge lease, as with `permit`; `lane` is the one it declares. */
  judge(ticket: number, cellId: string, lane: string | null): Promise<JudgeReply>
  /** Gives a judge lease back, or takes back an ask that still waits. */
  judgeDone(ticket: number): void
  /** A problem of the run or a campaign that belongs to no cell (calls without a cell). */
  problem(campaignId: string | null, code: string, text: string): void
  verdict(campaignId: string): Promise<VerdictReply>
}

/**
 * A cell's RunRecord as JSON text, and what the main process counts while the run lasts. As an object it would be copied
 * part by part on its way to the journal, which writes it as text.
 */
export interface Settlement {
  readonly cellId: string
  readonly record: string
  readonly status: CellStatus
  /** Null for a cell that made no provider call. */
  readonly provenance: RunRecord['provenance'] | null
  /** What this run paid for it; null: unknown. */
  readonly usd: number | null
  /** What became of its recording: `missing` where the cell was to be replayed and has none, `left` where it went live, was to be recorded and did not settle cleanly. */
  readonly recording: 'missing' | 'left' | null
  /** Whether its test fails. */
  readonly red: boolean
}

export function settlementOf(record: RunRecord): Settlement {
  const { cellId, status, calls, provenance, cost } = record
  return {
    cellId,
    record: JSON.stringify(record),
    status,
    provenance: calls.subject + calls.judge === 0 ? null : provenance,
    usd: cost.usd,
    recording: null,
    red: false,
  }
}

/** What the main process may ask of a worker. */
export interface WorkerFunctions {
  /** Abort the signal of these cells (`all`: every cell in flight), for the reason given. */
  abort(cellIds: readonly string[] | 'all', reason: string): void
  /** Answers when the thread gets to it. */
  ping(): void
}

/** How provider calls are answered in this run (DESIGN 5.4). */
export const TRAFFIC_POLICIES = ['replay', 'new', 'record', 'live'] as const
/**
 * `replay`: recordings only, never a network; `new`: a cell with a recording replays, one without goes live and is
 * recorded; `record`: every cell goes live and is recorded; `live`: every cell goes live, recordings are neither read
 * nor written.
 */
export type TrafficPolicy = (typeof TRAFFIC_POLICIES)[number]

/** What a worker thread is started with. Plain data. */
export interface WorkerSettings {
  /** Absolute root of the project. */
  readonly root: string
  /** Absolute run folder. */
  readonly runDir: string
  readonly policy: TrafficPolicy
  /** Why the policy is what it is, for messages: `CI`, `EVALS_MODE=live`, `-u`, `the command names no eval project`. */
  readonly policyReason: string
  /** Run folder whose raw capture is replayed instead of recordings; null: recordings. */
  readonly replayRun: string | null
  /** Default cell deadline, milliseconds. */
  readonly timeoutMs: number
  /** The longest silence of a provider, milliseconds; null: the cell's deadline. */
  readonly stallTimeoutMs: number | null
  /** Origins that may be reached in replay mode and are not recorded (local services of the subject). */
  readonly passthrough: readonly string[]
  /** How often a cell is run again, by what ended it. */
  readonly retry: RerunPolicy
  /** What the user says of prices. */
  readonly prices: PriceOverrides
  /** How recordings are played, requests matched and secrets found. */
  readonly traffic: TrafficSettings
  /** Name of the Vitest project, for messages. */
  readonly projectName: string
  /** How a cell is recorded again, for messages. */
  readonly record: RecordCommand
  /** The part of the cells that is registered; null: all. */
  readonly shard: Shard | null
  /** The run is planned and not made: no test and no hook of the file runs. */
  readonly planOnly: boolean
  /** Provider keys that were unset and got the placeholder. */
  readonly placeholderKeys: readonly string[]
}
