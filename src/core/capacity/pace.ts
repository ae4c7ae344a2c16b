import { Bucket } from './bucket.ts'
import { MinuteWindow, type Use } from './window.ts'

/**
 * A request that leaves later than it was let go shares its minute, or its burst, with those that were let go after it. Half
 * of the margin that window and bucket keep is for that, the other half for its way.
 */
export const LEAVE_WITHIN_MS = 250

/** A limit per minute: at most so many units in any 60 seconds, and where it is a bucket, no more than that lets out. */
export class Pace {
  readonly #window: MinuteWindow
  readonly #bucket: Bucket | null

  /** @param burstSeconds how much of the limit is taken at once; null: all of it */
  constructor(limit: number, burstSeconds: number | null) {
    this.#window = new MinuteWindow(limit)
    this.#bucket = burstSeconds === null ? null : new Bucket(limit, burstSeconds)
  }

  get limit(): number {
    return this.#window.limit
  }

  usedAt(now: number): number {
    return this.#window.usedAt(now)
  }

  /** When it is worth asking again; null: so much may leave now. */
  waitsUntil(weight: number, now: number): number | null {
    const fits = this.#window.fits(weight, now)
    const free = this.#bucket?.freeAt(weight, now) ?? now
    if (fits && free <= now) return null
    return Math.max(free, fits ? now : (this.#window.next() ?? now))
  }

  take(weight: number, now: number): Use {
    this.#bucket?.take(weight, now)
    return this.#window.take(weight, now)
  }

  /**
   * It never left. The minute has it back; the bucket has not: what was let go beside it may be as late, and each would make
   * room for one more that leaves with all of them.
   */
  unsent(use: Use, now: number): void {
    this.#window.correct(use, 0, now)
  }

  /** What a use really weighed, told later. */
  correct(use: Use, weight: number, now: number): void {
    this.#bucket?.take(weight - use.weight, now)
    this.#window.correct(use, weight, now)
  }
}
