import type { Clock } from '../replay/clock.ts'

/**
 * The deadline of a cell: a clock that stands still while the cell waits for a permit, ended by running out or by the
 * run that aborts the cell.
 *
 * The AbortSignal is made when somebody asks for it: tens of thousands of cells in flight that never look at theirs
 * would spend more on signals than on everything else.
 */
export class Deadline {
  /** Milliseconds. */
  readonly limitMs: number
  readonly #clock: Clock
  #controller: AbortController | null = null
  #listeners: Set<(reason: unknown) => void> | null = null
  #timer: { readonly cancel: () => void } | null = null
  #startedAt: number
  #usedMs = 0
  #waits = 0
  /** What stands still with it. */
  #parts: Set<Deadline> | null = null
  #pacing = 0
  #whole: Deadline | null = null
  #ended: { readonly by: 'deadline' | 'shutdown'; readonly reason: Error } | null = null

  constructor(limitMs: number, clock: Clock) {
    this.limitMs = limitMs
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#arm()
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#ended !== null) this.#controller.abort(this.#ended.reason)
    }
    return this.#controller.signal
  }

  /** What is left, milliseconds; 0 once it is over. */
  get leftMs(): number {
    if (this.#ended !== null) return 0
    const used = this.#waits > 0 ? this.#usedMs : this.#usedMs + this.#clock.now() - this.#startedAt
    return Math.max(0, this.limitMs - used)
  }

  /** What ended the cell's time, or null while it has some. */
  get endedBy(): 'deadline' | 'shutdown' | null {
    return this.#ended?.by ?? null
  }

  /**
   * The promise, or a rejection with the reason as soon as the cell's time ends. The promise stays owned: what it does
   * after that is ignored.
   */
  bound<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        promise.catch(() => {})
        reject(this.#ended.reason)
        return
      }
      this.#listeners ??= new Set()
      this.#listeners.add(reject)
      promise.then(
        (value) => {
          // A loop that blocks the thread keeps its timer from firing, and is no less late.
          if (this.passed()) return
          this.#listeners?.delete(reject)
          resolve(value)
        },
        (error: unknown) => {
          if (this.passed()) return
          this.#listeners?.delete(reject)
          reject(error)
        },
      )
    })
  }

  /** Whether the time is over, also where no timer could say so. */
  passed(): boolean {
    if (this.#ended !== null) return true
    if (this.#waits > 0) return false
    if (this.#usedMs + this.#clock.now() - this.#startedAt <= this.limitMs) return false
    this.#end('deadline', new DeadlineError(this.limitMs))
    return true
  }

  /**
   * A bound for a part of what this one bounds: it too stands still while requests wait, but not while another part
   * waits in a line, which may be one that this part holds up.
   */
  part(limitMs: number): Deadline {
    const part = new Deadline(limitMs, this.#clock)
    this.#parts ??= new Set()
    this.#parts.add(part)
    part.#whole = this
    if (this.#pacing > 0) part.wait(true)
    return part
  }

  /** The limits of a lane make a request wait. Nested waits count once. */
  wait(waiting: boolean): void {
    this.#pacing += waiting ? 1 : -1
    this.queue(waiting)
    const edge = waiting ? 1 : 0
    if (this.#pacing === edge) for (const part of this.#parts ?? []) part.wait(waiting)
  }

  /** The journal is waited for: a slow disk is not the subject's. */
  async journalled<T>(written: Promise<T>): Promise<T> {
    this.wait(true)
    try {
      return await written
    } finally {
      this.wait(false)
    }
  }

  /** A scorer waits for its turn. */
  queue(waiting: boolean): void {
    this.#waits += waiting ? 1 : -1
    if (waiting && this.#waits === 1) {
      this.#usedMs += this.#clock.now() - this.#startedAt
      this.#disarm()
    } else if (!waiting && this.#waits === 0) {
      this.#startedAt = this.#clock.now()
      this.#arm()
    }
  }

  /** The run ends the cell. */
  abort(reason: Error): void {
    this.#end('shutdown', reason)
  }

  /** Something the cell started threw where nobody could catch it: what is bounded now rejects with that. */
  crash(error: unknown): void {
    for (const listener of this.#listeners ?? []) listener(error)
  }

  clear(): void {
    if (this.#whole !== null) this.#whole.#parts?.delete(this)
    this.#disarm()
  }

  #arm(): void {
    if (this.#ended !== null) return
    // Longer than a timer can hold is no deadline at all.
    const ms = Math.min(Math.max(0, this.limitMs - this.#usedMs), 2 ** 31 - 1)
    this.#timer = this.#clock.after(ms, () => this.#end('deadline', new DeadlineError(this.limitMs)))
  }

  #end(by: 'deadline' | 'shutdown', reason: Error): void {
    if (this.#ended !== null) return
    this.#disarm()
    this.#ended = { by, reason }
    this.#controller?.abort(reason)
    for (const listener of this.#listeners ?? []) listener(reason)
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
  }
}

class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  constructor(limitMs: number) {
    super(`the cell did not settle within its deadline of ${limitMs / 1000} s`)
  }
}
