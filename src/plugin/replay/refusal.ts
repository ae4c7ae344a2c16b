import type { CallRole } from '../../core/traffic/exchange.ts'
import type { AnsweredResponse, Call } from './call.ts'
import type { Cell } from './cell.ts'
import type { RecorderParts } from './parts.ts'
import type { CellCall } from './recorder.ts'

/** Why a call is answered by us instead of a provider. */
export type RefusalCode =
  | 'replay_miss'
  | 'late_call'
  | 'after_deadline'
  | 'route_not_allowed'
  | 'missing_key'
  | 'not_admitted'

/**
 * The answer to a call that must not go out. A 424 because SDKs retry thrown errors and 5xx, slowly; the body has the
 * shape that the OpenAI, Anthropic and Google SDKs print.
 */
export function refusal(url: string, code: RefusalCode, message: string): AnsweredResponse {
  const text = JSON.stringify({
    type: 'error',
    error: { message, type: code, code, param: null, status: 'FAILED_PRECONDITION' },
  })
  return {
    kind: 'response',
    url,
    redirected: false,
    status: 424,
    statusText: 'Failed Dependency',
    headers: [
      ['content-type', 'application/json'],
      ['x-should-retry', 'false'],
      ['x-vitest-campaign', code],
    ],
    body: bodyOf(Buffer.from(text)),
  }
}

/** Refuses a call that comes when its cell is over, and remembers it for the cell's checks. */
export function refuseLate(call: Call, cell: Cell, role: CallRole, { redactor }: RecorderParts): AnsweredResponse {
  const { method } = call
  const { url } = redactor.url(call.url)
  cell.refuseLate({ role, method, url })
  const [code, when] = cell.closed
    ? (['late_call', 'after its cell had settled'] as const)
    : (['after_deadline', 'after the deadline of its cell'] as const)
  return refusal(
    call.url,
    code,
    `vitest-campaign: ${method} ${url} was called ${when} and was not sent. Await every call inside run and scorers, and hand ctx.signal to them.`,
  )
}

/** Refuses a call that the run could not be asked for. */
export function notAdmitted(
  { call, request }: CellCall,
  { redactor }: RecorderParts,
  error: unknown,
): AnsweredResponse {
  const why = error instanceof Error ? error.message : String(error)
  const message = `vitest-campaign: ${request.method} ${request.url} was not sent, because the run did not admit it: ${why}`
  return refusal(call.url, 'not_admitted', redactor.text(message).text)
}

function bodyOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
