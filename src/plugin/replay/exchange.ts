import type { Exchange, ExchangeFault, ExchangeResponse } from '../../core/traffic/exchange.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import { addRedactions } from '../../core/traffic/redaction/spans.ts'
import { bodyOf } from './body.ts'
import type { CellCall } from './recorder.ts'
import type { CapturedBody } from './stream.ts'
import type { UpstreamResponse } from './upstream.ts'

/** What a call came to, as it is kept: redacted, with the milliseconds it took. */
export function exchangeOf(
  { role, key, ordinal, request, redactions }: CellCall,
  source: Exchange['source'],
  outcome: ExchangeResponse | ExchangeFault,
  { startedAt, ttfbMs, totalMs }: Pick<Exchange, 'startedAt' | 'ttfbMs'> & { readonly totalMs: number },
  redactor: Redactor,
  retried = 0,
): Exchange {
  const clean = redactedOutcome(outcome, redactor)
  return {
    role,
    key,
    ordinal,
    request,
    outcome: clean.outcome,
    source,
    startedAt,
    ttfbMs: ttfbMs === null ? null : Math.round(ttfbMs),
    totalMs: Math.round(totalMs),
    redactions: addRedactions(redactions, clean.redactions),
    retried,
  }
}

function redactedOutcome(outcome: ExchangeResponse | ExchangeFault, redactor: Redactor) {
  if (outcome.kind === 'fault') {
    const { fault, redactions } = redactor.fault(outcome)
    return { outcome: fault, redactions }
  }
  const { response, redactions } = redactor.response(outcome)
  return { outcome: response, redactions }
}

/** A captured response, not yet redacted. */
export function responseOf(
  { status, statusText, headers }: Pick<UpstreamResponse, 'status' | 'statusText' | 'headers'>,
  { bytes, cuts, end }: CapturedBody,
): ExchangeResponse {
  return { kind: 'response', status, statusText, headers, body: bodyOf(bytes), cuts, end }
}

/** The end of a response that has no body. */
export const NO_BODY: CapturedBody = { bytes: new Uint8Array(), cuts: [], end: { kind: 'complete' } }
