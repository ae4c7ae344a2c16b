import { isProviderFault } from '../record/classify.ts'
import type { CellEvidence, CheckedCall, Find } from './check.ts'
import { counted, firstOf, named } from './named.ts'

/**
 * Calls whose last word is a fault of the provider (or of the network) and no answer: a fault that the same request
 * survived when it was made again is what retries are for.
 */
export function leftOverFaults(calls: readonly CheckedCall[]): CheckedCall[] {
  return calls.filter((call) => faultOf(call) !== null && !calls.some((other) => answers(other, call)))
}

/** Was something scored that a broken provider made, and not the subject? */
export function checkFaults({ calls, failing }: CellEvidence, find: Find): void {
  const swallowed = leftOverFaults(calls).filter(({ role }) => role !== 'setup' && !failing.includes(role))
  if (swallowed.length === 0) return
  const who = swallowed.some(({ role }) => role === 'subject') ? 'run' : 'a scorer'
  const what = firstOf(swallowed.map((call) => `${faultOf(call)} from ${named(call.request)}`))
  find(
    'provider_fault_swallowed',
    `${who} swallowed ${counted(swallowed.length, 'provider fault')} (${what}), which no later answer made good: the score is of what ${who} made of the fault. Let the error through, or set integrity: { provider_fault_swallowed: 'off' } where that is the thing to measure; a cell with such a fault is not recorded`,
  )
}

const ROUTE_REFUSED = 'ERR_ROUTE_NOT_ALLOWED'

/** The fault in a word; null for an answer, and for what the subject itself is answerable for. */
function faultOf({ outcome, reading, source }: CheckedCall): string | null {
  if (reading === null || source === 'mocked') return null
  // A refused route is reported as such; who aborts a call has decided to do without its answer.
  if (outcome.kind === 'fault')
    return outcome.phase === 'aborted' || outcome.code === ROUTE_REFUSED ? null : outcome.code
  if (reading.error === null || !isProviderFault(reading.error.kind)) return null
  return outcome.status >= 400 ? String(outcome.status) : reading.error.kind
}

function answers(other: CheckedCall, { key, ordinal }: CheckedCall): boolean {
  return other.key === key && other.ordinal > ordinal && other.outcome.kind === 'response' && faultOf(other) === null
}
