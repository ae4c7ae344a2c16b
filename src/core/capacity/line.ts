import type { LeaseRequest } from './events.ts'
import { Heap } from './heap.ts'
import type { Lane } from './lanes.ts'
import { compareRank } from './rank.ts'
import type { Scope } from './scope.ts'

export interface Ask {
  readonly request: LeaseRequest
  readonly line: Line
  readonly askedAt: number
  /** Null while it waits. */
  leaseId: number | null
  /** The lane whose slot it holds. */
  holds: Lane | null
  /** Forgotten while it waited; it stays in its line until it comes to the front. */
  gone: boolean
}

/** Waiting cells that the same limits bind: one campaign in one lane, or one variant whose lane nobody knows. */
export class Line {
  /** Learnt later for a variant that declares none. */
  lane: Lane | null
  readonly scopes: readonly Scope[]
  /** Where it stands: among those that may go, or parked with those that wait for the same thing. */
  place: Lines | null = null
  readonly #asks = new Heap<Ask>((a, b) => compareRank(a.request, b.request))

  constructor(lane: Lane | null, scopes: readonly Scope[]) {
    this.lane = lane
    this.scopes = scopes
  }

  /** How many wait. */
  waiting = 0

  push(ask: Ask): void {
    this.#asks.push(ask)
    this.waiting++
  }

  /** Its best ask, or undefined when nobody waits. */
  head(): Ask | undefined {
    let head = this.#asks.peek()
    while (head?.gone) {
      this.#asks.pop()
      head = this.#asks.peek()
    }
    return head
  }

  /** Takes the ask out that `head` gave. */
  shift(): void {
    this.#asks.pop()
    this.waiting--
  }

  /** Marks a waiting ask as withdrawn. */
  withdraw(ask: Ask): void {
    const first = this.#asks.peek() === ask
    ask.gone = true
    this.waiting--
    if (first) this.place?.push(this)
  }

  /** Takes everyone out, best first. */
  drain(): Ask[] {
    this.waiting = 0
    this.place = null
    return this.#asks.drain().filter(({ gone }) => !gone)
  }
}

/** Lines by the rank of their best ask. A line stands in one place at a time. */
export class Lines {
  /** An entry counts while its line stands here with that ask in front; others are skipped when they come up. */
  readonly #entries = new Heap<{ readonly line: Line; readonly ask: Ask }>((a, b) =>
    compareRank(a.ask.request, b.ask.request),
  )

  /** Puts a line here, or puts it right after its best ask changed. */
  push(line: Line): void {
    const ask = line.head()
    if (ask === undefined) {
      line.place = null
      return
    }
    line.place = this
    this.#entries.push({ line, ask })
  }

  peek(): Line | undefined {
    for (let entry = this.#entries.peek(); entry !== undefined; entry = this.#entries.peek()) {
      const { line, ask } = entry
      if (line.place === this && line.head() === ask) return line
      this.#entries.pop()
    }
    return undefined
  }

  pop(): Line | undefined {
    const line = this.peek()
    if (line === undefined) return undefined
    this.#entries.pop()
    line.place = null
    return line
  }
}
