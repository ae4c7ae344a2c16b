import { dirname, join } from 'node:path'
import { type AcceptedRecords, parseAccepted } from '../../core/accepted/format.ts'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { segmentOf } from '../../core/campaign/segment.ts'
import { acceptCommand } from '../../core/report/actions.ts'
import { readRecording } from '../replay/disk.ts'
import type { RecordingPlace } from '../replay/path.ts'

/** Folder of accepted records and look ledgers beside an eval file. */
export const BASELINES = '__baselines__'

/** Where a committed file of a campaign lies. */
export function baselinePlace(
  root: string,
  { campaignId, file }: Pick<CampaignPlan, 'campaignId' | 'file'>,
  extension: 'jsonl' | 'looks.jsonl' = 'jsonl',
): RecordingPlace {
  return {
    base: dirname(join(root, file)),
    folders: [BASELINES],
    file: `${segmentOf(campaignId)}.${extension}`,
  }
}

/** The same relative to the root, for messages. */
export function baselineName(
  plan: Pick<CampaignPlan, 'campaignId' | 'file'>,
  extension: 'jsonl' | 'looks.jsonl' = 'jsonl',
): string {
  const { folders, file } = baselinePlace('', plan, extension)
  return [...dirname(plan.file).split('/'), ...folders, file].filter((step) => step !== '.').join('/')
}

/** What a gate with `accepted()` compares with: the records and their file. */
export interface Baseline {
  readonly accepted: AcceptedRecords
  readonly text: string
  readonly name: string
}

/**
 * Reads the accepted records of a campaign before anything of it is admitted. Null: the gate needs none, or this run
 * is to become the first accepted one.
 *
 * @param first the environment's EVALS_BASELINE
 * @throws Error where they are missing, broken, of another campaign, or fit nothing of this one
 */
export async function loadBaseline(
  root: string,
  plan: CampaignPlan,
  first: string | undefined,
): Promise<Baseline | null> {
  const { gate, campaignId } = plan
  if (gate?.accepted == null) return null
  const name = baselineName(plan)
  if (first !== undefined && first !== '' && first !== 'new') {
    throw new Error(
      `EVALS_BASELINE=${JSON.stringify(first)} is unknown; the only value is "new": run without accepted records`,
    )
  }
  const firstRun = `run it once with EVALS_BASELINE=new, then ${acceptCommand(campaignId)}, and commit the file`
  const text = await readRecording(baselinePlace(root, plan))
  if (text === null) {
    if (first === 'new') return null
    throw new Error(`its gate compares with accepted records, and ${name} is not there: ${firstRun}`)
  }
  const accepted = parseAccepted(text, name)
  const other = otherCampaign(plan, accepted, name)
  if (other !== null) throw new Error(other)
  const misfit = misfitOf(plan, accepted, name)
  if (misfit === null) return { accepted, text, name }
  // Nothing can be compared with these: that is no way around a comparison.
  if (first === 'new') return null
  throw new Error(`${misfit}; ${firstRun}`)
}

function otherCampaign({ campaignId }: CampaignPlan, { header }: AcceptedRecords, name: string): string | null {
  if (header.campaignId === campaignId) return null
  return `${name} holds the accepted records of campaign ${JSON.stringify(header.campaignId)} (${header.file}): two campaigns share this path, rename one`
}

/** Why not one accepted row can be compared with the campaign as it is now; null where some can. */
function misfitOf(plan: CampaignPlan, { header, records }: AcceptedRecords, name: string): string | null {
  if (header.scorerDigest !== plan.scorerDigest) {
    return `the accepted records in ${name} were scored by other scorers than the campaign has now`
  }
  const wanted = plan.gate?.accepted?.variant ?? null
  const ids = header.variants.map(({ id }) => id)
  const known = wanted === null ? (plan.gate?.candidates ?? []).some((id) => ids.includes(id)) : ids.includes(wanted)
  if (!known) {
    return `${name} has no accepted records of ${wanted === null ? 'any candidate' : `variant ${JSON.stringify(wanted)}`}: it has ${ids.join(', ')}`
  }
  const digests = new Map(plan.scenarios.map(({ id, digest }) => [id, digest as string]))
  if (records.some(({ scenarioId, scenarioDigest }) => digests.get(scenarioId) === scenarioDigest)) return null
  return `not one scenario of the accepted records in ${name} is as it was: all have changed or are gone`
}
