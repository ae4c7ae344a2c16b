import type { ProviderErrorKind, WireReading } from '../exchange.ts'
import { peek, peekList, peekText } from './peek.ts'

type Told = NonNullable<WireReading['error']>

/** What a provider's error object holds, under the names the providers use. */
interface Words {
  readonly status: number | null
  /** `code`, `type` and `status`, lower-case, joined by spaces. */
  readonly code: string
  readonly message: string
  readonly error: unknown
}

type Rule = readonly [kind: ProviderErrorKind, applies: (words: Words) => boolean]

const code = (pattern: RegExp) => (words: Words) => pattern.test(words.code)
const says = (pattern: RegExp) => (words: Words) => pattern.test(words.message)
const status =
  (...of: number[]) =>
  (words: Words) =>
    words.status !== null && of.includes(words.status)

/** First match wins: what the body says is more exact than the status, which providers share between causes. */
const RULES: readonly Rule[] = [
  ['content_filter', code(/content_filter|content_policy|responsibleai|moderation_blocked/)],
  ['context_length', code(/context_length|context_window|string_above_max_length/)],
  ['context_length', says(/maximum context length|context window|prompt is too long|input token count.{0,40}exceeds/i)],
  ['quota', code(/insufficient_(?:quota|balance|credits)|billing_|credit_balance|payment_required/)],
  ['quota', status(402)],
  ['quota', says(/credit balance is too low|insufficient (?:credits?|balance|quota|funds)/i)],
  ['quota', (words) => words.status === 429 && dailyQuota(words)],
  ['unknown_model', code(/model_not_found|deploymentnotfound|unknown_model|invalid_model|model_not_available/)],
  ['unknown_model', (words) => (words.status === 404 || words.status === 400) && namesUnknownModel(words.message)],
  ['unknown_model', (words) => words.status === 404 && /^model: /.test(words.message)],
  ['overloaded', code(/overloaded|unavailable|capacity_exceeded/)],
  ['overloaded', status(503, 529, 498)],
  ['rate_limit', code(/rate_limit|resource_exhausted|too_many_requests|throttl/)],
  ['rate_limit', status(429)],
  ['auth', code(/invalid_api_key|authentication|unauthenticated/)],
  ['auth', says(/api key not valid|incorrect api key|invalid api key/i)],
  ['auth', status(401)],
  ['permission', code(/permission/)],
  ['permission', status(403)],
  ['server', code(/server_error|internal|api_error|timeout_error/)],
  ['server', (words) => words.status !== null && (words.status >= 500 || words.status === 408)],
  ['bad_request', code(/invalid_|bad_request|failed_precondition/)],
  ['bad_request', (words) => words.status !== null && words.status >= 400],
]

function namesUnknownModel(message: string): boolean {
  return (
    /\bmodels?\b/i.test(message) &&
    /not found|does ?n[o']t exist|not a valid model|unknown model|not supported for|no endpoints found/i.test(message)
  )
}

/**
 * Google answers 429 RESOURCE_EXHAUSTED for a minute's limit and for a day's: the violated quota's id tells them apart.
 * OpenAI's `insufficient_quota` has its own code and needs no look at the text.
 */
function dailyQuota(words: Words): boolean {
  return peekList(words.error, 'details').some((detail) =>
    peekList(detail, 'violations').some((violation) => /PerDay/.test(peekText(violation, 'quotaId') ?? '')),
  )
}

/**
 * What an error says. `status` is the HTTP status when it is an error status, else null (an error told inside a 200
 * answer or a stream); the body's own numeric code then stands for it.
 */
export function classifyError(httpStatus: number | null, body: unknown, text: string): Told {
  // The body is the object itself, `{ error: {…} }`, or a list of one (Google streams).
  const outer = Array.isArray(body) ? body[0] : body
  const nested = peek(outer, 'error')
  const error = typeof nested === 'object' && nested !== null ? nested : outer
  const numeric = peek(error, 'code') ?? peek(error, 'status')
  const own = typeof numeric === 'number' && numeric >= 400 && numeric < 600 ? numeric : null
  const parts = [peek(error, 'code'), peek(error, 'type'), peek(error, 'status'), peek(error, 'innererror', 'code')]
  const message = (typeof nested === 'string' ? nested : null) ?? messageOf(error) ?? text.trim()
  const words: Words = {
    status: httpStatus ?? own,
    code: parts
      .filter((part) => typeof part === 'string')
      .join(' ')
      .toLowerCase(),
    message,
    error,
  }
  const kind = RULES.find(([, applies]) => applies(words))?.[0] ?? 'other'
  const shown = message !== '' ? message : httpStatus === null ? 'the provider gave no message' : `HTTP ${httpStatus}`
  return { kind, message: shown.slice(0, 2000) }
}

/** OpenRouter hides the upstream's words in `metadata.raw`; FastAPI hosts say `detail`. */
function messageOf(error: unknown): string | null {
  const message = peekText(error, 'message') ?? peekText(error, 'detail') ?? peekText(error, 'msg')
  const raw = peekText(error, 'metadata', 'raw')
  return message !== null && raw !== null ? `${message}: ${raw}` : (message ?? raw)
}
