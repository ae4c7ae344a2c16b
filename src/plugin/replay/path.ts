import { dirname, join } from 'node:path'
import type { CellCoordinates } from '../../core/campaign/identity.ts'
import { segmentOf } from '../../core/campaign/segment.ts'

/** Folder of the recordings beside an eval file. */
export const RECORDINGS = '__recordings__'
/** Folder, in that folder, of the bodies that recordings share; no id becomes a segment of this name. */
export const BODIES = '_bodies'

/** Where the recording of a cell lies: the folder it must not leave, the folders below it, and the file. */
export interface RecordingPlace {
  /** Folder of the eval file. */
  readonly base: string
  readonly folders: readonly string[]
  readonly file: string
}

export function recordingPlace(evalFile: string, cell: CellCoordinates): RecordingPlace {
  return {
    base: dirname(evalFile),
    folders: [RECORDINGS, segmentOf(cell.campaignId), segmentOf(cell.variantId), segmentOf(cell.scenarioId)],
    file: `${cell.seed}.jsonl`,
  }
}

/** Absolute path of the recording of a cell. */
export function recordingPath(evalFile: string, cell: CellCoordinates): string {
  const { base, folders, file } = recordingPlace(evalFile, cell)
  return join(base, ...folders, file)
}
