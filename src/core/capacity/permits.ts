import type { GovernorEffect, PermitRequest } from './events.ts'
import type { Lane, Lanes } from './lanes.ts'
import { Queue } from './queue.ts'

interface Permit {
  readonly id: number
  readonly cellId: string
  readonly lane: Lane
  readonly askedAt: number
  state: 'waiting' | 'held' | 'gone'
}

/** One cell's waiting permits of one lane; never empty while it stands in the line. */
interface Turn {
  readonly cellId: string
  readonly permits: Queue<Permit>
}

/** The waiting permits of one lane, in the order in which they will be served. */
class LaneLine {
  /** Cells take turns: one with ten calls at once must not make the others wait for all ten. */
  readonly #turns = new Queue<Turn>()
  readonly #byCell = new Map<string, Turn>()

  push(permit: Permit): void {
    let turn = this.#byCell.get(permit.cellId)
    if (turn === undefined) {
      turn = { cellId: permit.cellId, permits: new Queue() }
      this.#byCell.set(permit.cellId, turn)
      this.#turns.push(turn)
    }
    turn.permits.push(permit)
  }

  shift(): Permit | undefined {
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      const { cellId, permits } = turn
      let permit = permits.shift()
      while (permit?.state === 'gone') permit = permits.shift()
      if (permits.size > 0) this.#turns.push(turn)
      else this.#byCell.delete(cellId)
      if (permit !== undefined) return permit
    }
    return undefined
  }
}

/** Request permits: at most `cap` requests of a wire lane in flight, the cells of a lane served in turn. */
export class RequestPermits {
  readonly #lanes: Lanes
  readonly #permits = new Map<number, Permit>()
  readonly #byCell = new Map<string, Set<Permit>>()
  readonly #lines = new Map<Lane, LaneLine>()
  /** Lanes where something may have become grantable since the last grant. */
  readonly #touched = new Set<Lane>()

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** @returns what is wrong with the ask, or null */
  ask(id: number, { cellId, lane: name }: PermitRequest, now: number): string | null {
    if (this.#permits.has(id)) return `permit ${id} was asked for twice (second time by cell ${cellId})`
    const lane = this.#lanes.named(name)
    const permit: Permit = { id, cellId, lane, askedAt: now, state: 'waiting' }
    this.#permits.set(id, permit)
    let own = this.#byCell.get(cellId)
    if (own === undefined) {
      own = new Set()
      this.#byCell.set(cellId, own)
    }
    own.add(permit)
    let line = this.#lines.get(lane)
    if (line === undefined) {
      line = new LaneLine()
      this.#lines.set(lane, line)
    }
    line.push(permit)
    lane.waitingRequests++
    this.#touched.add(lane)
    return null
  }

  /** @returns what is wrong with the release, or null */
  release(id: number): string | null {
    const permit = this.#permits.get(id)
    if (permit === undefined) return `permit ${id} was released twice, was forgotten or never existed`
    this.#remove(permit)
    return null
  }

  forget(cellId: string): void {
    for (const permit of this.#byCell.get(cellId) ?? []) this.#remove(permit)
  }

  grant(now: number, effects: GovernorEffect[]): void {
    for (const lane of this.#touched) {
      const line = this.#lines.get(lane)
      while (line !== undefined && lane.requests < lane.cap && lane.waitingRequests > 0) {
        const permit = line.shift()
        if (permit === undefined) break
        permit.state = 'held'
        lane.waitingRequests--
        lane.requests++
        effects.push({ type: 'permit-granted', permitId: permit.id, waitedMs: now - permit.askedAt })
      }
    }
    this.#touched.clear()
  }

  #remove(permit: Permit): void {
    this.#permits.delete(permit.id)
    const own = this.#byCell.get(permit.cellId)
    own?.delete(permit)
    if (own?.size === 0) this.#byCell.delete(permit.cellId)
    if (permit.state === 'held') permit.lane.requests--
    else permit.lane.waitingRequests--
    permit.state = 'gone'
    this.#touched.add(permit.lane)
  }
}
