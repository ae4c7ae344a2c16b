import type { MicroUsd } from '../record/usage.ts'

/** An estimate is this many times the largest charge seen. */
const ESTIMATE_FACTOR = 2

/** What cells of one lane and role are charged, as far as this run knows. */
export class CostKey {
  /** For messages: `its judge (openai/gpt-5)`. */
  readonly who: string
  /** The declared bound of one cell, or null. */
  readonly #declared: MicroUsd | null
  /** Nothing is ever paid here. */
  readonly free: boolean
  /** It is a variant's whose lane nobody knew. */
  readonly isVariant: boolean
  /** The largest charge of one cell; null before the first. */
  #largest: MicroUsd | null = null
  /** The largest charge of one call; null before the first that cost anything. */
  #largestCall: MicroUsd | null = null
  /** The least that a request was refused for which no budget could ever pay; null: none was. */
  #refused: MicroUsd | null = null
  /** A cell ended here without a single call: there may be nothing to pay. */
  #idle = false
  /** The first cell is in flight, and the others wait for its bill. */
  probing = false

  constructor(who: string, declared: MicroUsd | null, free: boolean, isVariant: boolean) {
    this.who = who
    this.isVariant = isVariant
    this.#declared = declared
    this.free = free
  }

  /** What to hold for one cell; null while nobody knows. */
  get estimate(): MicroUsd | null {
    if (this.free) return 0
    if (this.#declared !== null) return this.#declared
    if (this.#largest !== null) return this.#largest * ESTIMATE_FACTOR
    return this.#refused ?? (this.#idle ? 0 : null)
  }

  /** What one call is taken to cost at most; null while nobody knows. */
  get callEstimate(): MicroUsd | null {
    return this.#largestCall === null ? null : this.#largestCall * ESTIMATE_FACTOR
  }

  /** A request of a cell was refused that may cost so much: the next cell is taken to need no less. */
  refuse(need: MicroUsd): void {
    this.#refused = Math.min(this.#refused ?? need, need)
  }

  observeCall(microUsd: MicroUsd): void {
    if (microUsd > 0) this.#largestCall = Math.max(this.#largestCall ?? 0, microUsd)
  }

  /** A cell's bill. One of 0 for calls that were made (all refused) says nothing of the next. */
  observe(microUsd: MicroUsd, calls: number): void {
    if (calls === 0) this.#idle = true
    else if (microUsd > 0) this.#largest = Math.max(this.#largest ?? 0, microUsd)
  }
}
