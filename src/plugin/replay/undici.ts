import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { duplexPair } from 'node:stream'
import { Agent, Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import type { HeaderList } from '../../core/traffic/exchange.ts'
import type { Answer, Call } from './call.ts'
import { socketError } from './call.ts'
import type { Decide } from './interception.ts'
import { DECIDED } from './upstream.ts'
import { type Via, viaOf } from './via.ts'

const REQUESTS = 'undici:request:create'

/** Carries the number of a call over the connection inside this thread; never leaves it. */
const CALL_ID = 'x-vitest-campaign-call'

interface Pending {
  readonly answer: Promise<Answer>
  readonly gotBody: (bytes: Uint8Array | null) => void
  readonly giveUp: () => void
  /** What the client is to be told instead of how the inner connection ended. */
  fault: Error | null
}

type DispatchHandler = Dispatcher.DispatchHandler
type Dispatch = (options: Dispatcher.DispatchOptions, handler: DispatchHandler) => boolean

const MARKS = Object.getOwnPropertySymbols(DECIDED)
const isDecided = (options: object) => MARKS.some((mark) => Reflect.has(options, mark))

export interface CapturedUndici {
  /** The dispatcher that the fetch whose async context this is was given. */
  readonly via: () => { readonly via?: Via }
  /** Says that the fetch whose async context this is was redirected. */
  readonly redirected: () => void
  /** Gives the place back. */
  readonly release: () => void
}

/** What undici's Agent, Pool, Client and proxies have in common. */
const BASE: object = Object.getPrototypeOf(Agent.prototype)

/**
 * Captures undici's own `fetch`, `request`, `stream` and `pipeline`, which no interception of the globals sees: a global
 * dispatcher of ours stands in, which npm's undici and the one inside Node both look up, and a dispatcher that is passed
 * explicitly, of the undici we share with the project, asks us first. A call that is ours to answer is spoken over a
 * connection inside this thread, so that undici's own HTTP client reads the answer, in every version and with every
 * kind of handler.
 *
 * @param carrier sends live calls for us
 * @param onOther told of each request that another copy of undici makes through a dispatcher of its own: it cannot be
 *   captured
 */
export function captureUndici(
  decide: Decide,
  carrier: Dispatcher,
  onOther: (call: { readonly method: string; readonly url: URL }) => void,
): CapturedUndici {
  const original = getGlobalDispatcher()
  const pending = new Map<string, Pending>()
  // Calls of the platform's fetch are decided upon before they come here.
  const decided = new AsyncLocalStorage<{ readonly via?: Via; redirected?: true }>()
  const intercepted = globalThis.fetch
  const fetch: typeof globalThis.fetch = (input, init) => {
    const own: { readonly via?: Via; redirected?: true } = viaOf(init)
    const mark = (response: Response): Response =>
      own.redirected ? Object.defineProperty(response, 'redirected', { value: true }) : response
    return decided.run(own, () => intercepted(input, init)).then(mark)
  }
  globalThis.fetch = fetch

  const outside = AsyncLocalStorage.snapshot()
  const server = createServer((request, response) => void speak(request, response, pending))
  server.timeout = 0
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.keepAliveTimeout = 0
  const inner = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      const [ours, theirs] = duplexPair()
      // A side that is destroyed says nothing to the other. In a turn of its own, as a network would: undici's fetch never
      // ends a body that breaks in the turn in which its headers came.
      ours.on('close', () => {
        if (!ours.writableFinished) setImmediate(() => theirs.destroyed || theirs.push(null))
      })
      theirs.on('close', () => ours.destroy())
      theirs.on('error', () => {})
      ours.on('error', () => {})
      outside(() => server.emit('connection', ours))
      // undici asks of its socket what every duplex stream has; it is not made to be called back before it returns.
      queueMicrotask(() => callback(null, theirs as never))
    },
  })

  let ids = 0
  function take(options: Dispatcher.DispatchOptions, handler: DispatchHandler, other: Dispatch, via?: Via): boolean {
    const call = decided.getStore() === undefined ? callOf(options, via) : null
    const decision = call === null ? 'pass' : decide(call.call)
    if (call === null || decision === 'pass') return other({ ...options, ...DECIDED }, handler)
    const id = String(ids++)
    const { giveUp, gotBody } = call
    const entry: Pending = { answer: decision.answer(), giveUp, gotBody, fault: null }
    entry.answer.catch(() => {})
    pending.set(id, entry)
    const headers = [...call.call.headers.flat(), CALL_ID, id]
    return inner.dispatch(
      { ...options, ...DECIDED, headers },
      watched(handler, entry, () => pending.delete(id)),
    )
  }

  const dispatch = Reflect.get(BASE, 'dispatch') as Dispatch
  /** Above zero while the undici we share makes a request. */
  let ours = 0
  function dispatchOrTake(this: Dispatcher, options: Dispatcher.DispatchOptions, handler: DispatchHandler): boolean {
    const theirs: Dispatch = (sent, handled) => {
      ours++
      try {
        return Reflect.apply(dispatch, this, [sent, handled])
      } finally {
        ours--
      }
    }
    // As it goes on from here: what a class of the caller's own adds has been asked already.
    return isDecided(options) ? theirs(options, handler) : take(options, handler, theirs, { dispatch: theirs })
  }
  Reflect.set(BASE, 'dispatch', dispatchOrTake)

  class Capture extends Dispatcher {
    override dispatch(options: Dispatcher.DispatchOptions, handler: DispatchHandler): boolean {
      // A caller's own dispatcher may hand on to the global one (Google's SDK does): a call that we carry comes by.
      if (isDecided(options)) return carrier.dispatch(options, handler)
      return take(options, handler, (sent, handled) => original.dispatch(sent, handled))
    }
    override close(...args: [(() => void)?]): Promise<void> {
      args[0]?.()
      return Promise.resolve()
    }
    override destroy(...args: unknown[]): Promise<void> {
      const done = args.at(-1)
      if (typeof done === 'function') done()
      return Promise.resolve()
    }
  }
  const capture = new Capture()
  setGlobalDispatcher(capture)

  // Every copy of undici tells this channel, synchronously, of each request it makes.
  function onCreate(message: unknown): void {
    if (ours > 0 || decided.getStore() !== undefined) return
    const { origin, path, method } = Reflect.get(Object(message), 'request') ?? {}
    if (method !== 'CONNECT' && URL.canParse(String(path), String(origin)))
      onOther({ method: String(method), url: new URL(String(path), String(origin)) })
  }
  subscribe(REQUESTS, onCreate)

  const release = () => {
    unsubscribe(REQUESTS, onCreate)
    if (getGlobalDispatcher() === capture) setGlobalDispatcher(original)
    if (globalThis.fetch === fetch) globalThis.fetch = intercepted
    if (Reflect.get(BASE, 'dispatch') === dispatchOrTake) Reflect.set(BASE, 'dispatch', dispatch)
    void inner.destroy().catch(() => {})
    server.closeAllConnections()
  }
  return {
    via: () => {
      const via = decided.getStore()?.via
      return via === undefined ? {} : { via }
    },
    redirected: () => {
      const own = decided.getStore()
      if (own !== undefined) own.redirected = true
    },
    release,
  }
}

/** The call as undici describes it; its body comes when undici has written it. */
function callOf(
  options: Dispatcher.DispatchOptions,
  via: Via | undefined,
): {
  readonly call: Call
  readonly gotBody: (bytes: Uint8Array | null) => void
  readonly giveUp: () => void
} | null {
  const { origin, path, query, method } = options
  // A dispatcher that goes through a proxy opens its tunnel itself.
  if (method === 'CONNECT' || origin === undefined || !URL.canParse(path, String(origin))) return null
  const url = new URL(path, origin)
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.append(name, String(value))
  const controller = new AbortController()
  let gotBody: (bytes: Uint8Array | null) => void = () => {}
  let noBody: (error: Error) => void = () => {}
  const body = new Promise<Uint8Array | null>((resolve, reject) => {
    gotBody = resolve
    noBody = reject
  })
  body.catch(() => {})
  return {
    call: {
      client: 'undici',
      method,
      url: url.href,
      headers: headersOf(options.headers),
      redirect: 'manual',
      signal: controller.signal,
      body: () => body,
      ...(via === undefined ? {} : { via }),
    },
    gotBody,
    giveUp() {
      const error = new DOMException('The request was aborted', 'AbortError')
      controller.abort(error)
      noBody(error)
    },
  }
}

/** undici takes a flat list, an object, or anything that gives pairs. */
function headersOf(headers: Dispatcher.DispatchOptions['headers']): HeaderList {
  if (headers === undefined || headers === null) return []
  const pairs: [string, string][] = []
  const add = (name: unknown, value: unknown): void => {
    if (value === undefined || value === null) return
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([String(name).toLowerCase(), String(one)])
  }
  if (Array.isArray(headers) && !headers.some(Array.isArray)) {
    for (let at = 0; at + 1 < headers.length; at += 2) add(headers[at], headers[at + 1])
  } else if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<[string, unknown]>) add(name, value)
  } else {
    for (const [name, value] of Object.entries(headers)) add(name, value)
  }
  return pairs
}

/** The handler, told of the call's own fault; and a call whose client is gone, given up. */
function watched(handler: DispatchHandler, entry: Pending, over: () => void): DispatchHandler {
  const ends = new Set<PropertyKey>(['onComplete', 'onResponseEnd', 'onError', 'onResponseError'])
  const failures = new Set<PropertyKey>(['onError', 'onResponseError'])
  return new Proxy(handler, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        if (ends.has(name)) over()
        if (failures.has(name)) {
          entry.giveUp()
          if (entry.fault !== null) args[args.length - 1] = entry.fault
        }
        return Reflect.apply(member, target, args)
      }
    },
  })
}

/** One call on the inner connection: reads its body, writes its answer. */
async function speak(
  request: IncomingMessage,
  response: ServerResponse,
  pending: ReadonlyMap<string, Pending>,
): Promise<void> {
  const entry = pending.get(String(request.headers[CALL_ID]))
  if (entry === undefined) return void request.socket.destroy()
  response.once('close', () => {
    if (!response.writableFinished) entry.giveUp()
  })
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const announced = 'content-length' in request.headers || 'transfer-encoding' in request.headers
    entry.gotBody(chunks.length > 0 ? Buffer.concat(chunks) : announced ? new Uint8Array() : null)
    const answer = await entry.answer
    if (answer.kind === 'fault') throw answer.error
    response.sendDate = false
    response.writeHead(answer.status, answer.statusText, answer.headers.flat())
    response.flushHeaders()
    if (answer.body !== null) {
      for await (const chunk of answer.body) {
        if (response.destroyed) throw socketError('ECONNRESET', 'the client is gone')
        if (!response.write(chunk)) await drained(response)
      }
    }
    response.end()
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    entry.fault = cause instanceof Error ? cause : new Error(String(cause))
    request.socket.destroy()
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      response.off('drain', over)
      response.off('close', over)
      resolve()
    }
    response.once('drain', over)
    response.once('close', over)
  })
}
