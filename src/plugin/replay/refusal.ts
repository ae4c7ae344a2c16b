import type { AnsweredResponse } from './call.ts'

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

function bodyOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
