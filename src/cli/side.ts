import { basename, dirname, resolve } from 'node:path'
import { asAccepted } from '../core/accepted/as-accepted.ts'
import type { Side } from '../core/accepted/differences.ts'
import { type AcceptedRecords, AcceptedRecordsError, parseAccepted } from '../core/accepted/format.ts'
import type { RecordedCampaign } from '../core/journal/recorded.ts'
import { baselinePlace } from '../plugin/pool/baselines.ts'
import { readRecording } from '../plugin/replay/disk.ts'
import { chosen } from './campaigns.ts'
import { type CliContext, CliError } from './command.ts'
import type { OpenRun } from './rebuild.ts'

/** The word for the committed accepted records of a campaign. */
export const ACCEPTED = 'accepted'

/** Accepted records as the first of two things compared: the word, or the path of a file. */
export async function readAccepted(
  context: CliContext,
  given: string,
  { root }: OpenRun,
  { plan }: RecordedCampaign,
): Promise<AcceptedRecords> {
  const path = resolve(context.cwd, given)
  const place =
    given === ACCEPTED ? baselinePlace(root, plan) : { base: dirname(path), folders: [], file: basename(path) }
  const text = await readRecording(place)
  if (text === null)
    throw new CliError(`campaign ${plan.campaignId} has no accepted records: ${place.file} is not there`)
  try {
    const accepted = parseAccepted(text, given === ACCEPTED ? place.file : given)
    if (accepted.header.campaignId === plan.campaignId) return accepted
    throw new CliError(
      `${given} holds records of campaign ${JSON.stringify(accepted.header.campaignId)}, not of ${JSON.stringify(plan.campaignId)}`,
    )
  } catch (error) {
    if (error instanceof AcceptedRecordsError) throw new CliError(error.message, { cause: error })
    throw error
  }
}

/** The records of a run as what another is compared with. */
export function recordsAsAccepted(run: OpenRun, campaign: RecordedCampaign): AcceptedRecords {
  const { plan, fingerprint } = campaign
  const { startedAt, commit } = run.recorded.run
  const records = asAccepted(
    {
      campaignId: plan.campaignId,
      file: plan.file,
      runId: run.runId,
      startedAt,
      commit,
      fingerprint,
      scorerDigest: plan.scorerDigest,
      primary: plan.primary,
    },
    [...run.records(campaign)],
  )
  return { ...records, as: `run ${run.runId}` }
}

export function sideOf({ header, records }: AcceptedRecords, campaign: RecordedCampaign | null): Side {
  return {
    fingerprint: header.fingerprint,
    definitionDigest: campaign?.plan.definitionDigest ?? null,
    scorerDigest: header.scorerDigest,
    primary: header.primary,
    commit: header.commit.sha,
    variants: header.variants,
    scenarios: new Map(records.map(({ scenarioId, scenarioDigest }) => [scenarioId, scenarioDigest])),
    seeds: [...new Set(records.map(({ seed }) => seed))].sort((x, y) => x - y),
  }
}

export function sameCampaign(run: OpenRun, campaign: RecordedCampaign): RecordedCampaign {
  return chosen(run, campaign.plan.campaignId)[0] ?? campaign
}
