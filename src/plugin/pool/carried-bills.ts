import type { EarlierAttempt } from '../../core/capacity/carried.ts'
import type { EarlierRun } from '../../core/journal/earlier.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import { toUsd } from '../../core/record/usage.ts'
import type { CarriedFiles } from './carried-files.ts'

/**
 * What carried cells were charged. Where nobody knows it: what is known of their calls, and as unknown what the others may
 * have cost, no less than what was held for the cell.
 */
export async function carriedBills(
  cellIds: Iterable<string>,
  cells: EarlierRun['cells'],
  files: CarriedFiles,
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
    let bound = 0
    // A run that carried the cell over itself has its captures, and no line of its admission.
    for (let attempt = 1; attempt <= record.attempts; attempt++) {
      const spend = spendOf(await files.capture(cellId, attempt), prices)
      known += spend.microUsd
      bound += spend.boundMicroUsd ?? 0
    }
    const unknown = Math.max(bound, held - known)
    bills.push({ heldMicroUsd: null, usd: toUsd(known) }, { heldMicroUsd: unknown, usd: undefined })
  }
  return bills
}
