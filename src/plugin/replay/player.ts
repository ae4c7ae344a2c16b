import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Exchange } from '../../core/traffic/exchange.ts'
import { decodeRecording, type Recording } from '../../core/traffic/format.ts'
import { matchKey } from '../../core/traffic/match.ts'
import { createRedactor } from '../../core/traffic/redact.ts'
import { createTape, type TapeMiss } from '../../core/traffic/tape.ts'
import { bodyOf } from './body.ts'
import type { Call } from './call.ts'
import { readShared } from './disk.ts'
import { RECORDINGS } from './path.ts'

/** A recording, or where its file lies. */
export type RecordingSource = Recording | string | URL

/** Finds the recorded answer to a request; each is found once. */
export type Player = (call: Call) => Promise<Exchange | TapeMiss>

/**
 * @throws RecordingError for a file that is no whole recording
 */
export function createPlayer(source: RecordingSource): Player {
  const recording = typeof source === 'string' || source instanceof URL ? read(source) : source
  const tape = createTape(recording.exchanges)
  const redactor = createRedactor({ env: process.env })
  return async ({ method, url, headers, body }) => {
    const { request } = redactor.request({ method, url, headers, body: bodyOf(await body()) })
    return tape.take(matchKey(request).key)
  }
}

function read(source: string | URL): Recording {
  const file = source instanceof URL || source.startsWith('file:') ? fileURLToPath(source) : source
  // Where the recording of a cell lies, the bodies it shares lie above it.
  const recordings = resolve(file, '../../../..')
  const open = (name: string) => (basename(recordings) === RECORDINGS ? readShared(recordings, name) : null)
  return decodeRecording(readFileSync(file, 'utf8'), file, open).value
}
