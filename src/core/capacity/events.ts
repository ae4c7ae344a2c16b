import type { StatusReason } from '../record/status.ts'
import type { MicroUsd } from '../record/usage.ts'
import type { CallRole } from '../traffic/exchange.ts'
import type { LaneTraffic } from './lane-traffic.ts'
import type { GovernorSnapshot } from './snapshot.ts'

/** Milliseconds on a clock that never goes back; passed in, so that tests run on a virtual one. */
export type Clock = () => number

/** What a cell asks for. `rank` orders admission: seed block, then scenario, then variant, then campaign id. */
export interface LeaseRequest {
  readonly cellId: string
  /** The declared lane; null: the lane this variant was seen to use earlier in the run, else none limits the cell. */
  readonly lane: string | null
  readonly rank: readonly [seed: number, scenario: number, variant: number, campaign: string]
  /** Lanes of the judges that will score the cell: under a budget their money is held with the subject's. */
  readonly judges?: readonly (string | null)[]
  /** False where a recording serves the cell: no lane and no budget limits it. Default true. */
  readonly spends?: boolean
  /** How often the cell was run before in this run; a re-run goes to the end of its seed block. Default 0. */
  readonly rerun?: number
}

export interface PermitRequest {
  readonly cellId: string
  /** The lane read off the wire. */
  readonly lane: string
  /** Default `subject`. */
  readonly role?: CallRole
  /** Read off the request; an output it does not bound is null and taken from what the lane was seen to answer. */
  readonly tokens?: { readonly input: number; readonly output: number | null }
  /** The most this request can be charged; null where nothing bounds it. */
  readonly boundMicroUsd?: MicroUsd | null
  /** What its input alone costs, as estimated; null where nobody knows. */
  readonly leastMicroUsd?: MicroUsd | null
  /** A retry's own delay before it may leave; default 0. */
  readonly delayMs?: number
}

export interface JudgeRequest {
  /** Must hold a lease. */
  readonly cellId: string
  /** The scorer's declared lane. */
  readonly lane: string | null
}

/** Why a lane takes nothing more; `budget`: it has no price and a budget is set. */
export const CLOSURES = ['lane-exhausted', 'lane-failed', 'budget'] as const satisfies readonly StatusReason[]
export type ClosureReason = (typeof CLOSURES)[number]

/** What the lane learns from one attempt on the wire. `retryDecision` says which it is. */
export type AttemptResult =
  /** An answer, good or bad, that says nothing against the lane. */
  | { readonly kind: 'answered' }
  /** It never left: nothing of it counts. */
  | { readonly kind: 'unsent' }
  /** The cell gave up on it: nothing is known of the lane. */
  | { readonly kind: 'aborted' }
  /** 429, 503, 529: fewer requests at once, and none for so long. */
  | { readonly kind: 'throttled'; readonly holdMs: number; readonly reason: string }
  /** A connection or server fault: the lane is held when two come in a row. */
  | { readonly kind: 'fault'; readonly holdMs: number; readonly reason: string }
  /** An error that a retry cannot mend; five identical ones in a row close the lane. */
  | { readonly kind: 'rejected'; readonly signature: string }
  | { readonly kind: 'closing'; readonly reason: ClosureReason; readonly detail: string }

/** How a permitted request ended. */
export interface PermitOutcome {
  readonly result: AttemptResult
  /** As reported; null where nobody said: then the estimate stands. */
  readonly tokens: { readonly input: number; readonly output: number } | null
  /** Null: unknown, and kept as unknown, never as 0. */
  readonly microUsd: MicroUsd | null
}

export type GovernorEvent =
  /** One lease per cell: a cell that waits or holds one cannot ask again. */
  | { readonly type: 'ask-lease'; readonly request: LeaseRequest }
  | { readonly type: 'release-lease'; readonly leaseId: number }
  /** The cell turned out to be served by its recording: its lane slot and its money go back. */
  | { readonly type: 'served'; readonly cellId: string }
  /** The subject is over and is never run again: its lane slot and what is left of its money go back. */
  | { readonly type: 'subject-done'; readonly cellId: string }
  /** The asker chooses the number; it must be new. Implies `subject-done`. */
  | { readonly type: 'ask-judge'; readonly judgeId: number; readonly request: JudgeRequest }
  /** Gives a judge lease back; one that still waits is withdrawn. A re-ask happens inside the same lease. */
  | { readonly type: 'release-judge'; readonly judgeId: number }
  /** The asker chooses the number; it must be new. */
  | { readonly type: 'ask-permit'; readonly permitId: number; readonly request: PermitRequest }
  /**
   * Gives a permit back; one that still waits is withdrawn and will never be granted. Without an outcome nothing is
   * learnt, and under a budget the charge is unknown.
   */
  | { readonly type: 'release-permit'; readonly permitId: number; readonly outcome?: PermitOutcome }
  /** The asker is gone (its worker died): its waiting asks vanish, its leases and permits are released. */
  | { readonly type: 'forget'; readonly cellIds: readonly string[] }
  /** Closes a lane from outside, for instance after a preflight that found its model dead. */
  | { readonly type: 'close-lane'; readonly lane: string; readonly reason: ClosureReason; readonly detail: string }
  /** A campaign's own budget, before its first ask; the run's budget binds as well. */
  | { readonly type: 'campaign-budget'; readonly campaignId: string; readonly budget: Budget }
  /** An earlier part of this run was charged so much, and so much of its bill is unknown: the run's budget has it less. */
  | { readonly type: 'spent-before'; readonly chargedMicroUsd: MicroUsd; readonly unknownMicroUsd: MicroUsd }
  /**
   * Stop granting leases: everything waiting is refused with the reason, and so is every later ask. Judges and permits
   * go on, so that what is in flight can finish. The reason of the first drain stays.
   */
  | { readonly type: 'drain'; readonly reason: StatusReason }
  /** The grace is over: judges and permits are refused too. Implies `drain`. */
  | { readonly type: 'stop'; readonly reason: StatusReason }

export interface Budget {
  /** 0: nothing may be bought, recordings alone are served. */
  readonly limitMicroUsd: MicroUsd
  /** What earlier parts of a continued run were charged, and what of theirs nobody knows; default 0. */
  readonly chargedMicroUsd?: MicroUsd
  readonly unknownMicroUsd?: MicroUsd
}

export type GovernorEffect =
  | {
      readonly type: 'lease-granted'
      readonly cellId: string
      readonly leaseId: number
      readonly queueMs: number
      /** Set where the cell is to use another lane than it declared: an `equivalent` one. */
      readonly failover?: string
      /** Under a budget: what is held for the cell. Belongs into its `admitted` line. */
      readonly heldMicroUsd?: MicroUsd
    }
  | {
      readonly type: 'lease-refused'
      readonly cellId: string
      readonly reason: StatusReason
      readonly queueMs: number
      /** What happened and what to do, where the reason alone does not say it. */
      readonly detail?: string
    }
  | { readonly type: 'judge-granted'; readonly judgeId: number; readonly waitedMs: number }
  /** The cell's output is safe: it settles without this score, and its subject is not run again. */
  | {
      readonly type: 'judge-refused'
      readonly judgeId: number
      readonly reason: StatusReason
      readonly waitedMs: number
      readonly detail?: string
    }
  | {
      readonly type: 'permit-granted'
      readonly permitId: number
      readonly waitedMs: number
      /** Set in a lane with a limit per minute: one that cannot leave this soon is given back as unsent and asked for again. */
      readonly leaveWithinMs?: number
    }
  | {
      readonly type: 'permit-refused'
      readonly permitId: number
      readonly reason: StatusReason
      readonly waitedMs: number
      readonly detail?: string
    }
  /** For the report: a lane was closed, or a request is larger than a limit. */
  | { readonly type: 'notice'; readonly lane: string; readonly code: NoticeCode; readonly text: string }
  /** An event that could not be true, skipped (only where the governor is not strict). */
  | { readonly type: 'warning'; readonly text: string }

export const NOTICE_CODES = ['lane-closed', 'request-over-limit'] as const
export type NoticeCode = (typeof NOTICE_CODES)[number]

/**
 * The one place that admits work: a pure state machine. Events go in, effects come out; it starts no timer and does no
 * I/O. A batch of events is decided together, so that the order inside one batch is the data's and not arrival's.
 */
export interface Governor {
  /**
   * `send([])` lets time alone decide: call it at `nextWake`.
   *
   * @throws InvalidEventError when an event cannot be true, such as a second release, and the governor is strict
   */
  send(events: readonly GovernorEvent[]): GovernorEffect[]
  /** When time alone may change something, on the governor's clock; null: never before the next event. */
  nextWake(): number | null
  snapshot(): GovernorSnapshot
  /** What the campaign has asked of each lane so far, and what it waited for there. */
  traffic(campaignId: string): readonly LaneTraffic[]
  /** The cells of the campaign whose bill nobody knows, and what is charged and kept for each. */
  unknownBills(campaignId: string): Iterable<readonly [cellId: string, microUsd: MicroUsd]>
}

/**
 * An event that cannot be true: a lease released twice, a cell that asks while it holds. It was skipped; every other
 * event of its batch took effect, and what followed from them is in `effects`, so that nobody waits for a lost grant.
 */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError'
  readonly problems: readonly string[]
  readonly effects: readonly GovernorEffect[]
  constructor(problems: readonly string[], effects: readonly GovernorEffect[]) {
    super(`the governor refused ${problems.length === 1 ? 'an event' : 'events'}: ${problems.join('; ')}`)
    this.problems = problems
    this.effects = effects
  }
}
