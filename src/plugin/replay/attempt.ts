import type { Readable } from 'node:stream'
import type { Exchange, ExchangeFault } from '../../core/traffic/exchange.ts'
import { type AnsweredResponse, sentHeaders } from './call.ts'
import { exchangeOf, NO_BODY, responseOf } from './exchange.ts'
import { faultOf } from './fault.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'
import { markSent } from './sent.ts'
import { type CapturedBody, tee } from './stream.ts'
import type { UpstreamResponse } from './upstream.ts'
import { WireWatch } from './wire-watch.ts'

/** A live call under way. */
export interface Flight {
  readonly cellCall: CellCall
  readonly parts: RecorderParts
  /** Aborted when the client, or its cell, gives up; aborting it ends the connection. */
  readonly controller: AbortController
  /** What the request is paced in; null: it goes to no model provider. */
  readonly lane: string | null
  /** Call it once, when nothing of the call is open any more. */
  readonly over: () => void
}

/** One try on the wire: a fault, or a response whose body is on its way. */
export type Attempt = { readonly startedAt: string; readonly begun: number } & (
  | { readonly kind: 'fault'; readonly fault: ExchangeFault }
  | {
      readonly kind: 'response'
      readonly response: UpstreamResponse
      readonly ttfbMs: number
      readonly watch: WireWatch | null
    }
)
export type Arrived = Extract<Attempt, { kind: 'response' }>

export async function send(flight: Flight): Promise<Attempt> {
  const { cellCall, parts, controller } = flight
  const { call, bytes } = cellCall
  markSent(cellCall, parts)
  const watch = watchOf(flight)
  const startedAt = parts.clock.instant()
  const begun = parts.clock.now()
  try {
    const response = await parts.upstream.send({
      method: call.method,
      url: call.url,
      headers: sentHeaders(call),
      body: bytes,
      signal: watch?.signal ?? controller.signal,
      via: call.via,
    })
    watch?.progress()
    return { kind: 'response', response, startedAt, begun, ttfbMs: parts.clock.now() - begun, watch }
  } catch (error) {
    watch?.over()
    return { kind: 'fault', fault: faultOf(error, controller.signal.aborted), startedAt, begun }
  }
}

/** A tool may keep a stream open for as long as it likes: it holds no permit that others wait for. */
function watchOf({ cellCall: { cell }, parts, controller, lane }: Flight): WireWatch | null {
  if (lane === null) return null
  const { variantId, scenarioId, seed } = cell.options.coordinates
  const of = `cell ${variantId} > ${scenarioId} > seed ${seed} in lane ${lane}`
  const { stallTimeoutMs: stallMs } = parts.settings
  return new WireWatch(controller.signal, { stallMs, totalMs: cell.options.timeoutMs, of }, parts.clock)
}

export function faultExchange(
  { cellCall, parts }: Flight,
  { fault, startedAt, begun }: Extract<Attempt, { kind: 'fault' }>,
  retried: number,
): Exchange {
  const times = { startedAt, ttfbMs: null, totalMs: parts.clock.now() - begun }
  return exchangeOf(cellCall, 'live', fault, times, parts.redactor, retried)
}

export function responseExchange(
  { cellCall, parts }: Flight,
  { response, startedAt, begun, ttfbMs }: Arrived,
  captured: CapturedBody,
  retried: number,
): Exchange {
  const times = { startedAt, ttfbMs, totalMs: parts.clock.now() - begun }
  return exchangeOf(cellCall, 'live', responseOf(response, captured), times, parts.redactor, retried)
}

/** Hands the response on while its body arrives. `onEnd` is called once, when the body is over. */
export function handOn(
  flight: Flight,
  { response, watch }: Arrived,
  onEnd: (captured: CapturedBody) => void,
): AnsweredResponse {
  const { status, statusText, headers, body } = response
  if (body === null) {
    watch?.over()
    onEnd(NO_BODY)
  }
  return {
    kind: 'response',
    url: flight.cellCall.call.url,
    redirected: false,
    status,
    statusText,
    headers,
    body: body === null ? null : teeOf(flight, body, watch, onEnd),
  }
}

/** Reads the body to its end: of an error, which must be known before it is decided upon. */
export async function readWhole(flight: Flight, { response: { body }, watch }: Arrived): Promise<CapturedBody> {
  if (body === null) {
    watch?.over()
    return NO_BODY
  }
  return new Promise((resolve) => {
    const reader = teeOf(flight, body, watch, resolve).getReader()
    const read = async () => {
      while (!(await reader.read()).done);
    }
    // However it ends, `resolve` is told.
    read().catch(() => {})
  })
}

function teeOf(
  { parts, controller }: Flight,
  body: Readable,
  watch: WireWatch | null,
  onEnd: (captured: CapturedBody) => void,
) {
  const { signal } = controller
  return tee(body, { clock: parts.clock, signal, watch, abort: () => controller.abort(), onEnd })
}
