import type { StatusReason } from '../record/status.ts'
import type { GovernorEffect, LeaseRequest } from './events.ts'
import { Heap } from './heap.ts'
import type { Lane, Lanes } from './lanes.ts'
import { compareRank } from './rank.ts'

interface Ask {
  readonly request: LeaseRequest
  readonly lane: Lane | null
  readonly askedAt: number
  /** Null while it waits. */
  leaseId: number | null
  /** Forgotten while it waited; it stays in its heap until it comes to the top. */
  gone: boolean
}

/** Cell leases: a campaign slot and a slot of the declared lane, taken together or not at all. */
export class CellLeases {
  readonly #cap: number
  readonly #lanes: Lanes
  /** Waiting asks by lane; a full lane keeps its heap to itself and so blocks no other. */
  readonly #waiting = new Map<Lane | null, Heap<Ask>>()
  readonly #byCell = new Map<string, Ask>()
  readonly #byLease = new Map<number, Ask>()
  #nextLease = 1
  #draining: StatusReason | null = null

  constructor(cap: number, lanes: Lanes) {
    this.#cap = cap
    this.#lanes = lanes
  }

  get inFlight(): number {
    return this.#byLease.size
  }

  get waiting(): number {
    return this.#byCell.size - this.#byLease.size
  }

  get draining(): StatusReason | null {
    return this.#draining
  }

  /** @returns what is wrong with the ask, or null */
  ask(request: LeaseRequest, now: number, effects: GovernorEffect[]): string | null {
    const { cellId } = request
    const known = this.#byCell.get(cellId)
    if (known !== undefined) {
      return `cell ${cellId} asked for a lease while it ${known.leaseId === null ? 'waits for' : 'holds'} one`
    }
    if (this.#draining !== null) {
      effects.push({ type: 'lease-refused', cellId, reason: this.#draining, queueMs: 0 })
      return null
    }
    const lane = request.lane === null ? null : this.#lanes.named(request.lane)
    const ask: Ask = { request, lane, askedAt: now, leaseId: null, gone: false }
    this.#byCell.set(cellId, ask)
    let heap = this.#waiting.get(lane)
    if (heap === undefined) {
      heap = new Heap((a, b) => compareRank(a.request, b.request))
      this.#waiting.set(lane, heap)
    }
    heap.push(ask)
    return null
  }

  /** @returns what is wrong with the release, or null */
  release(leaseId: number): string | null {
    const ask = this.#byLease.get(leaseId)
    if (ask === undefined) return `lease ${leaseId} was released twice, was forgotten or never existed`
    this.#remove(ask)
    return null
  }

  forget(cellId: string): void {
    const ask = this.#byCell.get(cellId)
    if (ask !== undefined) this.#remove(ask)
  }

  drain(reason: StatusReason, now: number, effects: GovernorEffect[]): void {
    this.#draining ??= reason
    const asks: Ask[] = []
    for (const heap of this.#waiting.values()) for (const ask of heap.drain()) if (!ask.gone) asks.push(ask)
    this.#waiting.clear()
    for (const ask of asks.sort((a, b) => compareRank(a.request, b.request))) {
      const { cellId } = ask.request
      this.#byCell.delete(cellId)
      effects.push({ type: 'lease-refused', cellId, reason: this.#draining, queueMs: now - ask.askedAt })
    }
  }

  /** Grants what fits now, best rank first among the lanes that have room. */
  admit(now: number, effects: GovernorEffect[]): void {
    while (this.inFlight < this.#cap) {
      const ask = this.#takeBest()
      if (ask === null) return
      const leaseId = this.#nextLease++
      ask.leaseId = leaseId
      this.#byLease.set(leaseId, ask)
      if (ask.lane !== null) ask.lane.cells++
      effects.push({ type: 'lease-granted', cellId: ask.request.cellId, leaseId, queueMs: now - ask.askedAt })
    }
  }

  #takeBest(): Ask | null {
    let best: Ask | null = null
    let from: Heap<Ask> | null = null
    for (const [lane, heap] of this.#waiting) {
      if (lane !== null && lane.cells >= lane.cap) continue
      let head = heap.peek()
      while (head?.gone) {
        heap.pop()
        head = heap.peek()
      }
      if (head === undefined) {
        this.#waiting.delete(lane)
      } else if (best === null || compareRank(head.request, best.request) < 0) {
        best = head
        from = heap
      }
    }
    from?.pop()
    return best
  }

  #remove(ask: Ask): void {
    this.#byCell.delete(ask.request.cellId)
    if (ask.leaseId === null) {
      ask.gone = true
      return
    }
    this.#byLease.delete(ask.leaseId)
    if (ask.lane !== null) ask.lane.cells--
  }
}
