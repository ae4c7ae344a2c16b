import { AdaptiveConcurrency } from './adaptive.ts'
import type { ClosureReason } from './events.ts'
import type { LaneLimit } from './options.ts'
import { DEFAULT_CONCURRENCY } from './options.ts'
import { Pace } from './pace.ts'

export interface Closure {
  readonly reason: ClosureReason
  readonly detail: string
}

export interface Hold {
  readonly until: number
  readonly reason: string
}

/** What a provider counts together: one lane, or all lanes of one account. */
export class Quota {
  readonly concurrency: AdaptiveConcurrency
  readonly requestsPerMinute: Pace | null
  readonly tokensPerMinute: Pace | null
  /** Cells in flight that hold a lane slot here, as subject or as judge. */
  cells = 0
  /** Requests in flight. */
  requests = 0
  closed: Closure | null = null
  #hold: Hold | null = null
  #faultsInARow = 0

  constructor(limit: LaneLimit | undefined) {
    this.concurrency = new AdaptiveConcurrency(limit?.concurrency ?? DEFAULT_CONCURRENCY)
    this.requestsPerMinute = paceOf(limit?.requestsPerMinute, limit)
    this.tokensPerMinute = paceOf(limit?.tokensPerMinute, limit)
  }

  /** The hold at this moment, or null. */
  holdAt(now: number): Hold | null {
    return this.#hold !== null && this.#hold.until > now ? this.#hold : null
  }

  /** When the hold that was last acted on ends, be it past; null: none. */
  get heldUntil(): number | null {
    return this.#hold?.until ?? null
  }

  /** Forgets a hold that is over, once everybody who waited for it was let go. */
  expire(now: number): void {
    if (this.#hold !== null && this.#hold.until <= now) this.#hold = null
  }

  /** A hold is made longer by a later one, never shorter. */
  hold(until: number, reason: string): void {
    if (this.#hold === null || until > this.#hold.until) this.#hold = { until, reason }
  }

  /** True when one more cell may take a slot here. */
  hasRoom(now: number): boolean {
    return this.cells < this.concurrency.limit && this.holdAt(now) === null
  }

  /** One lost connection is bad luck; two with no answer between them are an outage. */
  fault(until: number, reason: string): void {
    if (++this.#faultsInARow >= 2) this.hold(until, reason)
  }

  answered(): void {
    this.#faultsInARow = 0
  }
}

const paceOf = (perMinute: number | undefined, limit: LaneLimit | undefined): Pace | null =>
  perMinute === undefined ? null : new Pace(perMinute, limit?.burstSeconds ?? null)
