import type { ClientRequest } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { getRawRequest, type HttpRequestEventMap, type Interceptor, RequestController } from '@mswjs/interceptors'
import { ClientRequestInterceptor } from '@mswjs/interceptors/ClientRequest'
import { FetchInterceptor } from '@mswjs/interceptors/fetch'
import { getClientRequestBodyStream } from '@mswjs/interceptors/utils/node'
import type { HeaderList } from '../../core/traffic/exchange.ts'
import { addressTargets } from './absolute-form.ts'
import { type Answer, type Call, clientError, responseOf } from './call.ts'

/** What is to become of an intercepted call. */
export type Decision =
  /** Leave it alone: other handlers, then the network. */
  | 'pass'
  | {
      /**
       * True when handlers of the user's own (a `setupServer` in this thread) may answer before we do. The body is then
       * read from a copy.
       */
      readonly yieldFirst: () => Promise<boolean>
      readonly answer: () => Promise<Answer>
      /** The call was answered by somebody else after all. */
      readonly dropped: () => void
    }

/** Asked synchronously at the moment of the call, in the caller's async context. */
export type Decide = (call: Call) => Decision

/** The interception of this thread. */
export interface Interception {
  /** True while handlers of the user's own are there (a `setupServer` that listens). */
  shared(): boolean
  dispose(): void
}

type RequestEvent = HttpRequestEventMap['request'][0]
type Listener = (event: RequestEvent) => Promise<void> | void

/** The parts of the engine's emitter that decide who answers; it is a protected member of the interceptor. */
interface Emitter {
  listeners(event: string): Listener[]
  listenerCount(event: string): number
  on(event: string, listener: () => void): unknown
}

/**
 * Intercepts the global `fetch` and node:http(s), by default and by named import, in this thread.
 *
 * We are the first listener, always: an msw server that user code opens later finds our engine running and adds its own
 * listeners to it. It is asked for calls we leave to it, and before we carry a call to a host that is no provider.
 *
 * @param onRedirected called, in the async context of a `fetch`, when its answer came after a redirect: the engine's
 *   Response cannot say so
 */
export function intercept(decide: Decide, onRedirected: () => void = () => {}): Interception {
  const engines = [
    takeOver(new FetchInterceptor(), FetchInterceptor.symbol, 'fetch', decide, onRedirected),
    takeOver(new ClientRequestInterceptor(), ClientRequestInterceptor.symbol, 'http', decide, onRedirected),
  ]
  const unaddress = addressTargets()
  // `import { get } from 'node:http'` is bound to the original until the module's exports are synchronised.
  syncBuiltinESMExports()
  return {
    shared: () => engines.some((engine) => engine.shared()),
    dispose() {
      unaddress()
      for (const engine of engines) engine.dispose()
      syncBuiltinESMExports()
    },
  }
}

function takeOver(
  engine: Interceptor<HttpRequestEventMap>,
  symbol: symbol,
  client: 'fetch' | 'http',
  decide: Decide,
  onRedirected: () => void,
): Interception {
  if (Reflect.get(globalThis, symbol) !== undefined) {
    throw new Error(
      `the ${client} of this thread is already intercepted, so calls could not be attributed: open msw servers in setup files or tests, not before the worker starts.`,
    )
  }
  // Protected, but there is no public way to stand before and after listeners that are added later.
  const emitter = Reflect.get(engine, 'emitter') as Emitter
  const listeners = emitter.listeners.bind(emitter)
  const listenerCount = emitter.listenerCount.bind(emitter)
  const later = new Map<string, () => Promise<void>>()
  let answering = false
  let disposed = false

  async function give(event: RequestEvent, call: Call, decision: Exclude<Decision, 'pass'>): Promise<void> {
    const answer = await decision.answer()
    // A fetch that its caller gave up is rejected by the engine, with the caller's reason; a second rejection would be
    // the engine's own error.
    const givenUp = client === 'fetch' && call.signal.aborted
    if (givenUp || event.controller.readyState !== RequestController.PENDING) {
      if (answer.kind === 'response') await answer.body?.cancel().catch(() => {})
      return
    }
    answering = true
    try {
      if (answer.kind === 'fault') {
        event.controller.errorWith(clientError(call, answer))
      } else {
        const response = responseOf(answer, client === 'http')
        // Without a length or chunks, node:http takes the end of a connection for the end of the body: one that broke, or
        // that the client itself gave up, would read as whole.
        if (client === 'http' && response.body !== null && !response.headers.has('content-length')) {
          response.headers.set('transfer-encoding', 'chunked')
        }
        // The engine gives its Response the URL of the request: after a redirect that is the last hop's.
        if (answer.redirected) {
          Object.defineProperty(event.request, 'url', { value: answer.url })
          onRedirected()
        }
        event.controller.respondWith(response)
      }
    } finally {
      answering = false
    }
  }

  const first: Listener = async (event) => {
    if (goesToPipe(event.request)) return
    const others = listeners('request').length > 0
    const call = callOf(event.request, client, others)
    const decision = decide(call)
    if (decision === 'pass') return
    if (others && (await decision.yieldFirst())) {
      later.set(event.requestId, () => give(event, call, decision))
      // A client that gives up while others think never gets to the last listener.
      call.signal.addEventListener('abort', () => later.delete(event.requestId) && decision.dropped(), { once: true })
      event.controller.handled.then(
        () => later.delete(event.requestId) && decision.dropped(),
        () => {},
      )
      return
    }
    await give(event, call, decision)
  }
  const last: Listener = async ({ requestId, controller }) => {
    const carry = later.get(requestId)
    if (carry === undefined || controller.readyState !== RequestController.PENDING) return
    later.delete(requestId)
    await carry()
  }

  // The engine asks every listener, also after one has answered: others would run handlers, and warn, for our calls.
  const unlessAnswered =
    (listener: Listener): Listener =>
    (event) =>
      event.controller.readyState === RequestController.PENDING ? listener(event) : undefined
  emitter.listeners = (event) =>
    event === 'request' && !disposed ? [first, ...listeners(event).map(unlessAnswered), last] : listeners(event)
  // With a `response` listener the engine hands out one branch of a tee and the other stays unread: an SDK that cancels
  // the body of a 429 before its retry then waits for ever. Our own answers are never cloned.
  emitter.listenerCount = (event) => (event === 'response' && answering ? 0 : listenerCount(event))
  // A server of the user's that closes removes the mark of the engine it borrowed: a second one would then patch anew
  // and displace us.
  emitter.on('removeListener', () => {
    if (!disposed) Reflect.set(globalThis, symbol, engine)
  })
  engine.apply()
  return {
    shared: () => listeners('request').length > 0,
    dispose() {
      disposed = true
      engine.dispose()
    },
  }
}

/** A request over a unix socket or pipe (docker) is to no host at all: its URL says localhost for want of one. */
function goesToPipe(request: Request): boolean {
  const raw = getRawRequest(request)
  return typeof raw === 'object' && raw !== null && typeof Reflect.get(raw, 'socketPath') === 'string'
}

function callOf(request: Request, client: 'fetch' | 'http', shared: boolean): Call {
  const raw = client === 'http' ? (getRawRequest(request) as ClientRequest | undefined) : undefined
  // Until the engine's socket is connected, each read of it waits with one listener more: no leak to warn a user of.
  raw?.socket?.setMaxListeners(0)
  return {
    client,
    method: request.method,
    url: request.url,
    headers: [...request.headers] as HeaderList,
    // node:http follows nothing.
    redirect: raw === undefined ? request.redirect : 'manual',
    signal: raw === undefined ? request.signal : closedSignal(raw),
    body: async () => {
      // Who waits for this word sends no body before it. Not at once: the parser that reads the request calls us.
      if (request.headers.get('expect') === '100-continue') process.nextTick(() => raw?.emit('continue'))
      if (raw !== undefined) setImmediate(() => connectIfAwaited(raw))
      if (request.body !== null) return new Uint8Array(await (shared ? request.clone() : request).arrayBuffer())
      // The platform's Request has no body for GET; node:http may send one.
      const announced = request.headers.has('content-length') || request.headers.has('transfer-encoding')
      return raw !== undefined && announced ? bytesOf(getClientRequestBodyStream(request)) : null
    },
  }
}

/** Some clients write the body when their socket is connected; the engine connects it when there is an answer. */
function connectIfAwaited(raw: ClientRequest): void {
  const { socket } = raw
  if (raw.writableEnded || raw.destroyed || socket === null || !socket.connecting) return
  // A getter on node's own sockets, a member of the engine's.
  Reflect.set(socket, 'connecting', false)
  socket.emit('connect')
  if (Reflect.get(socket, 'encrypted') === true) socket.emit('secureConnect')
}

/** node:http has no signal: its request is given up when it closes before the response was read to the end. */
function closedSignal(raw: ClientRequest): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    // Not a 'response' listener: with one more of those node would no longer drain a response that nobody reads.
    const response: unknown = Reflect.get(raw, 'res')
    const whole = typeof response === 'object' && response !== null && Reflect.get(response, 'complete') === true
    if (!whole) controller.abort(new DOMException('The request was closed', 'AbortError'))
  })
  return controller.signal
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks.length > 0 ? Buffer.concat(chunks) : null
}
