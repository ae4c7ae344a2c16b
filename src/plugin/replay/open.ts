import { dirname, join } from 'node:path'
import { decodeRecording, type Recording } from '../../core/traffic/format.ts'
import type { TrafficPolicy } from '../control.ts'
import { readRecording, readShared } from './disk.ts'
import { type AnswerMock, mockAnswers } from './mock.ts'
import { RECORDINGS, recordingPath, recordingPlace } from './path.ts'
import type { CellTrafficOptions } from './traffic.ts'

/** How a cell is answered. */
export interface OpenedCell {
  readonly mode: 'replayed' | 'live'
  readonly recording: Recording | null
  /** Whether a clean settlement is written down. */
  readonly records: boolean
  readonly mock: AnswerMock | null
}

/**
 * Decides, once and for the whole cell, between its recording and the network.
 *
 * @throws Error for a recording that cannot be read or belongs to another cell, naming file and line
 */
export async function openRecording(options: CellTrafficOptions, policy: TrafficPolicy): Promise<OpenedCell> {
  const mock = await mockAnswers(options.mocks, options.coordinates.campaignId)
  if (policy === 'live' || policy === 'record')
    return { mode: 'live', recording: null, records: policy === 'record', mock }
  const text = await readRecording(recordingPlace(options.evalFile, options.coordinates))
  if (text === null) {
    return policy === 'replay'
      ? { mode: 'replayed', recording: null, records: false, mock }
      : { mode: 'live', recording: null, records: true, mock }
  }
  return { mode: 'replayed', recording: decode(text, options), records: false, mock }
}

function decode(text: string, { evalFile, coordinates }: CellTrafficOptions): Recording {
  const file = recordingPath(evalFile, coordinates)
  const { value, note } = decodeRecording(text, file, (name) => readShared(join(dirname(evalFile), RECORDINGS), name))
  if (note !== null) throw new Error(`${note}. A cell is replayed wholly or not at all: record it again with -u.`)
  for (const key of ['campaignId', 'variantId', 'scenarioId', 'seed'] as const) {
    if (value[key] !== coordinates[key]) {
      throw new Error(
        `${file}:1: the recording says ${key} ${JSON.stringify(value[key])}, but lies where that of ${JSON.stringify(coordinates[key])} belongs. Move it back, or record the cell again with -u.`,
      )
    }
  }
  return value
}
