import type { CellCoordinates } from '../../core/campaign/identity.ts'
import type { PermitOutcome } from '../../core/capacity/events.ts'
import type { LooseRequest } from '../../core/integrity/check.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { CallRole, Exchange } from '../../core/traffic/exchange.ts'
import type { PermitAsk, PermitReply } from '../control.ts'

/** How the recorder reaches the main process. */
export interface TrafficPort {
  /** Resolves when the cell's `admitted` line is durable. Called once per cell, before its first live byte. */
  admitted(cellId: string, attempt: number, lane: string | null): Promise<void>
  permit(cellId: string, ask: PermitAsk): AskedPermit
  /** A call made outside every cell: reported, never dropped. */
  unattributed(call: { readonly method: string; readonly url: string }): void
  /** A call of a cell that was over, refused: its record may be written already. */
  late(cell: CellCoordinates, call: { readonly method: string; readonly url: string }): void
}

/** A request's ask for its permit. */
export interface AskedPermit {
  readonly reply: Promise<PermitReply>
  /** Gives it back once it is granted, or withdraws it while it waits. Call it once, and not after a refusal. */
  done(outcome: PermitOutcome): void
}

/** A request that the run did not let go, or whose answer the recorder lost: whoever made it measured nothing. */
export interface LostCall {
  readonly role: CallRole
  /** The scorer that made it; null: none did, or nobody knows which. */
  readonly scorer: string | null
  readonly reason: StatusReason
  readonly message: string
}

export interface CellTrafficOptions {
  readonly cellId: string
  readonly coordinates: CellCoordinates
  readonly attempt: number
  /** Absolute path of the eval file: recordings lie beside it. */
  readonly evalFile: string
  readonly declaredLane: string | null
  /** Aborted at the cell's deadline: live calls in flight are aborted with it. */
  readonly signal: AbortSignal
  /** The whole deadline of the cell, milliseconds: no attempt at a model provider is longer. */
  readonly timeoutMs: number
  /** What is left of the cell's deadline, milliseconds: no wait for a retry is longer. */
  readonly leftMs: () => number
  /** Allowed origins, or null for any. */
  readonly routes: readonly string[] | null
  /** msw request handlers of the campaign. */
  readonly mocks: readonly unknown[]
  readonly canaries: readonly string[]
}

export interface ReplayMiss {
  readonly method: string
  readonly url: string
  readonly kind: 'unknown' | 'exhausted' | 'no-recording'
  /** What to do about it, one paragraph, redacted. */
  readonly message: string
}

/** What the recorder knows of a cell once it is closed. */
export interface CellTrafficResult {
  readonly exchanges: readonly Exchange[]
  /** Attempts that failed and were made again before the client saw anything: they may have been billed. */
  readonly retried: readonly Exchange[]
  /** The first of the subject and of each scorer. */
  readonly lost: readonly LostCall[]
  readonly misses: readonly ReplayMiss[]
  /** Begun, and unfinished when the cell was closed. */
  readonly open: readonly LooseRequest[]
  /** Recorded and never asked for. */
  readonly unused: readonly LooseRequest[]
  /** Milliseconds in which the limits of a lane made at least one call wait. */
  readonly waitedMs: number
  /** ISO instant at which the recording that was served was made. */
  readonly recordedAt: string | null
  /** Placeholder keys that tried to go live: names of the environment variables. */
  readonly missingKeys: readonly string[]
}

/** The traffic of one cell, from its first call to its settlement. */
export interface CellTraffic {
  readonly cellId: string
  /** Whether this cell is served from its recording or goes to the network: wholly, never a mixture. */
  readonly mode: 'replayed' | 'live'
  /** Whether a clean settlement is written down. */
  readonly records: boolean
  /** The subject's or scorer's fetch: the same recorder without interception. */
  readonly fetch: typeof globalThis.fetch
  /** Called when a wait for a permit begins and ends: the deadline stands still in between. */
  onWait(listener: (waiting: boolean) => void): void
  /** Resolves with the number of live exchanges so far, when the raw capture has all of them. */
  flush(): Promise<number>
  /**
   * Takes over what the subject of this attempt was answered in an earlier run, out of the raw capture that was carried
   * into this run's folder. Call it before any call of the cell.
   *
   * @throws Error for a capture that cannot be read
   */
  adopt(): void
  /**
   * Refuses every further call and waits, at most `graceMs`, until the bodies in flight have ended.
   *
   * @param cutOff the subject did not come to its end: what it still calls is refused without a word
   */
  close(graceMs: number, cutOff?: boolean): CellTrafficResult | Promise<CellTrafficResult>
  /**
   * Writes the recording (temp file, secret scan, rename) when this run records and the cell was live.
   * Call it only for a cell that settled cleanly. Resolves with the rules that found a leftover secret: then nothing
   * was written.
   */
  save(): readonly string[] | Promise<readonly string[]>
  /** Calls refused because they came after close() or after the deadline. */
  late(): readonly LooseRequest[]
}

/** Interception of a whole worker thread. */
export interface Traffic {
  /** A promise only where there is a recording or a mock to load; it rejects for one that cannot be used. */
  openCell(options: CellTrafficOptions): CellTraffic | Promise<CellTraffic>
  /** Runs `body` so that its calls, in whatever async continuation, belong to the cell, the role and the scorer. */
  run<T>(cell: CellTraffic, role: CallRole, body: () => T, scorer?: string | null): T
  /** The cell in whose async context the caller runs: attributes uncaught errors. */
  currentCell(): CellTraffic | null
  dispose(): void
}
