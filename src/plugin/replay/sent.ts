import { requestBound, requestSize } from '../../core/capacity/request.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import type { ExchangeRequest } from '../../core/traffic/exchange.ts'
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
  cell.mark({ role, key, ordinal, at, boundMicroUsd: boundOf(reading, request, new Date(at), settings.prices) })
}

function boundOf(reading: RequestReading, request: ExchangeRequest, at: Date, prices: PriceOverrides): number | null {
  const { tokens, mostInput } = requestSize(request)
  return requestBound(reading, reading.lane, { ...tokens, input: mostInput }, at, prices)
}
