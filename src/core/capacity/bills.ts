import type { MicroUsd } from '../record/usage.ts'

/** What one cell took from its budgets, over all its attempts. */
export interface Bill {
  readonly campaignId: string
  /** Charged, and kept for calls whose bill nobody knows. */
  microUsd: MicroUsd
  /** Some of it is kept. */
  unknown: boolean
}

/** The bills of the cells that a budget binds: a lease only says what was held for one when it began. */
export class Bills {
  readonly #byCell = new Map<string, Bill>()

  /** The cell's; a later attempt goes on with it. */
  of(cellId: string, campaignId: string): Bill {
    let bill = this.#byCell.get(cellId)
    if (bill === undefined) {
      bill = { campaignId, microUsd: 0, unknown: false }
      this.#byCell.set(cellId, bill)
    }
    return bill
  }

  /** The cells of a campaign whose bill nobody knows, and what is charged and kept for each. */
  *unknown(campaignId: string): Generator<readonly [cellId: string, microUsd: MicroUsd]> {
    for (const [cellId, bill] of this.#byCell) {
      if (bill.unknown && bill.campaignId === campaignId) yield [cellId, bill.microUsd]
    }
  }
}
