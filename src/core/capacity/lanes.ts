import type { ClosureReason } from './events.ts'
import { matchesGlob } from './glob.ts'
import type { LaneLimit } from './options.ts'
import { type Closure, Quota } from './quota.ts'

/** One concrete `provider/model`. */
export interface Lane {
  readonly name: string
  readonly limit: LaneLimit | undefined
  readonly quota: Quota
  /** Cells in flight that hold a slot of this lane, as subject or as judge. */
  cells: number
  /** Requests in flight that went to this lane on the wire. */
  requests: number
  waitingRequests: number
  closed: Closure | null
  /** Wire lanes that cells which declared this lane were seen to use. */
  readonly leadsTo: Set<Lane>
  /** The last error that no retry mends, and how often it came without an answer in between. */
  rejection: { readonly signature: string; count: number } | null
  /** The largest output an answer reported, for requests that do not bound theirs; null before the first. */
  largestOutput: number | null
}

/** So many identical errors in a row say that the lane, and not a cell, is at fault. */
export const IDENTICAL_ERRORS = 5

/**
 * The lanes seen in this run. Limits come from the first entry that matches the name; counters belong to the concrete
 * lane, so `openai/*` with concurrency 16 means 16 for each OpenAI model, not for all of them together; only an
 * `account` makes lanes share.
 */
export class Lanes {
  readonly #limits: readonly LaneLimit[]
  readonly #lanes = new Map<string, Lane>()
  readonly #accounts = new Map<string, Quota>()
  /** Lanes closed since somebody last looked. */
  closedNow: Lane[] = []

  constructor(limits: readonly LaneLimit[]) {
    this.#limits = limits
  }

  limitOf(name: string): LaneLimit | undefined {
    return this.#limits.find(({ match }) => matchesGlob(match, name))
  }

  named(name: string): Lane {
    let lane = this.#lanes.get(name)
    if (lane === undefined) {
      const limit = this.limitOf(name)
      lane = {
        name,
        limit,
        quota: this.#quotaOf(limit),
        cells: 0,
        requests: 0,
        waitingRequests: 0,
        closed: null,
        leadsTo: new Set(),
        rejection: null,
        largestOutput: null,
      }
      this.#lanes.set(name, lane)
    }
    return lane
  }

  /** A cell that declared the one lane sent a request on the other. */
  saw(declared: Lane, wire: Lane): void {
    if (declared !== wire) declared.leadsTo.add(wire)
  }

  /**
   * Closes a lane; an exhausted account closes with all its lanes. A lane under the user's own name closes when all
   * that its cells were seen to use is closed.
   */
  close(lane: Lane, reason: ClosureReason, detail: string): void {
    if (closureOf(lane) !== null) return
    const closure = { reason, detail }
    if (reason === 'lane-exhausted') lane.quota.closed = closure
    else lane.closed = closure
    this.closedNow.push(lane)
    for (const other of this.#lanes.values()) {
      if (closureOf(other) !== null || other.leadsTo.size === 0) continue
      if (![...other.leadsTo].every((wire) => closureOf(wire) !== null)) continue
      other.closed = closure
      this.closedNow.push(other)
    }
  }

  /** Where a cell of the lane may run now: here, at an equivalent while this one is held or closed, or nowhere. */
  placeFor(lane: Lane, now: number): Lane | Closure | 'blocked' {
    const closure = closureOf(lane)
    if (closure === null && lane.quota.hasRoom(now)) return lane
    const names = lane.limit?.equivalent
    if (closure === null && (names === undefined || lane.quota.holdAt(now) === null)) return 'blocked'
    const others = (names ?? []).map((name) => this.named(name)).filter((other) => closureOf(other) === null)
    const free = others.find((other) => other.quota.hasRoom(now))
    if (free !== undefined) return free
    return closure !== null && others.length === 0 ? closure : 'blocked'
  }

  [Symbol.iterator](): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  #quotaOf(limit: LaneLimit | undefined): Quota {
    const account = limit?.account
    if (account === undefined) return new Quota(limit)
    let quota = this.#accounts.get(account)
    if (quota === undefined) {
      quota = new Quota(limit)
      this.#accounts.set(account, quota)
    }
    return quota
  }
}

export const closureOf = (lane: Lane): Closure | null => lane.closed ?? lane.quota.closed
