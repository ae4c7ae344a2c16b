import type { CapacityBasis } from '../../core/report/capacity.ts'
import type { Admission } from './admission.ts'
import type { CampaignState } from './campaign-state.ts'
import type { RunJournal } from './run-journal.ts'

/** What the campaign has asked of the lanes until now, for its report; journalled, so that the report can be computed again. */
export function journalledCapacity(
  { plan: { campaignId }, failovers, heldMicroUsd: admitted }: CampaignState,
  admission: Admission,
  journal: RunJournal,
): CapacityBasis {
  const lanes = admission.traffic(campaignId)
  // A campaign that was served from recordings has nothing to say.
  if (lanes.length > 0 || admitted.size > 0) journal.appendLazy({ kind: 'lanes', campaignId, lanes: [...lanes] })
  return { lanes, failovers }
}
