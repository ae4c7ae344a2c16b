import type { Exchange, HeaderList } from '../../core/traffic/exchange.ts'
import { bytesOf } from './body.ts'
import { type Answer, canHaveBody } from './call.ts'
import { AS_RECORDED, type PlayStyle } from './chunks.ts'
import { pause } from './clock.ts'
import { errorOf } from './fault.ts'
import { missOf } from './miss.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'
import { refusal } from './refusal.ts'
import { playback } from './stream.ts'

/** Serves a call from the recording of its cell, or says that it is not there. */
export async function replay(cellCall: CellCall, parts: RecorderParts): Promise<Answer> {
  const { call, cell, role, key, ordinal, keep } = cellCall
  const found = cell.tape?.take(key, ordinal) ?? null
  if (found === null || 'miss' in found) {
    const missed = missOf(cellCall, found, parts)
    cell.miss(missed)
    return refusal(call.url, 'replay_miss', `vitest-campaign: ${missed.message}`)
  }
  keep({ ...found, role, source: found.source === 'mocked' ? 'mocked' : 'replayed' })
  const { traffic } = parts.settings
  const { clock } = parts
  if (traffic.timing === 'recorded') await pause(clock, found.ttfbMs ?? found.totalMs ?? 0, call.signal)
  return served(found, call.url, call.method, call.signal, clock, traffic)
}

/** The answer that a recorded exchange gives to a client. */
export function served(
  { outcome }: Pick<Exchange, 'outcome'>,
  url: string,
  method: string,
  signal: AbortSignal,
  clock: RecorderParts['clock'],
  style: PlayStyle = AS_RECORDED,
): Answer {
  if (outcome.kind === 'fault') return { kind: 'fault', error: errorOf(outcome) }
  const contentType = outcome.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const hasBody = canHaveBody(method, outcome.status)
  return {
    kind: 'response',
    url,
    redirected: false,
    status: outcome.status,
    statusText: outcome.statusText,
    headers: replayedHeaders(outcome.status, outcome.headers, hasBody),
    body: hasBody
      ? playback(bytesOf(outcome.body), outcome.cuts, { clock, signal, end: outcome.end, style, contentType })
      : null,
  }
}

/** Belongs to one connection, or to a body in its encoded form. */
const NOT_REPLAYED: ReadonlySet<string> = new Set(['content-encoding', 'transfer-encoding', 'connection', 'keep-alive'])

function replayedHeaders(status: number, headers: HeaderList, hasBody: boolean): HeaderList {
  const kept = headers.filter(([name]) => !NOT_REPLAYED.has(name) && !(hasBody && name === 'content-length'))
  if (status !== 408 && status !== 409 && status !== 429 && status < 500) return kept
  // There is no limit to wait for in a recording: SDKs repeat the call at once, not after the seconds of that day.
  const unhurried = kept.filter(([name]) => name !== 'retry-after' && name !== 'retry-after-ms')
  return [...unhurried, ['retry-after-ms', '1'], ['retry-after', '0']]
}
