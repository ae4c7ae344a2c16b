import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Body, Exchange, ExchangeFault, ExchangeResponse, HeaderList } from '../exchange.ts'
import { matchKey } from '../match.ts'
import type { Redactor } from '../redact.ts'
import { addRedactions } from '../redaction/spans.ts'

/** One call as another tool wrote it down: bodies decoded, nothing redacted yet. */
export interface Imported {
  readonly method: string
  readonly url: string
  readonly requestHeaders: HeaderList
  readonly requestBody: Uint8Array | null
  readonly outcome:
    | {
        readonly kind: 'response'
        readonly status: number
        readonly statusText: string
        readonly headers: HeaderList
        readonly body: Uint8Array | null
      }
    | ExchangeFault
  /** ISO instant; null where the tool kept none. */
  readonly startedAt: string | null
  readonly ttfbMs: number | null
  /** Null where the tool kept none. */
  readonly totalMs: number | null
}

/** What was read, and what was left out with the reason. */
export interface ImportedFile {
  readonly calls: readonly Imported[]
  readonly skipped: readonly string[]
}

/** A file that cannot be imported: names the entry and, in it, the place. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/**
 * Imported calls as the exchanges of one cell: redacted, keyed and numbered as if they had been recorded here.
 *
 * @param importedAt ISO instant that stands where the tool kept no time
 */
export function importedExchanges(
  calls: readonly Imported[],
  { redactor, importedAt }: { readonly redactor: Redactor; readonly importedAt: string },
): Exchange[] {
  const ordinals = new Map<string, number>()
  return calls.map((call) => {
    const { request, redactions } = redactor.request({
      method: call.method,
      url: call.url.split('#', 1)[0] ?? call.url,
      headers: withoutHop(call.requestHeaders),
      body: bodyOf(call.requestBody),
    })
    const { key } = matchKey(request)
    const ordinal = ordinals.get(key) ?? 0
    ordinals.set(key, ordinal + 1)
    const clean = redactedOutcome(call.outcome, redactor)
    return {
      role: 'subject',
      key,
      ordinal,
      request,
      outcome: clean.outcome,
      source: 'live',
      startedAt: call.startedAt ?? importedAt,
      ttfbMs: call.ttfbMs,
      totalMs: call.totalMs,
      redactions: addRedactions(redactions, clean.redactions),
      retried: 0,
    }
  })
}

function redactedOutcome(outcome: Imported['outcome'], redactor: Redactor) {
  if (outcome.kind === 'fault') {
    const { fault, redactions } = redactor.fault(outcome)
    return { outcome: fault, redactions }
  }
  const { response, redactions } = redactor.response({
    ...outcome,
    headers: withoutHop(outcome.headers),
    body: bodyOf(outcome.body),
    cuts: [],
    end: { kind: 'complete' },
  } satisfies ExchangeResponse)
  return { outcome: response, redactions }
}

/** Of one connection, or of a body in its encoded form. */
const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'content-encoding',
  'content-length',
  'host',
])

/** Lower-case names, without HTTP/2's pseudo headers. */
function withoutHop(headers: HeaderList): HeaderList {
  return headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !name.startsWith(':') && !HOP.has(name))
}

function bodyOf(bytes: Uint8Array | null): Body {
  if (bytes === null || bytes.byteLength === 0) return null
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return isUtf8(buffer) ? { text: buffer.toString('utf8') } : { base64: buffer.toString('base64') }
}

/** Longest body, decoded: a small archive may unpack to more than a machine has. */
const MAX_BODY = 256 * 1024 * 1024

/**
 * A body whose tool kept it as it came over the wire. Tools do not say whether they decoded it, so the bytes do: what is
 * no such archive is taken as it is.
 *
 * @throws ImportError for an archive that is damaged or too large
 */
export function decodedBody(bytes: Uint8Array | null, headers: HeaderList, where: string): Uint8Array | null {
  if (bytes === null || bytes.byteLength === 0) return bytes
  const codings = headers
    .filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
  let at = bytes
  for (const coding of codings.reverse()) {
    const packed =
      coding === 'gzip' || coding === 'x-gzip'
        ? at[0] === 0x1f && at[1] === 0x8b
        : coding === 'deflate'
          ? at[0] === 0x78 && ((at[0] << 8) | (at[1] ?? 0)) % 31 === 0
          : coding === 'br' && !isUtf8(at)
    if (!packed) continue
    try {
      const options = { maxOutputLength: MAX_BODY }
      at = coding === 'br' ? brotliDecompressSync(at, options) : unzip(coding)(at, options)
    } catch (error) {
      // Brotli has no mark to know it by: these bytes were decoded already.
      if (coding === 'br') continue
      throw new ImportError(`${where}: the body does not decode as ${coding}: ${reasonOf(error)}`)
    }
  }
  return at
}

const unzip = (coding: string) => (coding === 'deflate' ? inflateSync : gunzipSync)

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Bytes of base64 text; what is no base64 is not guessed at.
 *
 * @throws ImportError naming the place
 */
export function base64Bytes(text: string, where: string): Buffer {
  const compact = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) throw new ImportError(`${where}: is no base64`)
  return Buffer.from(compact, 'base64')
}

/** @throws ImportError for an address that is no HTTP one */
export function httpUrl(url: string, where: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new ImportError(`${where}: ${JSON.stringify(url.slice(0, 200))} is no HTTP address`)
  }
  return url
}

/** Where a zod issue lies, below `where`. */
export function placeOf(where: string, path: readonly PropertyKey[]): string {
  return path.length === 0 ? where : `${where}.${path.map(String).join('.')}`
}
