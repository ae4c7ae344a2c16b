export interface WatchdogOptions {
  /** Resolves when the thread answers. */
  ping(): Promise<void>
  /** How long the thread may be silent now, milliseconds; null: it has no cell in flight. */
  limitMs(): number | null
  /** Called once. */
  stuck(silentMs: number): void
  /** Milliseconds; default 1 s. */
  readonly intervalMs?: number
}

/** A thread that loads a large module on a busy machine is silent for seconds, and stuck in nothing. */
const LEAST_MS = 10_000

/**
 * Tells of a thread in a synchronous loop: none of its own timers fires, so that no deadline of its cells does. Counted
 * in looks, not read off a clock: a machine that slept, or a main thread that was busy, is no silence of the other.
 */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #intervalMs: number
  readonly #timer: NodeJS.Timeout
  #asked = false
  #silentMs = 0

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#intervalMs = options.intervalMs ?? 1_000
    this.#timer = setInterval(() => this.#look(), this.#intervalMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const limit = this.#options.limitMs()
    if (limit === null) {
      this.#silentMs = 0
      return
    }
    if (!this.#asked) {
      this.#asked = true
      const answered = (): void => {
        this.#asked = false
        this.#silentMs = 0
      }
      // A channel that is closed belongs to a thread that is over.
      this.#options.ping().then(answered, () => this.stop())
      return
    }
    this.#silentMs += this.#intervalMs
    if (this.#silentMs <= Math.max(limit, LEAST_MS)) return
    this.stop()
    this.#options.stuck(this.#silentMs)
  }
}
