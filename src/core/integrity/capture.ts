import type { CellEvidence, CheckedCall, Find } from './check.ts'
import { counted, firstOf, named, namedCall } from './named.ts'

/** Did we see everything the subject did, and did it see everything that was said? */
export function checkCapture(evidence: CellEvidence, find: Find): void {
  const { calls, open, late, misses, unused } = evidence
  checkPresence(evidence, find)
  if (evidence.subject === 'output') {
    const halves = calls.filter((call) => brokeOff(call) && !wasRepeated(call, calls))
    const strange = halves.filter(isUnreadable)
    const streams = halves.filter((call) => call.reading?.streamed === true && !strange.includes(call))
    const whole = new Set([...strange, ...streams])
    const others = [...open.map(named), ...halves.filter((call) => !whole.has(call)).map(namedCall)]
    if (others.length > 0) {
      find(
        'exchange_incomplete',
        `${counted(others.length, 'request')} had no whole answer when the cell settled (${firstOf(others)}): await every call inside run and scorers`,
      )
    }
    if (streams.length > 0) {
      find(
        'stream_truncated',
        `a stream ended without its last event and run took it for an answer (${firstOf(streams.map(namedCall))}): treat a stream without its final event as an error, and run the cell again`,
      )
    }
    if (strange.length > 0) {
      find(
        'answer_unreadable',
        `${counted(strange.length, 'request')} got ${strange.length === 1 ? 'an answer' : 'answers'} that no provider gives and run took ${strange.length === 1 ? 'it' : 'them'} for one (${firstOf(strange.map(describeAnswer))}): is a proxy, a login page or another service in between?`,
      )
    }
  }
  for (const miss of misses) find('replay_miss', miss)
  // What a subject still does when it was cut off, or when a sibling of its calls has thrown, was refused, and is no
  // second failure.
  if (late.length > 0 && evidence.subject === 'output') {
    find(
      'late_call',
      `${counted(late.length, 'request')} came after the cell had ended and ${late.length === 1 ? 'was' : 'were'} refused (${firstOf(late.map(named))}): await every call, and hand ctx.signal to it`,
    )
  }
  // After a miss the cell went another way than its recording: what it left over is that miss once more.
  if (unused.length > 0 && misses.length === 0) {
    find(
      'replay_unused',
      `${counted(unused.length, 'recorded request')} ${unused.length === 1 ? 'was' : 'were'} not made again (${firstOf(unused.map(named))}): record the cell anew with -u if that is meant`,
    )
  }
}

function checkPresence({ capture, subject, calls, misses }: CellEvidence, find: Find): void {
  // A request that found no recording was made and seen; the miss says so.
  if (capture === 'off' || subject === 'failed' || misses.length > 0) return
  const own = calls.filter(({ role }) => role === 'subject')
  if (own.some(({ reading, source }) => reading !== null && source !== 'mocked')) return
  if (own.length === 0) {
    find(
      'no_provider_calls',
      "run made no request that was seen: pass ctx.fetch or use global fetch or node:http, or set capture: 'off' for a subject without a provider",
    )
    return
  }
  const mocked = own.filter(({ source }) => source === 'mocked').length
  find(
    'no_provider_calls',
    `run made ${counted(own.length, 'request')}${mocked > 0 ? ` (${mocked} mocked)` : ''}, none to a known model provider (${firstOf(own.map(namedCall))}): if the model stands behind one of them, set integrity: { no_provider_calls: 'off' }`,
  )
}

/** Ended by neither side's decision: a client that stops reading a stream early does so on purpose. */
function brokeOff({ outcome, reading, source }: CheckedCall): boolean {
  if (outcome.kind === 'fault' || source === 'mocked' || outcome.end.kind === 'client-abort') return false
  if (reading !== null) return !reading.complete && reading.error === null
  return outcome.end.kind === 'broken'
}

/** It came to its end, and nothing of the provider's API is in it: a page of a proxy, an empty body. */
function isUnreadable({ outcome, reading }: CheckedCall): boolean {
  return outcome.kind === 'response' && outcome.end.kind === 'complete' && reading?.usageMissing === 'unreadable'
}

function describeAnswer({ request, outcome }: CheckedCall): string {
  const name = named(request)
  if (outcome.kind === 'fault') return name
  const type = outcome.headers.find(([header]) => header === 'content-type')?.[1].split(';')[0] ?? 'no content type'
  return `${name}: status ${outcome.status}, ${outcome.body === null ? 'no body' : type}`
}

function wasRepeated(call: CheckedCall, calls: readonly CheckedCall[]): boolean {
  return calls.some(
    (other) =>
      other.key === call.key && other.ordinal > call.ordinal && other.outcome.kind === 'response' && !brokeOff(other),
  )
}
