import type { HeaderList } from '../../core/traffic/exchange.ts'
import type { Via } from './via.ts'

/** One request as the recorder sees it, whichever client made it. */
export interface Call {
  /** `fetch` and `http` come through the interceptors, `undici` through its dispatcher, `direct` through `ctx.fetch`. */
  readonly client: 'fetch' | 'http' | 'undici' | 'direct'
  readonly method: string
  readonly url: string
  /** Names lower-case. */
  readonly headers: HeaderList
  readonly redirect: 'follow' | 'manual' | 'error'
  /** Aborted when the client gives up. */
  readonly signal: AbortSignal
  /** The bytes of the body, null where there is none. Called once. */
  readonly body: () => Promise<Uint8Array | null>
  /** A dispatcher of the caller's own (its proxy, its certificates): a live call goes through it. */
  readonly via?: Via
}

/** What the recorder gives back. */
export type Answer = AnsweredResponse | AnsweredFault

export interface AnsweredResponse {
  readonly kind: 'response'
  /** Address of the last hop. */
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
  readonly body: ReadableStream<Uint8Array> | null
}

export interface AnsweredFault {
  readonly kind: 'fault'
  /** What a node socket would have said: carries `code`, `errno` and `syscall`. */
  readonly error: Error
}

/** What the platform's fetch adds when it sends, and a Request does not show: some servers refuse a call without it. */
const FETCH_HEADERS: HeaderList = [
  ['accept', '*/*'],
  ['accept-encoding', 'gzip, br'],
  ['user-agent', 'node'],
]

/** The headers of a call as its client would have sent them. */
export function sentHeaders({ client, headers }: Pick<Call, 'client' | 'headers'>): HeaderList {
  if (client === 'http' || client === 'undici') return headers
  const named = new Set(headers.map(([name]) => name))
  return [...headers, ...FETCH_HEADERS.filter(([name]) => !named.has(name))]
}

/** Statuses whose response can have no body: `Response` refuses one. */
const BODILESS: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/** True where `Response` may be given a body. */
export function canHaveBody(method: string, status: number): boolean {
  return method !== 'HEAD' && !BODILESS.has(status)
}

// Taken when this module loads: the interceptors put slower ones in their place, which remember how headers were spelt.
const { Headers: PlainHeaders, Response: PlainResponse } = globalThis

/** Headers without the memory of their spelling. */
export const plainHeaders = (init?: RequestInit['headers']): Headers => new PlainHeaders(init)

/** The answer as the platform's Response; `spelt` for node:http, which is to see repeated headers apart. */
export function responseOf(answer: AnsweredResponse, spelt = false): Response {
  const headers = spelt ? new Headers() : new PlainHeaders()
  for (const [name, value] of answer.headers) headers.append(name, value)
  const Made = spelt ? Response : PlainResponse
  return new Made(answer.body, { status: answer.status, statusText: answer.statusText, headers })
}

/** An error such as node's own sockets give, so that clients that look at `code` (and the interceptors) know it. */
export function socketError(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), {
    code,
    errno: -1,
    syscall: 'request',
  })
}

/** What node:http says where undici has a word of its own: clients retry by these codes. */
const NODE_WORDS: { readonly [undici: string]: readonly [code: string, message: string] } = {
  UND_ERR_SOCKET: ['ECONNRESET', 'socket hang up'],
  UND_ERR_CONNECT_TIMEOUT: ['ETIMEDOUT', 'connect ETIMEDOUT'],
  UND_ERR_HEADERS_TIMEOUT: ['ETIMEDOUT', 'socket timed out'],
}

/** The error as this client's own transport would have raised it. */
export function clientError(call: Pick<Call, 'client'>, fault: AnsweredFault): unknown {
  if (fault.error.name === 'AbortError') return fault.error
  if (call.client !== 'http') return new TypeError('fetch failed', { cause: fault.error })
  const word = NODE_WORDS[String(Reflect.get(fault.error, 'code'))]
  return word === undefined ? fault.error : socketError(word[0], word[1], fault.error)
}
