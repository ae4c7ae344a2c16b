import { hash } from 'node:crypto'
import type { ExchangeRequest, HeaderList } from './exchange.ts'
import { canonicalText, type PointerTree, parseLossless, pointerTree } from './lossless.ts'
import { readParts } from './multipart.ts'
import { isSecretQuery } from './redaction/names.ts'
import { isLoopback, isProviderHost } from './wire/hosts.ts'

export interface MatchOptions {
  /** JSON pointers of body members that differ between runs; `*` stands for any member or item. */
  readonly volatile?: readonly string[]
}

/** What of a request is matched. */
export interface MatchParts {
  readonly method: string
  /** Origin and path. */
  readonly address: string
  /** Sorted by name, without secrets. */
  readonly query: string
  /** The headers that change what an API means. */
  readonly headers: string
  readonly body: {
    readonly kind: 'empty' | 'json' | 'multipart' | 'bytes'
    /** Canonical JSON, the list of parts, or a digest of the bytes. */
    readonly text: string
  }
}

/** All other headers are the client's own: versions, telemetry, ids of the request. */
const MATCHED_HEADERS = ['anthropic-beta', 'anthropic-version', 'openai-beta']

/** Who asks, and hints for the provider's cache: no part of what is asked. */
const OPENAI_VOLATILE = ['/user', '/safety_identifier', '/prompt_cache_key']
const ANTHROPIC_VOLATILE = ['/metadata/user_id']

/**
 * The key under which a request finds its recorded answer. Give it the redacted request, on both sides: then a run
 * without the secret has the same key.
 *
 * @returns 32 hex digits of SHA-256 over `parts`
 * @throws TypeError for a `volatile` entry that is no JSON pointer
 */
export function matchKey(
  request: Pick<ExchangeRequest, 'method' | 'url' | 'headers' | 'body'>,
  options: MatchOptions = {},
): { readonly key: string; readonly parts: MatchParts } {
  const url = URL.canParse(request.url) ? new URL(request.url) : null
  const parts: MatchParts = {
    method: request.method.toUpperCase(),
    address: url === null ? request.url : url.origin + url.pathname,
    query: url === null ? '' : queryOf(url),
    headers: headersOf(request.headers),
    body: bodyPart(request, volatileTree(url, options)),
  }
  const { method, address, query, headers, body } = parts
  // Lengths keep the parts apart; the body comes last and needs none.
  const text = [method, address, query, headers, body.kind].map((part) => `${part.length}:${part}`).join('\n')
  return { key: hash('sha256', `${text}\n${body.text}`).slice(0, 32), parts }
}

function queryOf(url: URL): string {
  if (url.search === '') return ''
  const pairs = [...url.searchParams].filter(([name, value]) => !isSecretQuery(name) && !value.startsWith('[redacted:'))
  return new URLSearchParams(pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))).toString()
}

function headersOf(headers: HeaderList): string {
  const kept = headers
    .map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .filter(([name]) => MATCHED_HEADERS.includes(name))
  return kept
    .map(([name, value]) => `${name}:${value}`)
    .sort()
    .join('\n')
}

const trees = new Map<string, PointerTree | null>()

/** The tree for an address and options; kept, because every call of a run asks for one of a handful. */
export function volatileTree(url: URL | null, { volatile = [] }: MatchOptions): PointerTree | null {
  const pointers = [...(url === null ? [] : apiVolatile(url)), ...volatile]
  const id = pointers.join('\n')
  let tree = trees.get(id)
  if (tree === undefined) {
    tree = pointerTree(pointers)
    if (trees.size < 1000) trees.set(id, tree)
  }
  return tree
}

/** Defaults hold for provider APIs alone: in an application's own request a `user` is what is asked about. */
function apiVolatile(url: URL): readonly string[] {
  const path = url.pathname
  if (!isProviderHost(url) && !isLoopback(url) && !path.includes('/v1/')) return []
  if (/\/(?:chat\/completions|responses|embeddings)\/?$/.test(path)) return OPENAI_VOLATILE
  if (/\/messages\/?$|:(?:streamR|r)awPredict$/.test(path)) return ANTHROPIC_VOLATILE
  return []
}

function bodyPart(request: Pick<ExchangeRequest, 'headers' | 'body'>, skip: PointerTree | null): MatchParts['body'] {
  const { body } = request
  if (body === null || ('text' in body && body.text === '')) return { kind: 'empty', text: '' }
  const type = request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  if (/^\s*multipart\//i.test(type)) {
    const bytes = bytesOf(body)
    const parts = readParts(bytes, type)
    if (parts !== null) {
      const list = parts.map(({ headers, content }) => [headers, digest(content)])
      return { kind: 'multipart', text: JSON.stringify(list) }
    }
  }
  if ('text' in body && /^\s*[{[]/.test(body.text)) {
    const value = parseLossless(body.text)
    if (value !== undefined) return { kind: 'json', text: canonicalText(value, skip) }
  }
  return { kind: 'bytes', text: digest(bytesOf(body)) }
}

const bytesOf = (body: NonNullable<ExchangeRequest['body']>): Buffer =>
  'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64')

const digest = (bytes: Uint8Array) => hash('sha256', bytes)
