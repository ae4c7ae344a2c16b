import type { HeaderList } from '../../core/traffic/exchange.ts'
import { type Answer, type Call, clientError, plainHeaders, responseOf } from './call.ts'
import { viaOf } from './via.ts'

const NEVER = new AbortController().signal

/**
 * A `fetch` over the recorder itself: no interception on the way.
 *
 * @param take gives null for a call that is not ours to answer; `other` makes it then
 */
export function directFetch(
  take: (call: Call) => Promise<Answer> | null,
  other: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return async (input, init) => {
    const plain = plainCall(input, init)
    const request = plain === null ? new Request(input, init) : null
    const call = plain ?? { ...requestCall(request ?? new Request(input, init)), ...viaOf(init) }
    call.signal.throwIfAborted()
    const answer = take(call)
    if (answer === null) return request === null ? other(input, init) : other(request)
    const given = await answer
    if (given.kind === 'fault') throw call.signal.aborted ? call.signal.reason : clientError(call, given)
    if (call.signal.aborted) {
      void given.body?.cancel().catch(() => {})
      throw call.signal.reason
    }
    const response = responseOf(given)
    // A Response that is made has no URL; SDKs and users read it.
    Object.defineProperty(response, 'url', { value: given.url })
    if (given.redirected) Object.defineProperty(response, 'redirected', { value: true })
    return response
  }
}

/** The usual call of an SDK (an address and a body of text) without the cost of a Request; null for any other. */
function plainCall(input: string | URL | Request, init: RequestInit = {}): Call | null {
  if (input instanceof Request) return null
  const { body = null, method = 'GET', signal, redirect = 'follow' } = init
  if (body !== null && typeof body !== 'string') return null
  if (!/^(?:get|post|put|patch|delete|head|options)$/i.test(method)) return null
  const name = /^patch$/.test(method) ? method : method.toUpperCase()
  if (body !== null && (name === 'GET' || name === 'HEAD')) return null
  const url = typeof input === 'string' ? (URL.canParse(input) ? new URL(input) : null) : input
  if (url === null || url.username !== '' || url.password !== '') return null
  const headers = plainHeaders(init.headers)
  if (body !== null && !headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8')
  const bytes = body === null ? null : Buffer.from(body.toWellFormed())
  return {
    client: 'direct',
    method: name,
    url: url.href,
    headers: [...headers] as HeaderList,
    redirect,
    signal: signal ?? NEVER,
    body: async () => bytes,
    ...viaOf(init),
  }
}

function requestCall(request: Request): Call {
  return {
    client: 'direct',
    method: request.method,
    url: request.url,
    headers: [...request.headers] as HeaderList,
    redirect: request.redirect,
    signal: request.signal,
    body: async () => (request.body === null ? null : new Uint8Array(await request.arrayBuffer())),
  }
}
