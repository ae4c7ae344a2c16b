import type {
  Body,
  ExchangeFault,
  ExchangeRequest,
  ExchangeResponse,
  HeaderList,
  Redaction,
  StreamCut,
} from './exchange.ts'
import { environmentSecrets, findLiterals } from './redaction/literals.ts'
import {
  findFormFields,
  findHeaderLines,
  findMembers,
  findParts,
  isSecretHeader,
  isSecretQuery,
} from './redaction/names.ts'
import { findPatterns, type Pattern, PII_PATTERNS, VALUE_PATTERNS } from './redaction/patterns.ts'
import {
  addRedactions,
  type Finder,
  mergeSpans,
  placeholder,
  remapCuts,
  type Span,
  splice,
  tally,
} from './redaction/spans.ts'

/** The key that a worker gets where the user has none: no secret, and to be read in recordings. */
export const PLACEHOLDER_KEY = 'vitest-campaign-placeholder-key'

/** A rule of the user's own. */
export interface RedactionRule {
  /** Stands in the placeholder and in messages: lower-case letters, digits and `-`. */
  readonly name: string
  /** What to look for in every text; the first group, where there is one, is the secret. */
  readonly pattern?: RegExp
  /** Header names, any case. */
  readonly headers?: readonly string[]
  /** Query parameter names, any case. */
  readonly query?: readonly string[]
}

export interface RedactorOptions {
  /** Values of variables named `*KEY`, `*TOKEN`, `*SECRET`, `*PASSWORD` are secrets, in every usual encoding. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly rules?: readonly RedactionRule[]
  /** Also e-mail addresses, phone, card, IBAN and US social security numbers. Default false. */
  readonly pii?: boolean
}

interface Redacted {
  readonly redactions: readonly Redaction[]
}

/** The one redactor. It stands before every sink; secrets become `[redacted:<rule>]`, everything else stays as it is. */
export interface Redactor {
  text(text: string): Redacted & { readonly text: string }
  headers(headers: HeaderList): Redacted & { readonly headers: HeaderList }
  url(url: string): Redacted & { readonly url: string }
  /** A JSON value; the same value itself where it holds no secret. */
  json<T>(value: T): Redacted & { readonly value: T }
  body(body: Body, contentType?: string | null): Redacted & { readonly body: Body }
  request(request: ExchangeRequest): Redacted & { readonly request: ExchangeRequest }
  /** With its chunk boundaries moved to the new lengths. */
  response(response: ExchangeResponse): Redacted & { readonly response: ExchangeResponse }
  fault(fault: ExchangeFault): Redacted & { readonly fault: ExchangeFault }
  /** Names of the rules that still find something, sorted: the last look before a file is renamed into place. */
  scan(text: string): string[]
}

/** A secret may become visible by replacing another; what is left after this many rounds is found by `scan`. */
const ROUNDS = 4

/**
 * @throws TypeError for a user rule whose name does not fit a placeholder
 */
export function createRedactor({ env, rules = [], pii = false }: RedactorOptions): Redactor {
  const own = rules.map(ownPattern).filter((pattern) => pattern !== null)
  const literals = findLiterals(environmentSecrets(env, new Set([PLACEHOLDER_KEY])))
  const patterns = findPatterns([...VALUE_PATTERNS, ...own, ...(pii ? PII_PATTERNS : [])])
  const headerRule = ruleByName(rules, 'headers')
  const queryRule = ruleByName(rules, 'query')
  const secretHeader = (name: string, value: string) =>
    headerRule(name) ?? (isSecretHeader(name, value) ? 'header' : null)

  const always: readonly Finder[] = [literals, findMembers, findHeaderLines(secretHeader), patterns]
  const forms: readonly Finder[] = [...always, findFormFields]
  const parts: readonly Finder[] = [...always, findParts]

  function findAll(text: string, finders: readonly Finder[]): Span[] {
    const found: Span[] = []
    for (const find of finders) find(text, found)
    return found.length === 0 ? found : mergeSpans(text, found)
  }

  function clean(text: string, finders = always, cuts: readonly StreamCut[] = [], bytes = utf8Length) {
    const hit: string[] = []
    let now = text
    let cutNow = cuts
    for (let round = 0; round < ROUNDS; round++) {
      const spans = findAll(now, finders)
      if (spans.length === 0) break
      const spliced = splice(now, spans)
      if (cuts.length > 0) cutNow = remapCuts(cutNow, now, spliced, bytes)
      for (const { rule } of spans) hit.push(rule)
      now = spliced.text
    }
    return { text: now, cuts: cutNow, redactions: tally(hit) }
  }

  function cleanHeaders(headers: HeaderList) {
    const hit: string[] = []
    const values = headers.map(([name, value]): readonly [string, string] => {
      const rule = secretHeader(name, value)
      if (rule !== null) {
        if (value === '' || value === placeholder(rule)) return [name, value]
        hit.push(rule)
        return [name, placeholder(rule)]
      }
      const { text, redactions } = /^(?:location|content-location|referer|link)$/i.test(name)
        ? cleanUrl(value)
        : clean(value)
      for (const { rule: of, count } of redactions) for (let n = 0; n < count; n++) hit.push(of)
      return redactions.length === 0 ? [name, value] : [name, text]
    })
    return { headers: hit.length === 0 ? headers : values, redactions: tally(hit) }
  }

  function cleanUrl(url: string) {
    const hit: string[] = []
    // Textual, not through URL: what holds no secret keeps its spelling.
    const named = url.replace(/([?&#;])([^=&#;?]+)=([^&#]*)/g, (pair, mark: string, name: string, value: string) => {
      const rule = queryRule(name) ?? (isSecretQuery(decoded(name)) ? 'query' : null)
      if (rule === null || value === '' || value === placeholder(rule)) return pair
      hit.push(rule)
      return `${mark}${name}=${placeholder(rule)}`
    })
    const { text, redactions } = clean(named)
    return { text, redactions: addRedactions(tally(hit), redactions) }
  }

  function cleanBody(body: Body, contentType: string | null, cuts: readonly StreamCut[]) {
    if (body === null) return { body, cuts, redactions: [] }
    const finders = /x-www-form-urlencoded/i.test(contentType ?? '')
      ? forms
      : /multipart\//i.test(contentType ?? '')
        ? parts
        : always
    if ('text' in body) {
      const { text, cuts: moved, redactions } = clean(body.text, finders, cuts)
      return { body: redactions.length === 0 ? body : { text }, cuts: moved, redactions }
    }
    // Bytes as latin1: one code unit a byte, so that a key between the bytes of an upload is found and nothing else moves.
    const binary = Buffer.from(body.base64, 'base64').toString('latin1')
    const { text, cuts: moved, redactions } = clean(binary, finders, cuts, (piece) => piece.length)
    if (redactions.length === 0) return { body, cuts, redactions }
    return { body: { base64: Buffer.from(text, 'latin1').toString('base64') }, cuts: moved, redactions }
  }

  return {
    text(text) {
      const { text: out, redactions } = clean(text)
      return { text: out, redactions }
    },
    headers: cleanHeaders,
    url(url) {
      const { text, redactions } = cleanUrl(url)
      return { url: text, redactions }
    },
    json(value) {
      const written = JSON.stringify(value) as string | undefined
      if (written === undefined) return { value, redactions: [] }
      const { text, redactions } = clean(written)
      return { value: redactions.length === 0 ? value : JSON.parse(text), redactions }
    },
    body(body, contentType = null) {
      const { body: out, redactions } = cleanBody(body, contentType, [])
      return { body: out, redactions }
    },
    request(request) {
      const url = cleanUrl(request.url)
      const headers = cleanHeaders(request.headers)
      const body = cleanBody(request.body, contentTypeOf(request.headers), [])
      return {
        request: { ...request, url: url.text, headers: headers.headers, body: body.body },
        redactions: addRedactions(url.redactions, headers.redactions, body.redactions),
      }
    },
    response(response) {
      const headers = cleanHeaders(response.headers)
      const body = cleanBody(response.body, contentTypeOf(response.headers), response.cuts)
      const status = clean(response.statusText)
      const end = response.end.kind === 'broken' ? clean(response.end.message) : null
      return {
        response: {
          ...response,
          statusText: status.text,
          headers: headers.headers,
          body: body.body,
          cuts: body.cuts,
          end: response.end.kind === 'broken' && end !== null ? { ...response.end, message: end.text } : response.end,
        },
        redactions: addRedactions(headers.redactions, body.redactions, status.redactions, end?.redactions ?? []),
      }
    },
    fault(fault) {
      const { text, redactions } = clean(fault.message)
      return { fault: { ...fault, message: text }, redactions }
    },
    scan: (text) => [...new Set(findAll(text, always).map(({ rule }) => rule))].sort(),
  }
}

function ownPattern({ name, pattern }: RedactionRule): Pattern | null {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new TypeError(
      `redaction rule ${JSON.stringify(name)}: a name is lower-case letters, digits and "-"; it stands in the placeholder`,
    )
  }
  if (pattern === undefined) return null
  const flags = `${pattern.flags.replace(/[gdy]/g, '')}gd`
  return { rule: name, needles: [], pattern: new RegExp(pattern.source, flags) }
}

function ruleByName(rules: readonly RedactionRule[], where: 'headers' | 'query'): (name: string) => string | null {
  const byName = new Map(rules.flatMap((rule) => (rule[where] ?? []).map((name) => [name.toLowerCase(), rule.name])))
  return (name) => byName.get(name.toLowerCase()) ?? null
}

const utf8Length = (piece: string) => Buffer.byteLength(piece, 'utf8')

function contentTypeOf(headers: HeaderList): string | null {
  return headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
