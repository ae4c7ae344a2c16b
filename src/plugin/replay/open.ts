import { dirname, join } from 'node:path'
import { decodeCapture, decodeRecording, type Recording } from '../../core/traffic/format.ts'
import type { WorkerSettings } from '../control.ts'
import { findRecording, type LookedFor, readFound, readShared } from './disk.ts'
import { type AnswerMock, mockAnswers } from './mock.ts'
import { RECORDINGS, recordingPath, recordingPlace } from './path.ts'
import { readCapture } from './raw.ts'
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
 * @param lookedFor kept for the cells of one run: their recordings come from before it
 * @throws Error for a recording that cannot be read or belongs to another cell, naming file and line
 */
export function openRecording(
  options: CellTrafficOptions,
  { policy, replayRun }: Pick<WorkerSettings, 'policy' | 'replayRun'>,
  lookedFor: LookedFor,
): OpenedCell | Promise<OpenedCell> {
  const reads = policy === 'replay' || policy === 'new'
  if (reads && replayRun !== null) {
    const recording = captured(options, replayRun)
    return withMocks({ mode: 'replayed', recording, records: false, mock: null }, options)
  }
  const path = reads ? findRecording(recordingPlace(options.evalFile, options.coordinates), lookedFor) : null
  if (path !== null) {
    const recording = decode(readFound(path), options)
    return withMocks({ mode: 'replayed', recording, records: false, mock: null }, options)
  }
  const mode = policy === 'replay' ? 'replayed' : 'live'
  return withMocks({ mode, recording: null, records: policy === 'record' || policy === 'new', mock: null }, options)
}

/** A promise only where there is something to wait for: a campaign has tens of thousands of cells. */
function withMocks(opened: OpenedCell, options: CellTrafficOptions): OpenedCell | Promise<OpenedCell> {
  if (options.mocks.length === 0) return opened
  return mockAnswers(options.mocks, options.coordinates.campaignId).then((mock) => ({ ...opened, mock }))
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

/** What a run captured of the cell, as its recording; null where the cell made no live call in it. */
function captured({ cellId, coordinates }: CellTrafficOptions, runDir: string): Recording | null {
  const capture = readCapture(runDir, cellId)
  if (capture === null) return null
  const { value: exchanges, note } = decodeCapture(capture.text, capture.path)
  if (note !== null) throw new Error(`${note}: the run died in this cell, and a cell is replayed wholly or not at all.`)
  // Attempts at one call share its key and ordinal, and the client saw the last of them.
  const seen = new Map(exchanges.map((exchange) => [`${exchange.ordinal} ${exchange.key}`, exchange]))
  const [first] = exchanges.map(({ startedAt }) => startedAt).sort()
  return first === undefined ? null : { ...coordinates, recordedAt: first, exchanges: [...seen.values()] }
}
