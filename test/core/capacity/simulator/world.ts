import { Heap } from '../../../../src/core/capacity/heap.ts'

/** What a process waits for. */
export type Step =
  | { readonly kind: 'sleep'; readonly ms: number }
  /** Until somebody says what became of the name. */
  | { readonly kind: 'hear'; readonly name: string }
  | { readonly kind: 'join'; readonly processes: readonly Process[] }

export type Script<T = void> = Generator<Step, T, unknown>

export interface Process {
  readonly script: Script<unknown>
  /** Which worker it dies with. */
  readonly owner: string
  ended: boolean
  readonly onEnd: (() => void)[]
}

/** Processes on a virtual clock: whole campaigns in milliseconds, the same on every machine. */
export class World {
  now = 0
  readonly #timers = new Heap<{ readonly at: number; readonly order: number; readonly wake: () => void }>(
    (a, b) => a.at - b.at || a.order - b.order,
  )
  readonly #hearing = new Map<string, { readonly process: Process; readonly resume: (value: unknown) => void }>()
  readonly #alive = new Set<Process>()
  #order = 0

  get alive(): number {
    return this.#alive.size
  }

  spawn(script: Script<unknown>, owner: string): Process {
    const process: Process = { script, owner, ended: false, onEnd: [] }
    this.#alive.add(process)
    this.#advance(process, undefined)
    return process
  }

  at(at: number, wake: () => void): void {
    this.#timers.push({ at, order: this.#order++, wake })
  }

  /** Somebody hears it, or it is lost: the process may be dead. */
  say(name: string, value: unknown): boolean {
    const listener = this.#hearing.get(name)
    this.#hearing.delete(name)
    listener?.resume(value)
    return listener !== undefined
  }

  /** Ends every process of an owner where it stands. */
  kill(owner: string): void {
    for (const process of [...this.#alive]) {
      if (process.owner === owner) this.#end(process)
    }
  }

  /** Runs the next timer not later than `limit`; false when there is none. */
  step(limit: number | null): boolean {
    const next = this.#timers.peek()
    if (next === undefined || (limit !== null && next.at > limit)) {
      if (limit === null) return false
      this.now = Math.max(this.now, limit)
      return true
    }
    this.#timers.pop()
    this.now = Math.max(this.now, next.at)
    next.wake()
    return true
  }

  /** True when the next timer is due at this very moment. */
  get isBusy(): boolean {
    const next = this.#timers.peek()
    return next !== undefined && next.at <= this.now
  }

  #advance(process: Process, value: unknown): void {
    if (process.ended) return
    const { done, value: step } = process.script.next(value)
    if (done === true) {
      this.#end(process)
      return
    }
    const { kind } = step as Step
    if (kind === 'sleep') this.at(this.now + (step as { ms: number }).ms, () => this.#advance(process, undefined))
    else if (kind === 'hear') {
      const resume = (heard: unknown): void => this.#advance(process, heard)
      this.#hearing.set((step as { name: string }).name, { process, resume })
    } else this.#join(process, (step as { processes: readonly Process[] }).processes)
  }

  #join(process: Process, others: readonly Process[]): void {
    let left = others.filter(({ ended }) => !ended).length
    if (left === 0) {
      this.at(this.now, () => this.#advance(process, undefined))
      return
    }
    for (const other of others) {
      if (other.ended) continue
      other.onEnd.push(() => {
        if (--left === 0) this.#advance(process, undefined)
      })
    }
  }

  #end(process: Process): void {
    if (process.ended) return
    process.ended = true
    this.#alive.delete(process)
    for (const then of process.onEnd) then()
  }
}
