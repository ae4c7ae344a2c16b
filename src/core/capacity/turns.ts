import { Queue } from './queue.ts'

export interface Waiter {
  readonly cellId: string
  /** One that is gone was withdrawn: it stays in line until it comes to the front. */
  readonly state: 'waiting' | 'held' | 'gone'
}

/** One cell's waiters; never empty while it stands in line. */
interface Turn<T> {
  readonly cellId: string
  readonly waiters: Queue<T>
}

/** A line in which cells take turns: one with ten calls at once must not make the others wait for all ten. */
export class Turns<T extends Waiter> {
  readonly #turns = new Queue<Turn<T>>()
  readonly #byCell = new Map<string, Turn<T>>()

  push(waiter: T): void {
    let turn = this.#byCell.get(waiter.cellId)
    if (turn === undefined) {
      turn = { cellId: waiter.cellId, waiters: new Queue() }
      this.#byCell.set(waiter.cellId, turn)
      this.#turns.push(turn)
    }
    turn.waiters.push(waiter)
  }

  /** Who is next. */
  peek(): T | undefined {
    for (let turn = this.#turns.peek(); turn !== undefined; turn = this.#turns.peek()) {
      let waiter = turn.waiters.peek()
      while (waiter?.state === 'gone') {
        turn.waiters.shift()
        waiter = turn.waiters.peek()
      }
      if (waiter !== undefined) return waiter
      this.#turns.shift()
      this.#byCell.delete(turn.cellId)
    }
    return undefined
  }

  shift(): T | undefined {
    const waiter = this.peek()
    const turn = this.#turns.shift()
    if (waiter === undefined || turn === undefined) return undefined
    turn.waiters.shift()
    if (turn.waiters.size > 0) this.#turns.push(turn)
    else this.#byCell.delete(turn.cellId)
    return waiter
  }
}
