import type { OutgoingHttpHeaders } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Answer } from '../modes/provider.ts'
import { completion } from '../modes/provider.ts'

/** What a provider lets one model have. */
export interface Enforced {
  readonly concurrency?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  /** How much of these it takes at once, in seconds of them. */
  readonly burstSeconds: number
  /** Milliseconds of an answer. */
  readonly ms: number
  /** After the first no answer is given until a request was refused: so many are in flight then. */
  readonly untilRefused?: boolean
}

export const INPUT_TOKENS = 30
export const OUTPUT_TOKENS = 60
const WEIGHT = INPUT_TOKENS + OUTPUT_TOKENS

type Limit = 'concurrency' | 'requests' | 'tokens'

/** What became of the requests to one model, as the provider counts. */
export class Counted {
  answered = 0
  /** Requests over the limits, by limit: each was refused. */
  readonly over: Record<Limit, number> = { concurrency: 0, requests: 0, tokens: 0 }
  /** Requests made again before the time they were told. */
  early = 0
  peak = 0
  /** The most of a bucket that was in use, as a share of it. */
  fullest = 0
  readonly #limits: Enforced
  readonly #told = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  #inFlight = 0
  /** When all that was let in so far would have flowed in: the virtual scheduling of ATM's rate algorithm. */
  readonly #due: Record<'requests' | 'tokens', number> = { requests: 0, tokens: 0 }

  constructor(limits: Enforced) {
    this.#limits = limits
  }

  get refused(): number {
    return this.over.concurrency + this.over.requests + this.over.tokens
  }

  /** @returns null where it is let in, else the limit it is over, and for how long */
  arrive(question: string): { readonly limit: Limit; readonly waitMs: number } | null {
    const now = performance.now()
    if (now < (this.#told.get(question) ?? 0) - 1) this.early++
    const { concurrency = Infinity, requestsPerMinute, tokensPerMinute, burstSeconds } = this.#limits
    const burst = burstSeconds * 1_000
    const due = {
      requests: after(this.#due.requests, now, 1, requestsPerMinute),
      tokens: after(this.#due.tokens, now, WEIGHT, tokensPerMinute),
    }
    const limit =
      this.#inFlight >= concurrency
        ? 'concurrency'
        : due.requests - now > burst
          ? 'requests'
          : due.tokens - now > burst
            ? 'tokens'
            : null
    if (limit !== null) {
      this.over[limit]++
      for (const go of this.#waiting.splice(0)) go()
      // Rounded up as the headers round it.
      const waitMs = limit === 'concurrency' ? 200 : Math.ceil(due[limit] - now - burst)
      return { limit, waitMs }
    }
    this.#due.requests = due.requests
    this.#due.tokens = due.tokens
    this.fullest = Math.max(this.fullest, (due.requests - now) / burst, (due.tokens - now) / burst)
    this.peak = Math.max(this.peak, ++this.#inFlight)
    return null
  }

  told(question: string, ms: number): void {
    this.#told.set(question, performance.now() + ms)
  }

  /** Gives the answer when its time has come. */
  answer(give: () => void): void {
    const later = (): void => {
      setTimeout(() => {
        this.#inFlight--
        this.answered++
        give()
      }, this.#limits.ms)
    }
    if (this.#limits.untilRefused === true && this.answered > 0 && this.refused === 0) this.#waiting.push(later)
    else later()
  }
}

/** When what was let in so far, and so much more, will have flowed in; a request may come by the burst earlier. */
function after(due: number, now: number, weight: number, perMinute: number | undefined): number {
  return perMinute === undefined ? now : Math.max(due, now) + (weight * 60_000) / perMinute
}

const json = { 'content-type': 'application/json' }

interface Refusal {
  readonly headers: OutgoingHttpHeaders
  readonly body: object
  /** What the headers say after they are rounded. */
  readonly ms: number
}

const duration = (ms: number): string => (ms < 1_000 ? `${ms}ms` : `${ms / 1_000}s`)
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

/** How the providers say no: their own headers and bodies. */
const STYLES: Readonly<Record<string, (limit: Limit, ms: number) => Refusal>> = {
  // Of the two windows the one that is used up counts; the other one's reset is far away.
  'api.openai.com': (limit, ms) => {
    const used = limit === 'tokens' ? 'tokens' : 'requests'
    const other = used === 'tokens' ? 'requests' : 'tokens'
    return {
      ms,
      headers: {
        [`x-ratelimit-remaining-${used}`]: '0',
        [`x-ratelimit-reset-${used}`]: duration(ms),
        [`x-ratelimit-remaining-${other}`]: '149984',
        [`x-ratelimit-reset-${other}`]: '6m0s',
      },
      body: {
        error: {
          message: `Rate limit reached for gpt-5-mini on ${used} per min. Please try again in ${duration(ms)}.`,
          type: used,
          param: null,
          code: 'rate_limit_exceeded',
        },
      },
    }
  },
  'api.groq.com': (limit, ms) => ({
    ms: wholeSeconds(ms) * 1_000,
    headers: {
      'retry-after': String(wholeSeconds(ms)),
      'x-ratelimit-remaining-requests': '14370',
      'x-ratelimit-reset-requests': '2m59.56s',
      'x-ratelimit-remaining-tokens': limit === 'tokens' ? '0' : '17997',
      'x-ratelimit-reset-tokens': duration(ms),
    },
    body: {
      error: {
        message: `Rate limit reached. Please try again in ${duration(ms)}.`,
        type: limit,
        code: 'rate_limit_exceeded',
      },
    },
  }),
  'api.anthropic.com': (limit, ms) => {
    const used = limit === 'tokens' ? 'output-tokens' : 'requests'
    const seconds = wholeSeconds(ms)
    return {
      ms: seconds * 1_000,
      headers: {
        'retry-after': String(seconds),
        [`anthropic-ratelimit-${used}-remaining`]: '0',
        [`anthropic-ratelimit-${used}-reset`]: new Date(Date.now() + seconds * 1_000).toISOString(),
        'request-id': 'req_1',
      },
      body: {
        type: 'error',
        error: { type: 'rate_limit_error', message: `This request would exceed your rate limit of ${limit}` },
        request_id: 'req_1',
      },
    }
  },
  'generativelanguage.googleapis.com': (limit, ms) => ({
    ms,
    headers: {},
    body: {
      error: {
        code: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: `GenerateContent-${limit}PerMinutePerProjectPerModel` }],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${ms / 1_000}s` },
        ],
      },
    },
  }),
}

/** Answers like a provider that enforces what it promises, with a count of its own. */
export function throttling(limits: { readonly [host: string]: Enforced }): {
  readonly answer: Answer
  readonly counted: ReadonlyMap<string, Counted>
} {
  const counted = new Map(Object.entries(limits).map(([host, enforced]) => [host, new Counted(enforced)]))
  const answer: Answer = ({ host, body }, response) => {
    const own = counted.get(host)
    const style = STYLES[host]
    if (own === undefined || style === undefined) return false
    const over = own.arrive(body)
    if (over === null) {
      own.answer(() => response.writeHead(200, json).end(answerOf(host, body)))
      return true
    }
    const refusal = style(over.limit, over.waitMs)
    own.told(body, refusal.ms)
    response.writeHead(429, { ...json, ...refusal.headers }).end(JSON.stringify(refusal.body))
    return true
  }
  return { answer, counted }
}

function answerOf(host: string, body: string): string {
  const { model } = JSON.parse(body) as { model?: string }
  if (host === 'api.anthropic.com') {
    return JSON.stringify({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text: 'answer' }],
      usage: { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS },
    })
  }
  if (host === 'generativelanguage.googleapis.com') {
    return JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text: 'answer' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: INPUT_TOKENS,
        candidatesTokenCount: OUTPUT_TOKENS,
        totalTokenCount: WEIGHT,
      },
      modelVersion: 'gemini-2.5-flash',
    })
  }
  const answer = JSON.parse(completion(model ?? '', 'answer', INPUT_TOKENS)) as { usage: object }
  const usage = { prompt_tokens: INPUT_TOKENS, completion_tokens: OUTPUT_TOKENS, total_tokens: WEIGHT }
  return JSON.stringify({ ...answer, usage })
}
