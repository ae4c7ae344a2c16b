import type { StatusReason } from '../record/status.ts'

/** Milliseconds on a clock that never goes back; passed in, so that tests run on a virtual one. */
export type Clock = () => number

/** What a cell asks for. `rank` orders admission: seed block, then scenario, then variant, then campaign id. */
export interface LeaseRequest {
  readonly cellId: string
  /** The declared lane; null: no lane limits this cell. */
  readonly lane: string | null
  readonly rank: readonly [seed: number, scenario: number, variant: number, campaign: string]
}

export interface PermitRequest {
  readonly cellId: string
  /** The lane read off the wire. */
  readonly lane: string
}

export type GovernorEvent =
  /** One lease per cell: a cell that waits or holds one cannot ask again. */
  | { readonly type: 'ask-lease'; readonly request: LeaseRequest }
  | { readonly type: 'release-lease'; readonly leaseId: number }
  /** The asker chooses the number; it must be new. */
  | { readonly type: 'ask-permit'; readonly permitId: number; readonly request: PermitRequest }
  /** Gives a permit back; one that still waits is withdrawn and will never be granted. */
  | { readonly type: 'release-permit'; readonly permitId: number }
  /** The asker is gone (its worker died): its waiting asks vanish, its leases and permits are released. */
  | { readonly type: 'forget'; readonly cellIds: readonly string[] }
  /**
   * Stop granting leases: everything waiting is refused with the reason, and so is every later ask. Permits go on, so
   * that what is in flight can finish. The reason of the first drain stays.
   */
  | { readonly type: 'drain'; readonly reason: StatusReason }

export type GovernorEffect =
  | {
      readonly type: 'lease-granted'
      readonly cellId: string
      readonly leaseId: number
      readonly queueMs: number
    }
  | { readonly type: 'lease-refused'; readonly cellId: string; readonly reason: StatusReason; readonly queueMs: number }
  | { readonly type: 'permit-granted'; readonly permitId: number; readonly waitedMs: number }

/** In flight, waiting and caps at this moment; for the live line and status. */
export interface GovernorSnapshot {
  readonly cells: { readonly inFlight: number; readonly cap: number; readonly waiting: number }
  readonly lanes: readonly {
    readonly lane: string
    readonly cells: number
    readonly requests: number
    readonly cap: number
    readonly waitingRequests: number
  }[]
  readonly draining: StatusReason | null
}

/**
 * The one place that admits work: a pure state machine. Events go in, effects come out; it starts no timer and does no
 * I/O. A batch of events is decided together, so that the order inside one batch is the data's and not arrival's.
 */
export interface Governor {
  /** @throws InvalidEventError when an event cannot be true, such as a second release */
  send(events: readonly GovernorEvent[]): GovernorEffect[]
  snapshot(): GovernorSnapshot
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
