import type { CallRole, Exchange, ExchangeRequest } from '../../core/traffic/exchange.ts'
import { matchKey } from '../../core/traffic/match.ts'
import { isProviderHost } from '../../core/traffic/wire/hosts.ts'
import { bodyOf } from './body.ts'
import { type Answer, type Call, socketError } from './call.ts'
import { carry } from './carry.ts'
import type { Cell, Turn } from './cell.ts'
import { answerWithMock } from './mock.ts'
import type { RecorderParts } from './parts.ts'
import { refusal, refuseLate } from './refusal.ts'
import { replay } from './replay.ts'
import type { CapturedScope } from './scope.ts'

/** A call of a cell whose body was read, and what it is called in recordings. */
export interface CellCall {
  readonly call: Call
  readonly cell: Cell
  readonly role: CallRole
  /** The scorer that made it; null: none did. */
  readonly scorer: string | null
  readonly bytes: Uint8Array | null
  /** Redacted. */
  readonly request: ExchangeRequest
  readonly redactions: Exchange['redactions']
  readonly key: string
  readonly ordinal: number
  /** Puts the exchange at the call's place among those of the cell. */
  readonly keep: (exchange: Exchange) => void
}

/** One call of a cell on its way through the recorder. */
export interface Passage {
  /** True when the user's own handlers are to be asked first: no provider, no mock, and not in the recording. */
  yieldFirst(): Promise<boolean>
  answer(): Promise<Answer>
  /** Somebody else answered. */
  dropped(): void
}

/** Takes one call of a cell. Call it synchronously when the call is made: the order of calls is taken here. */
export function passage(call: Call, scope: CapturedScope, parts: RecorderParts): Passage {
  const { cell, role } = scope
  const barred = bar(call, cell, role, parts)
  if (barred !== null) {
    return { yieldFirst: async () => false, answer: async () => barred, dropped: () => {} }
  }
  const turn = cell.enter(`${call.method} ${call.url}`)
  const keep = cell.reserve()
  let preparing: Promise<CellCall> | null = null
  const prepared = () => {
    preparing ??= prepare(call, scope, turn, keep, parts)
    return preparing
  }
  let mocking: Promise<Answer | null> | null = null
  const mocked = async () => {
    if (cell.mock === null) return null
    mocking ??= answerWithMock(await prepared(), cell.mock, parts)
    return mocking
  }
  return {
    async yieldFirst() {
      if (isProviderHost(call.url)) return false
      try {
        if ((await mocked()) !== null) return false
        if (cell.tape === null) return true
        const { key, ordinal } = await prepared()
        return !cell.tape.has(key, ordinal)
      } catch {
        // answer() meets the same failure, and says it.
        return false
      }
    },
    async answer() {
      try {
        const ready = await prepared()
        const mock = await mocked()
        if (mock !== null) return mock
        return cell.mode === 'replayed' ? replay(ready, parts) : await carry(ready, parts)
      } catch (error) {
        // Only what the client did can fail here: it gave up, or the stream it sends broke.
        return { kind: 'fault', error: error instanceof Error ? error : socketError('ERR_REQUEST', String(error)) }
      } finally {
        turn.done()
      }
    },
    dropped: turn.done,
  }
}

/** The answer to a call that may not be made at all, whatever its body says. */
function bar(call: Call, cell: Cell, role: CallRole, parts: RecorderParts): Answer | null {
  const over = cell.closed || cell.options.signal.aborted
  const strange = role === 'subject' && cell.routes !== null && !cell.routes.allows(new URL(call.url))
  if (!over && !strange) return null
  if (over) return refuseLate(call, cell, role, parts)
  const { redactor, clock } = parts
  const { method } = call
  const { url } = redactor.url(call.url)
  const { origin } = new URL(call.url)
  const message = `vitest-campaign: ${method} ${url} was not sent: \`routes\` does not list ${origin}. Add the origin, or keep the subject from calling it.`
  const { request, redactions } = redactor.request({ method, url: call.url, headers: call.headers, body: null })
  const { key } = matchKey(request, parts.settings.traffic)
  // Kept as an exchange, so that the cell's checks see where the subject wanted to go.
  cell.reserve()({
    role,
    key,
    ordinal: cell.nextOrdinal(key),
    request,
    outcome: { kind: 'fault', phase: 'connect', code: 'ERR_ROUTE_NOT_ALLOWED', message },
    source: 'live',
    startedAt: clock.instant(),
    ttfbMs: null,
    totalMs: 0,
    redactions,
    retried: 0,
  })
  return refusal(call.url, 'route_not_allowed', message)
}

async function prepare(
  call: Call,
  { cell, role, scorer }: CapturedScope,
  turn: Turn,
  keep: CellCall['keep'],
  { redactor, settings }: RecorderParts,
): Promise<CellCall> {
  const bytes = await call.body()
  if (turn.ready !== null) await turn.ready
  const { request, redactions } = redactor.request({
    method: call.method,
    url: call.url.split('#', 1)[0] ?? call.url,
    headers: call.headers,
    body: bodyOf(bytes),
  })
  const { key } = matchKey(request, settings.traffic)
  const ordinal = cell.nextOrdinal(key)
  turn.done()
  return { call, cell, role, scorer, bytes, request, redactions, key, ordinal, keep }
}
