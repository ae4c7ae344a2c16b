import type { StatusReason } from '../record/status.ts'

/** Limits of the calls whose lane matches; the first match of the list wins. */
export interface LaneLimit {
  /** `provider/model` with `*` for any run of characters. */
  readonly match: string
  /** Cells (declared lane) and, separately, requests (wire lane) in flight; integer ≥ 1. Default 8. */
  readonly concurrency?: number
}

export interface CapacityOptions {
  /** Cells in flight in the whole run; integer ≥ 1. Default 32. */
  readonly cells?: number
  readonly lanes?: readonly LaneLimit[]
}

/** Milliseconds on a clock that never goes back; passed in, so that tests run on a virtual one. */
export type Clock = () => number

/** What a cell asks for. `rank` orders admission: seed block, then scenario, then variant, then campaign id. */
export interface LeaseRequest {
  readonly cellId: string
  readonly lane: string | null
  readonly rank: readonly [seed: number, scenario: number, variant: number, campaign: string]
}

export interface PermitRequest {
  readonly cellId: string
  readonly lane: string
}

export type GovernorEvent =
  | { readonly type: 'ask-lease'; readonly request: LeaseRequest }
  | { readonly type: 'release-lease'; readonly leaseId: number }
  | { readonly type: 'ask-permit'; readonly permitId: number; readonly request: PermitRequest }
  | { readonly type: 'release-permit'; readonly permitId: number }
  /** The asker is gone (its worker died): its waiting asks vanish, its leases and permits are released. */
  | { readonly type: 'forget'; readonly cellIds: readonly string[] }
  /** Stop granting leases: everything waiting is refused with the reason, and so is every later ask. */
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
  send(events: readonly GovernorEvent[]): GovernorEffect[]
  snapshot(): GovernorSnapshot
}
