import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as undiciRequest } from 'undici'
import type { HeaderList } from '../../core/traffic/exchange.ts'
import { canHaveBody, socketError } from './call.ts'
import type { Via } from './via.ts'

export interface UpstreamRequest {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  readonly signal: AbortSignal
  /** The caller's own dispatcher; default: ours. */
  readonly via?: Via | undefined
}

export interface UpstreamResponse {
  readonly status: number
  readonly statusText: string
  /** Without hop-by-hop headers, content-encoding and content-length: the body is decoded. */
  readonly headers: HeaderList
  /** Decoded; null where the response can have none. */
  readonly body: Readable | null
}

/** Carries live calls on a dispatcher of its own, so that none of them is intercepted again. */
export interface Upstream {
  /** Rejects with an error that carries `code` when no response came. Redirects are not followed. */
  send(request: UpstreamRequest): Promise<UpstreamResponse>
  /** Where requests go that name no dispatcher of their own. */
  readonly dispatcher: Dispatcher
  dispose(): void
}

/** Marks what is sent by us, through whichever dispatchers it goes: it was decided upon. */
export const DECIDED: { readonly [mark: symbol]: true } = { [Symbol('vitest-campaign')]: true }

/** Headers that belong to one connection, or that undici writes itself. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'expect',
])

const NOT_RETURNED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-encoding',
])

/** The codings we ask for: every supported Node decodes them, and unlike deflate they come in one form only. */
const CODINGS = ['gzip', 'br'] as const

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'] as const

/** An upstream that honours the proxy variables of the environment. Its waits are bounded by the caller's signal. */
export function createUpstream(env: { readonly [name: string]: string | undefined }): Upstream {
  const options = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 30_000 } }
  const proxied = PROXY_VARIABLES.some((name) => (env[name] ?? '') !== '')
  const dispatcher = proxied ? new EnvHttpProxyAgent(options) : new Agent(options)
  return {
    dispatcher,
    send: (request) => send(request.via ?? dispatcher, request),
    dispose: () => void dispatcher.destroy().catch(() => {}),
  }
}

async function send(dispatcher: Via, request: UpstreamRequest): Promise<UpstreamResponse> {
  const { host } = new URL(request.url)
  const headers: string[] = []
  for (const [name, value] of request.headers) {
    if (NOT_SENT.has(name) || (name === 'host' && value === host)) continue
    headers.push(name, name === 'accept-encoding' ? decodableOnly(value) : value)
  }
  const response = await undiciRequest(request.url, {
    // undici asks nothing of it but to dispatch.
    dispatcher: dispatcher as Dispatcher,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: request.body,
    signal: request.signal,
    responseHeaders: 'raw',
    ...DECIDED,
  })
  const received = pairsOf(response.headers)
  const status = response.statusCode
  const hasBody = canHaveBody(request.method, status)
  if (!hasBody) response.body.resume()
  return {
    status,
    statusText: response.statusText,
    headers: received.filter(([name]) => !NOT_RETURNED.has(name) && !(hasBody && name === 'content-length')),
    body: hasBody ? decoded(response.body, received) : null,
  }
}

/** With `responseHeaders: 'raw'` undici gives a flat list of names and values, which its types do not say. */
function pairsOf(raw: unknown): HeaderList {
  const flat: unknown[] = Array.isArray(raw) ? raw : []
  const text = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value))
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([text(flat[at]).toLowerCase(), text(flat[at + 1])])
  return pairs
}

function decodableOnly(accepted: string): string {
  const kept = accepted.split(',').filter((part) => {
    const coding = part.split(';', 1)[0]?.trim().toLowerCase()
    return coding === '*' ? false : coding === 'identity' || CODINGS.some((known) => known === coding)
  })
  return kept.length > 0 ? kept.map((part) => part.trim()).join(', ') : 'identity'
}

/** The body as the server meant it. An empty body stays empty: a decoder would call it truncated. */
function decoded(body: Readable, headers: HeaderList): Readable {
  const codings = headers
    .filter(([name]) => name === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  let at = body
  for (const coding of codings.reverse()) {
    const decoder = decoderOf(coding)
    if (decoder === null) {
      // It is given up with an error that nobody reads.
      body.on('error', () => {})
      at.destroy()
      body.destroy()
      throw socketError('ERR_CONTENT_CODING', `the response is encoded with "${coding}", which was not asked for`)
    }
    // The callback is there because pipeline throws without one; the error itself reaches the reader of the decoder.
    at = pipeline(at, decoder, () => {})
  }
  return at
}

function decoderOf(coding: string): ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress> | null {
  // Flushing at each write hands a streamed event on when it arrives, and lets a body end without its trailer.
  const zlib = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip(zlib)
  if (coding === 'deflate') return createInflate(zlib)
  if (coding === 'br') {
    return createBrotliDecompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
    })
  }
  return null
}
