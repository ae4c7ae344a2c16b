import type { Admission } from './admission.ts'
import type { CampaignState } from './campaign-state.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * Puts down what is kept for the cells whose bill nobody knows, in place of what was held when they began: a first cell
 * holds a large part of the budget. Journalled, so that the report can be computed again.
 */
export function keepUnknownBills(state: CampaignState, admission: Admission, journal: RunJournal): void {
  for (const [cellId, keptMicroUsd] of admission.unknownBills(state.plan.campaignId)) {
    if (state.heldMicroUsd.get(cellId) === keptMicroUsd) continue
    state.heldMicroUsd.set(cellId, keptMicroUsd)
    journal.appendLazy({ kind: 'bill', cellId, keptMicroUsd })
  }
}
