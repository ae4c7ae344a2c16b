/**
 * Requests do not arrive as evenly as they leave: so much of the burst is left alone, in seconds of the limit, a quarter
 * of it at least. The rate is not lower for that.
 */
const MARGIN_SECONDS = 0.5
const MARGIN_SHARE = 0.25

/**
 * A limit per minute as a bucket: so many seconds' worth of it may leave at once, and then no more than flows in. What
 * is larger than the whole bucket goes when it is full, and leaves a debt.
 */
export class Bucket {
  readonly #perMs: number
  readonly #capacity: number
  #level: number
  #at = 0

  /** @param seconds how much of the limit is taken at once, in seconds of it */
  constructor(limitPerMinute: number, seconds: number) {
    this.#perMs = limitPerMinute / 60_000
    this.#capacity = Math.max(
      1,
      (limitPerMinute / 60) * (seconds - Math.min(seconds / 2, Math.max(MARGIN_SECONDS, seconds * MARGIN_SHARE))),
    )
    this.#level = this.#capacity
  }

  /** When so much may leave: `now`, or later. */
  freeAt(weight: number, now: number): number {
    this.#flow(now)
    const missing = Math.min(weight, this.#capacity) - this.#level
    return missing <= 0 ? now : Math.max(now + 1, Math.ceil(now + missing / this.#perMs))
  }

  /** Negative: it comes back. */
  take(weight: number, now: number): void {
    this.#flow(now)
    this.#level = Math.min(this.#capacity, this.#level - weight)
  }

  #flow(now: number): void {
    this.#level = Math.min(this.#capacity, this.#level + Math.max(0, now - this.#at) * this.#perMs)
    this.#at = Math.max(this.#at, now)
  }
}
