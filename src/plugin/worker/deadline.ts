/**
 * The deadline of a cell: a clock that stands still while the cell waits for a permit, and an AbortSignal that fires
 * when it runs out or when the run aborts the cell.
 */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #limitMs: number
  readonly #now: () => number
  #timer: NodeJS.Timeout | null = null
  #startedAt: number
  #usedMs = 0
  #waits = 0
  #hit = false

  constructor(limitMs: number, now: () => number = () => performance.now()) {
    this.#limitMs = limitMs
    this.#now = now
    this.#startedAt = now()
    this.#arm()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** True when time ran out, false when the run aborted the cell or nothing happened. */
  get hit(): boolean {
    return this.#hit
  }

  get remainingMs(): number {
    const running = this.#waits > 0 ? 0 : this.#now() - this.#startedAt
    return Math.max(0, this.#limitMs - this.#usedMs - running)
  }

  /** Nested waits count once. */
  wait(waiting: boolean): void {
    this.#waits += waiting ? 1 : -1
    if (waiting && this.#waits === 1) {
      this.#usedMs += this.#now() - this.#startedAt
      this.#disarm()
    } else if (!waiting && this.#waits === 0) {
      this.#startedAt = this.#now()
      this.#arm()
    }
  }

  abort(reason: Error): void {
    this.#disarm()
    this.#controller.abort(reason)
  }

  clear(): void {
    this.#disarm()
  }

  #arm(): void {
    if (this.signal.aborted) return
    // Longer than a timer can hold is no deadline at all.
    const ms = Math.min(this.remainingMs, 2 ** 31 - 1)
    this.#timer = setTimeout(() => {
      this.#hit = true
      this.#controller.abort(new DeadlineError(this.#limitMs))
    }, ms)
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor(limitMs: number) {
    super(`the cell did not settle within its deadline of ${limitMs / 1000} s`)
  }
}
