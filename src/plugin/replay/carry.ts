import { hostOf } from '../../core/traffic/wire/hosts.ts'
import { readRequest } from '../../core/traffic/wire/read.ts'
import { type Answer, sentHeaders } from './call.ts'
import { exchangeOf, NO_BODY, responseOf } from './exchange.ts'
import { errorOf, faultOf } from './fault.ts'
import { placeholdersIn } from './keys.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'
import { refusal, refuseLate } from './refusal.ts'
import { type CapturedBody, tee } from './stream.ts'
import type { UpstreamResponse } from './upstream.ts'
import { linkedController, orAborted } from './wait.ts'

/** Carries a live call of a cell: admission, permit, network; what comes back is handed on and kept. */
export async function carry(cellCall: CellCall, parts: RecorderParts): Promise<Answer> {
  const { call, cell, role, request, bytes } = cellCall
  const { method, url } = request
  const missing = placeholdersIn(call, parts.settings.placeholderKeys)
  if (missing.length > 0) {
    for (const name of missing) cell.missingKey(name)
    return refusal(call.url, 'missing_key', missingKeyMessage(method, url, missing))
  }
  const lane = laneOf(call.url, request)
  const controller = linkedController([call.signal, cell.options.signal, cell.endSignal])
  const { signal } = controller
  const ended = cell.begin({ role, method, url })
  let giveBack = () => {}
  function over(): void {
    controller.unlink()
    giveBack()
    ended()
  }

  try {
    await orAborted(cell.admit(lane), signal)
    if (lane !== null) giveBack = await cell.permit(lane, signal)
    signal.throwIfAborted()
    // It waited, and its cell did not wait for it.
    if (cell.closed) {
      over()
      return refuseLate(call, cell, role, parts)
    }
  } catch (error) {
    over()
    if (signal.aborted) return { kind: 'fault', error: abortError(signal.reason) }
    const why = error instanceof Error ? error.message : String(error)
    return refusal(
      call.url,
      'not_admitted',
      `vitest-campaign: ${method} ${url} was not sent, because the run did not admit it: ${why}`,
    )
  }

  const startedAt = parts.clock.instant()
  const begun = parts.clock.now()
  let response: UpstreamResponse
  try {
    response = await parts.upstream.send({
      method: call.method,
      url: call.url,
      headers: sentHeaders(call),
      body: bytes,
      signal,
      via: call.via,
    })
  } catch (error) {
    over()
    const fault = faultOf(error, signal.aborted)
    const times = { startedAt, ttfbMs: null, totalMs: parts.clock.now() - begun }
    cellCall.keep(exchangeOf(cellCall, 'live', fault, times, parts.redactor))
    return { kind: 'fault', error: signal.aborted ? abortError(signal.reason) : errorOf(fault) }
  }

  const ttfbMs = parts.clock.now() - begun
  function onEnd(captured: CapturedBody): void {
    over()
    const times = { startedAt, ttfbMs, totalMs: parts.clock.now() - begun }
    cellCall.keep(exchangeOf(cellCall, 'live', responseOf(response, captured), times, parts.redactor))
  }
  const { status, statusText, headers, body } = response
  if (body === null) onEnd(NO_BODY)
  return {
    kind: 'response',
    url: call.url,
    redirected: false,
    status,
    statusText,
    headers,
    body: body === null ? null : tee(body, { clock: parts.clock, signal, abort: () => controller.abort(), onEnd }),
  }
}

/** The lane a request is paced in: a known provider's, or of an API that a local or gateway host speaks. */
function laneOf(url: string, request: CellCall['request']): string | null {
  const read = readRequest(request)
  if (read !== null) return read.lane
  const host = hostOf(new URL(url))
  return host === null ? null : `${host.provider}/unknown`
}

/** Which variables to set, for the client and the report. */
export function missingKeyMessage(method: string, url: string, names: readonly string[]): string {
  const is = names.length === 1 ? 'is' : 'are'
  return `vitest-campaign: ${method} ${url} was not sent: ${names.join(' and ')} ${is} not set and a placeholder stands in its place. Set it (the environment or a .env file of the root) to go live, or replay recordings with EVALS_MODE=replay.`
}

/** What a client that did not abort itself is told when its cell did: an abort, which no SDK retries. */
function abortError(reason: unknown): Error {
  return reason instanceof Error && reason.name === 'AbortError'
    ? reason
    : new DOMException(reason instanceof Error ? reason.message : 'This operation was aborted', 'AbortError')
}
