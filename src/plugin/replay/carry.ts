import { hostOf } from '../../core/traffic/wire/hosts.ts'
import { readRequest } from '../../core/traffic/wire/read.ts'
import { type Flight, faultExchange, handOn, responseExchange, send } from './attempt.ts'
import type { Answer } from './call.ts'
import { faultAnswer } from './fault.ts'
import { placeholdersIn } from './keys.ts'
import { notRecorded, paced } from './paced.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'
import { notAdmitted, refusal, refuseLate } from './refusal.ts'
import { linkedController, orAborted } from './wait.ts'

/** Carries a live call of a cell: admission, permit, network; what comes back is handed on and kept. */
export async function carry(cellCall: CellCall, parts: RecorderParts): Promise<Answer> {
  const { call, cell, role, request } = cellCall
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
  const flight: Flight = {
    cellCall,
    parts,
    controller,
    lane,
    over() {
      controller.unlink()
      ended()
    },
  }
  try {
    await cell.permits.journalled(orAborted(cell.admit(lane), signal))
  } catch (error) {
    flight.over()
    return signal.aborted ? faultAnswer(signal) : notAdmitted(cellCall, parts, error)
  }
  try {
    return lane === null ? await unpaced(flight) : await paced(flight, lane)
  } catch (error) {
    flight.over()
    cell.lose(notRecorded(cellCall, error))
    throw error
  }
}

/** A call to no model provider: no lane limits it, and it is not made again. */
async function unpaced(flight: Flight): Promise<Answer> {
  const { cellCall, parts, controller, over } = flight
  const { call, cell, role } = cellCall
  // It waited, and its cell did not wait for it.
  if (cell.closed) {
    over()
    return refuseLate(call, cell, role, parts)
  }
  cell.leaves()
  const attempt = await send(flight)
  if (attempt.kind === 'fault') {
    over()
    cellCall.keep(faultExchange(flight, attempt, 0))
    return faultAnswer(controller.signal, attempt.fault)
  }
  return handOn(flight, attempt, (captured) => {
    over()
    cellCall.keep(responseExchange(flight, attempt, captured, 0))
  })
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
