import { matchesGlob } from './glob.ts'
import { DEFAULT_CONCURRENCY, type LaneLimit } from './options.ts'

/** One concrete `provider/model` with its two accounts, each of which may reach the cap by itself. */
export interface Lane {
  readonly name: string
  readonly cap: number
  /** Cells in flight that declared this lane. */
  cells: number
  /** Requests in flight that went to this lane on the wire. */
  requests: number
  waitingRequests: number
}

/**
 * The lanes seen in this run. Limits come from the first entry that matches the name; counters belong to the concrete
 * lane, so `openai/*` with concurrency 16 means 16 for each OpenAI model, not for all of them together.
 */
export class Lanes {
  readonly #limits: readonly LaneLimit[]
  readonly #lanes = new Map<string, Lane>()

  constructor(limits: readonly LaneLimit[]) {
    this.#limits = limits
  }

  named(name: string): Lane {
    let lane = this.#lanes.get(name)
    if (lane === undefined) {
      const limit = this.#limits.find(({ match }) => matchesGlob(match, name))
      lane = { name, cap: limit?.concurrency ?? DEFAULT_CONCURRENCY, cells: 0, requests: 0, waitingRequests: 0 }
      this.#lanes.set(name, lane)
    }
    return lane
  }

  [Symbol.iterator](): Iterator<Readonly<Lane>> {
    return this.#lanes.values()
  }
}
