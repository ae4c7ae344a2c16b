import { socketError } from './call.ts'
import type { Clock } from './clock.ts'
import { linkedController } from './wait.ts'

export interface WireLimits {
  /** Between two bytes, milliseconds; null: no limit. */
  readonly stallMs: number | null
  /** For the whole attempt, milliseconds. */
  readonly totalMs: number
  /** Whose request it is, for the message. */
  readonly of: string
}

/**
 * Ends an attempt that makes no progress. Its cell's deadline alone would not do: that stands still while another
 * request of the cell waits, be it for the permit which this one holds.
 */
export class WireWatch {
  /** Aborts the attempt. */
  readonly signal: AbortSignal
  readonly #clock: Clock
  readonly #limits: WireLimits
  readonly #controller: ReturnType<typeof linkedController>
  readonly #begun: number
  /** The last byte; null while the client does not read. */
  #last: number | null
  #timer: { readonly cancel: () => void } | null = null

  constructor(signal: AbortSignal, limits: WireLimits, clock: Clock) {
    this.#controller = linkedController([signal])
    this.signal = this.#controller.signal
    this.#limits = limits
    this.#clock = clock
    this.#begun = clock.now()
    this.#last = this.#begun
    this.#arm()
  }

  /** A byte came, or the client reads again. */
  progress(): void {
    const waited = this.#last === null
    this.#last = this.#clock.now()
    if (waited) this.#arm()
  }

  /** The client reads no further: that is no fault of the wire. */
  pause(): void {
    this.#last = null
  }

  /** Its signal still follows: a client that gives a body up ends its connection. */
  over(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  /** One timer, set anew when it fires: chunks come by the thousand. */
  #arm(): void {
    this.#timer?.cancel()
    const { stallMs, totalMs, of } = this.#limits
    const now = this.#clock.now()
    const total = this.#begun + totalMs
    const stall = stallMs === null || this.#last === null ? Number.POSITIVE_INFINITY : this.#last + stallMs
    if (now >= total) {
      this.#end(`the request of ${of} was still under way after ${totalMs / 1000} s, the whole deadline of its cell`)
    } else if (now >= stall) {
      this.#end(`no byte came for ${(stallMs ?? 0) / 1000} s (stallTimeout): the request of ${of} was ended`)
    } else {
      const ms = Math.min(Math.max(1, Math.ceil(Math.min(total, stall) - now)), 2 ** 31 - 1)
      this.#timer = this.#clock.after(ms, () => this.#arm())
    }
  }

  #end(message: string): void {
    this.over()
    this.#controller.abort(socketError('ETIMEDOUT', message))
  }
}
