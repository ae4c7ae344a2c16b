import type { TokenUsage } from '../record/usage.ts'

/** Who made a provider call: `run`, a scorer, or code outside both (loading scenarios). */
export const CALL_ROLES = ['subject', 'judge', 'setup'] as const
export type CallRole = (typeof CALL_ROLES)[number]

/** Header pairs in wire order; a name may repeat (`set-cookie`). Names are lower-case. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** Text where the bytes are UTF-8 text that round-trips, base64 where they are not, null where there is no body. */
export type Body = { readonly text: string } | { readonly base64: string } | null

/** One HTTP request, redacted. */
export interface ExchangeRequest {
  readonly method: string
  /** Absolute, secrets in the query replaced. */
  readonly url: string
  readonly headers: HeaderList
  readonly body: Body
}

/** Where a chunk of a streamed body ends: decoded bytes in this chunk, milliseconds since the previous one. */
export type StreamCut = readonly [bytes: number, ms: number]

/** How a response body ended. Anything but `complete` is kept as what it is and replays as what it is. */
export type BodyEnd =
  | { readonly kind: 'complete' }
  /** The client aborted its request or cancelled the body. */
  | { readonly kind: 'client-abort' }
  /** The connection broke while the body was read. */
  | { readonly kind: 'broken'; readonly code: string; readonly message: string }
  /** The client read on; only the beginning of so many bytes was kept. */
  | { readonly kind: 'cut'; readonly bytes: number }

/** One HTTP response, decoded (no content-encoding) and redacted. */
export interface ExchangeResponse {
  readonly kind: 'response'
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
  readonly body: Body
  readonly cuts: readonly StreamCut[]
  readonly end: BodyEnd
}

/** A request that got no response. */
export interface ExchangeFault {
  readonly kind: 'fault'
  readonly phase: 'connect' | 'headers' | 'aborted'
  /** System or undici code, for instance ECONNRESET, ENOTFOUND, UND_ERR_SOCKET. */
  readonly code: string
  readonly message: string
}

export interface Redaction {
  readonly rule: string
  readonly count: number
}

/** One captured HTTP request with its response or error; redacted before it exists in this shape. */
export interface Exchange {
  readonly role: CallRole
  /** Match key: see traffic/match. */
  readonly key: string
  /** Position among the exchanges of this cell with the same key, from 0, given at the moment of the call. */
  readonly ordinal: number
  readonly request: ExchangeRequest
  readonly outcome: ExchangeResponse | ExchangeFault
  readonly source: 'live' | 'replayed' | 'mocked'
  /** ISO instant of the (original) call. */
  readonly startedAt: string
  /** Milliseconds until the headers; null when none came. */
  readonly ttfbMs: number | null
  /** Milliseconds until the body ended or the fault; null for an imported call whose source does not say. */
  readonly totalMs: number | null
  readonly redactions: readonly Redaction[]
  /** Attempts the recorder made on the wire before the client saw this outcome, minus one. */
  readonly retried: number
}

/** What a provider error says, as far as the status and body show. */
export const PROVIDER_ERRORS = [
  'rate_limit',
  'quota',
  'overloaded',
  'server',
  'auth',
  'permission',
  'unknown_model',
  'context_length',
  'content_filter',
  'bad_request',
  'other',
] as const
export type ProviderErrorKind = (typeof PROVIDER_ERRORS)[number]

/** Tokens inside `usage` that some price lists bill at another rate; absent where the exchange reports none. */
export interface PricedParts {
  /** Cache writes kept for an hour (Anthropic bills them higher than the default five minutes). */
  readonly cacheWrite1h?: number
  readonly inputAudio?: number
  /** The part of `inputAudio` that came from the cache. */
  readonly cacheReadAudio?: number
  readonly outputAudio?: number
}

/** What the wire said about one exchange with a model provider. */
export interface WireReading {
  /** API family, for instance `openai-chat`, `anthropic-messages`. */
  readonly api: string
  /** Provider by host (`openai`, `groq`, …), else the host itself. */
  readonly provider: string
  readonly requestedModel: string | null
  readonly servedModel: string | null
  /** `provider/model` as requested: the wire lane. */
  readonly lane: string
  readonly streamed: boolean
  /** Null when the exchange reports none, with the reason beside it. */
  readonly usage: TokenUsage | null
  /**
   * - `not-reported`: a whole answer without usage
   * - `error-response`: an HTTP error status, or a connection that never opened: nothing was bought
   * - `incomplete`: the answer broke off, so the call was made and its bill is unknown
   * - `unreadable`: a body that does not parse, or counts that contradict each other (a part larger than its whole);
   *   may stand beside a usage of which one half survived
   */
  readonly usageMissing: 'not-reported' | 'error-response' | 'incomplete' | 'unreadable' | null
  /** The provider's own word: `stop`, `end_turn`, `length`, `tool_calls`, `MAX_TOKENS`, …; null when none. */
  readonly finishReason: string | null
  /** True when the answer was cut by its token limit. */
  readonly truncatedByLength: boolean
  /** False for a stream without its terminal event, or JSON that does not parse. */
  readonly complete: boolean
  readonly error: { readonly kind: ProviderErrorKind; readonly message: string } | null
  /** Charge stated by the provider itself, micro-USD; null when it states none. */
  readonly observedMicroUsd: number | null
  /** System, messages and tools as sent: what a prompt hash covers. Null when the body is not readable. */
  readonly prompt: unknown
  /** The provider's id of the answer. A Responses answer fetched again has the same id: its usage counts once. */
  readonly responseId: string | null
  /** What a price needs beyond `usage`: the provider's id in the price list (null: not listed) and special tokens. */
  readonly pricing: { readonly provider: string | null; readonly parts: PricedParts }
}
