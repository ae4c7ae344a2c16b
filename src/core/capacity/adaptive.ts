/** A full round of answers raises the limit by this share of the cap, and by one at least. */
const STEP = 1 / 8

/**
 * How many requests a lane may have in flight now: halved when the provider throttles, raised by a fixed step for every
 * full round of answers, never above the declared cap and never below one (additive increase, multiplicative decrease).
 */
export class AdaptiveConcurrency {
  readonly cap: number
  readonly #step: number
  #window: number
  /** Requests granted so far; the age of a request is its number. */
  #granted = 0
  /** A refusal of a request older than this tells of the moment before the last decrease: it counts once. */
  #decreasedAt = 0

  constructor(cap: number) {
    this.cap = cap
    this.#step = Math.max(1, cap * STEP)
    this.#window = cap
  }

  get limit(): number {
    return Math.floor(this.#window)
  }

  grant(): number {
    return ++this.#granted
  }

  /** @returns true when the limit grew */
  answered(): boolean {
    const before = this.limit
    this.#window = Math.min(this.cap, this.#window + this.#step / this.#window)
    return this.limit > before
  }

  throttled(age: number): void {
    if (age <= this.#decreasedAt) return
    this.#window = Math.max(1, this.#window / 2)
    this.#decreasedAt = this.#granted
  }
}
