import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { RequestHandler } from 'msw'
import type { ExchangeFault, ExchangeResponse, HeaderList } from '../../core/traffic/exchange.ts'
import { type Answer, type Call, canHaveBody } from './call.ts'
import { exchangeOf, NO_BODY, responseOf } from './exchange.ts'
import { errorOf } from './fault.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'
import { type CapturedBody, tee } from './stream.ts'
import { linkedController } from './wait.ts'

/** Answers a call from a campaign's msw handlers; null where none of them wants it. */
export type AnswerMock = (call: Call, bytes: Uint8Array | null) => Promise<Response | null>

/**
 * @throws TypeError for a value that is no msw request handler
 */
export async function mockAnswers(mocks: readonly unknown[], campaignId: string): Promise<AnswerMock | null> {
  if (mocks.length === 0) return null
  const handlers = mocks.map((mock, index) => {
    if (isHandler(mock)) return mock
    throw new TypeError(
      `campaign ${JSON.stringify(campaignId)}: mocks[${index}] is no msw request handler; write \`http.get(url, resolver)\` with \`http\` of msw`,
    )
  })
  // msw is loaded by campaigns with mocks only: it is large.
  const { getResponse } = await import('msw')
  return async (call, bytes) => {
    const hasBody = bytes !== null && call.method !== 'GET' && call.method !== 'HEAD'
    const request = new Request(call.url, {
      method: call.method,
      headers: call.headers.map(([name, value]): [string, string] => [name, value]),
      ...(hasBody ? { body: bytes as Uint8Array<ArrayBuffer> } : {}),
    })
    const response = (await getResponse(handlers, request)) ?? null
    // How msw's passthrough() says that the handler does not want the call after all.
    return response?.headers.get('x-msw-intention') === 'passthrough' ? null : response
  }
}

/** The body of a mock as a stream of node's. */
export function readableOf(response: Response): Readable | null {
  return response.body === null ? null : Readable.fromWeb(response.body as NodeStream)
}

function isHandler(mock: unknown): mock is RequestHandler {
  return typeof mock === 'object' && mock !== null && typeof Reflect.get(mock, 'run') === 'function'
}

/** Answers a call of a cell from the campaign's mocks, and keeps the exchange as mocked; null where no mock wants it. */
export async function answerWithMock(
  cellCall: CellCall,
  answerMock: AnswerMock,
  { clock, redactor }: RecorderParts,
): Promise<Answer | null> {
  const { call, cell, role, bytes, request, keep } = cellCall
  const startedAt = clock.instant()
  const begun = clock.now()
  const response = await answerMock(call, bytes)
  if (response === null) return null
  const ttfbMs = clock.now() - begun
  const keepOutcome = (outcome: ExchangeResponse | ExchangeFault) =>
    keep(exchangeOf(cellCall, 'mocked', outcome, { startedAt, ttfbMs, totalMs: clock.now() - begun }, redactor))

  if (response.type === 'error') {
    const message = 'a mock answered with an error'
    const fault: ExchangeFault = { kind: 'fault', phase: 'connect', code: 'ERR_MOCKED', message }
    keepOutcome(fault)
    return { kind: 'fault', error: errorOf(fault) }
  }
  const { status, statusText } = response
  const headers = [...response.headers] as HeaderList
  const body = canHaveBody(call.method, status) ? readableOf(response) : null
  const ended = cell.begin({ role, method: request.method, url: request.url })
  const { signal, unlink } = linkedController([call.signal, cell.options.signal, cell.endSignal])
  const onEnd = (captured: CapturedBody) => {
    unlink()
    ended()
    keepOutcome(responseOf({ status, statusText, headers }, captured))
  }
  if (body === null) onEnd(NO_BODY)
  return {
    kind: 'response',
    url: call.url,
    redirected: false,
    status,
    statusText,
    headers,
    body: body === null ? null : tee(body, { clock, signal, abort: () => body.destroy(), onEnd }),
  }
}
