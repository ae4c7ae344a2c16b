import type { EarlierAttempt } from '../../core/capacity/carried.ts'
import type { EarlierRun } from '../../core/journal/earlier.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import { type MicroUsd, toUsd } from '../../core/record/usage.ts'
import type { CarriedFiles } from './carried-files.ts'

/**
 * What carried cells were charged. Where nobody knows it: what is known of their calls, and as unknown what the others may
 * have cost, else what was held for the cell.
 *
 * @param trusted the captures are whole
 */
export async function carriedBills(
  cellIds: Iterable<string>,
  cells: EarlierRun['cells'],
  files: CarriedFiles,
  trusted: boolean,
  prices: PriceOverrides,
): Promise<readonly EarlierAttempt[]> {
  const bills: EarlierAttempt[] = []
  for (const cellId of cellIds) {
    const { record = null, admitted = [] } = cells.get(cellId) ?? {}
    if (record === null) continue
    if (record.microUsd !== null) {
      bills.push({ heldMicroUsd: null, usd: toUsd(record.microUsd) })
      continue
    }
    // With it comes the price list.
    const { spendOf } = await import('../../core/record/spend.ts')
    const held = admitted.reduce((sum, { heldMicroUsd }) => sum + (heldMicroUsd ?? 0), 0)
    let known = 0
    let unknownCalls = 0
    let bound: MicroUsd | null = 0
    // A run that carried the cell over itself has its captures, and no line of its admission.
    for (let attempt = 1; attempt <= record.attempts; attempt++) {
      const spend = spendOf(await files.capture(cellId, attempt), prices)
      known += spend.microUsd
      unknownCalls += spend.unknownCalls
      bound = bound === null || spend.boundMicroUsd === null ? null : bound + spend.boundMicroUsd
    }
    // A first cell holds a large part of the budget: only where nothing else bounds its calls is that what they may cost.
    const unknown = trusted && unknownCalls > 0 && bound !== null ? bound : Math.max(bound ?? 0, held - known)
    bills.push({ heldMicroUsd: null, usd: toUsd(known) }, { heldMicroUsd: unknown, usd: undefined })
  }
  return bills
}
