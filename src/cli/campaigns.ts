import { nearest } from '../core/campaign/options.ts'
import type { RecordedCampaign } from '../core/journal/recorded.ts'
import { CliError } from './command.ts'
import type { OpenRun } from './rebuild.ts'

/**
 * The campaigns of a run that the user means: the named one, or all.
 *
 * @throws CliError for a run without campaigns, and for a name that none of them has
 */
export function chosen(run: OpenRun, id: string | undefined): readonly RecordedCampaign[] {
  const { campaigns, problems } = run.recorded
  if (campaigns.length === 0) {
    const why = problems.length === 0 ? 'it ended before an eval file was collected' : problems[0]?.text
    throw new CliError(`run ${run.runId} holds no campaign: ${why}. Name an earlier run`)
  }
  if (id === undefined) return campaigns
  const found = campaigns.find(({ plan }) => plan.campaignId === id)
  if (found !== undefined) return [found]
  const ids = campaigns.map(({ plan }) => plan.campaignId)
  const near = nearest(id, ids)
  const hint = near === null ? `it has ${ids.join(', ')}` : `did you mean ${JSON.stringify(near)}?`
  throw new CliError(`run ${run.runId} has no campaign ${JSON.stringify(id)}: ${hint}`)
}
