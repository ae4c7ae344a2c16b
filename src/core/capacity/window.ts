import { Queue } from './queue.ts'

/** What a limit per minute counts over. */
export const WINDOW_MS = 60_000

/**
 * Added to the window: requests do not arrive as evenly as they leave, and one that was late by this much must not
 * share a minute with one that leaves a minute later.
 */
const MARGIN_MS = 500

export interface Use {
  readonly at: number
  weight: number
}

/**
 * At most so many units in any 60 seconds, wherever the minute is laid.
 *
 * A bucket that holds a minute's worth and refills all the time lets up to two minutes' worth through in its first
 * minute, and a provider that counts by the minute refuses the rest. What fits this window also fits such a bucket.
 */
export class MinuteWindow {
  readonly limit: number
  readonly #uses = new Queue<Use>()
  #used = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  usedAt(now: number): number {
    this.#expire(now)
    return this.#used
  }

  /** More than the limit fits once nothing else is in the window: waiting longer would change nothing. */
  fits(weight: number, now: number): boolean {
    this.#expire(now)
    return this.#used + Math.min(weight, this.limit) <= this.limit
  }

  take(weight: number, now: number): Use {
    const use = { at: now, weight }
    this.#uses.push(use)
    this.#used += weight
    return use
  }

  /** What a use really weighed, told later. */
  correct(use: Use, weight: number, now: number): void {
    this.#expire(now)
    if (this.#leaves(use) > now) this.#used += weight - use.weight
    use.weight = weight
  }

  /** When the next use leaves the window; null when it is empty. */
  next(): number | null {
    const head = this.#uses.peek()
    return head === undefined ? null : this.#leaves(head)
  }

  #expire(now: number): void {
    for (let head = this.#uses.peek(); head !== undefined && this.#leaves(head) <= now; head = this.#uses.peek()) {
      this.#uses.shift()
      this.#used -= head.weight
    }
  }

  #leaves(use: Use): number {
    return use.at + WINDOW_MS + MARGIN_MS
  }
}
