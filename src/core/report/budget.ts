import type { BudgetSnapshot } from '../capacity/snapshot.ts'
import type { RunRecord } from '../record/record.ts'
import { type MicroUsd, toMicroUsd, toUsd, usdText } from '../record/usage.ts'
import type { ReportInput } from './report.ts'

/** What is known of a campaign's money beside its records. */
export interface BudgetBasis {
  /** Of the campaign itself; null: it has no budget of its own. */
  readonly limitMicroUsd: MicroUsd | null
  /** Of the run it is part of; null: none. */
  readonly runLimitMicroUsd: MicroUsd | null
  /**
   * What was held for each cell that bought something, over all its attempts, or is kept for one whose bill nobody knows;
   * 0 where no budget was set.
   */
  readonly held: ReadonlyMap<string, MicroUsd>
  /** Cells that were started and have not ended, in a run that goes on or was killed. */
  readonly open: ReadonlySet<string>
  /** Cells whose bill a person settled: their records say it. */
  readonly reconciled: ReadonlySet<string>
}

/** What a campaign spent under its budgets. Replayed cells spend nothing. */
export interface BudgetReport {
  /** The campaign's own budget; null: none. */
  readonly usd: number | null
  /** The budget of the whole run; null: none. */
  readonly runUsd: number | null
  /** Bills that are known. */
  readonly spentUsd: number
  /** Kept for cells that have not ended. */
  readonly heldUsd: number
  /** Kept for cells whose bill nobody knows. */
  readonly unknownUsd: number
  readonly unknownCells: number
  /** Cells whose bill was settled by hand; it is in `spentUsd`. */
  readonly reconciledCells: number
  /** Spent and kept beyond the campaign's own budget. */
  readonly overUsd: number
}

/**
 * Where the budget of a run stood when it ended, in words. A report says what its campaign spent; what all of them did is
 * known only then.
 */
export function runBudgetText({
  limitMicroUsd,
  chargedMicroUsd,
  heldMicroUsd,
  unknownMicroUsd,
  unknownCalls,
  overshootMicroUsd,
}: Omit<BudgetSnapshot, 'campaignId'>): string {
  const calls = unknownCalls === 1 ? '1 call' : `${unknownCalls} calls`
  return [
    `budget of the run: ${usdText(chargedMicroUsd)} spent of ${usdText(limitMicroUsd)}`,
    `${usdText(heldMicroUsd)} held`,
    unknownCalls === 0 && unknownMicroUsd === 0
      ? 'no bill unknown'
      : `${usdText(unknownMicroUsd)} kept for ${calls} whose bill nobody knows (vitest-campaign reconcile)`,
    ...(overshootMicroUsd === 0 ? [] : [`${usdText(overshootMicroUsd)} charged beyond what was held`]),
  ].join(', ')
}

/** Null where no budget was set and nobody settled a bill. */
export function budgetOf(basis: ReportInput['budget'], records: Iterable<RunRecord>): BudgetReport | null {
  if (basis == null) return null
  const { limitMicroUsd, runLimitMicroUsd, held, open, reconciled } = basis
  if (limitMicroUsd === null && runLimitMicroUsd === null && reconciled.size === 0) return null
  let spent = 0
  let kept = 0
  let unknown = 0
  let unknownCells = 0
  for (const { cellId, cost } of records) {
    const hold = held.get(cellId)
    if (hold === undefined) continue
    if (cost.usd !== null) {
      spent += toMicroUsd(cost.usd)
    } else if (open.has(cellId)) {
      kept += hold
    } else {
      unknown += hold
      unknownCells++
    }
  }
  const over = limitMicroUsd === null ? 0 : Math.max(0, spent + kept + unknown - limitMicroUsd)
  return {
    usd: limitMicroUsd === null ? null : toUsd(limitMicroUsd),
    runUsd: runLimitMicroUsd === null ? null : toUsd(runLimitMicroUsd),
    spentUsd: toUsd(spent),
    heldUsd: toUsd(kept),
    unknownUsd: toUsd(unknown),
    unknownCells,
    reconciledCells: reconciled.size,
    overUsd: toUsd(over),
  }
}
