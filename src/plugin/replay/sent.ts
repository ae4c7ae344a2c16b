import { requestBound, requestTokens } from '../../core/capacity/request.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import type { Body } from '../../core/traffic/exchange.ts'
import { parseJson } from '../../core/traffic/wire/peek.ts'
import { type RequestReading, readRequest } from '../../core/traffic/wire/read.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'

/**
 * Marks in the raw capture that a request to a model provider is about to leave: from here on it may be billed, whatever
 * becomes of this process.
 *
 * @throws Error when the mark cannot be written: then the request must not leave
 */
export function markSent({ cell, role, request, key, ordinal }: CellCall, { clock, settings }: RecorderParts): void {
  const reading = readRequest(request)
  if (reading === null) return
  const at = clock.instant()
  cell.mark({ role, key, ordinal, at, boundMicroUsd: boundOf(reading, request.body, new Date(at), settings.prices) })
}

/** Of bytes that are no text (audio) the size says nothing. */
function boundOf(reading: RequestReading, body: Body, at: Date, prices: PriceOverrides): number | null {
  if (body === null || !('text' in body)) return null
  return requestBound(reading, reading.lane, requestTokens(body.text, parseJson(body.text)), at, prices)
}
