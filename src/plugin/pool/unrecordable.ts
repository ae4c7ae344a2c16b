import { join } from 'node:path'
import type { CampaignPlan, PlannedCell } from '../../core/campaign/plan.ts'
import type { TrafficPolicy } from '../control.ts'
import { checkWritable, findRecording } from '../replay/disk.ts'
import { type RecordingPlace, recordingPlace } from '../replay/path.ts'

/**
 * Why recordings that this run would make could not be kept, and what to do; null where they can be, or none is made.
 *
 * @param cells of the campaign that are run here
 */
export async function unrecordable(
  root: string,
  plan: CampaignPlan,
  traffic: TrafficPolicy,
  cells: Iterable<PlannedCell>,
): Promise<string | null> {
  if (plan.capture === 'off' || (traffic !== 'record' && traffic !== 'new')) return null
  for (const { variant, scenario, seed } of cells) {
    const { campaignId } = plan
    const coordinates = { campaignId, variantId: variant.id, scenarioId: scenario.id, seed }
    const place = recordingPlace(join(root, plan.file), coordinates)
    try {
      // Below the campaign's folder nobody but us makes any.
      await checkWritable({ base: place.base, folders: place.folders.slice(0, 2) })
      return null
    } catch (error) {
      // What has its recording is replayed, and nothing is written.
      if (traffic === 'new' && isRecorded(place)) continue
      const why = error instanceof Error ? error.message : String(error)
      return `${why}. Nothing of it was started; free the disk or its rights, or set mode: 'live' to keep no recordings`
    }
  }
  return null
}

function isRecorded(place: RecordingPlace): boolean {
  try {
    return findRecording(place) !== null
  } catch {
    // Something is in the way of the recording, and was said.
    return false
  }
}
