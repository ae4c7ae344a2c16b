import { overrideOf, type PriceOverrides, priceExchange } from '../record/cost.ts'
import { type MicroUsd, NO_USAGE } from '../record/usage.ts'
import { peekCount } from '../traffic/wire/peek.ts'
import type { RequestReading } from '../traffic/wire/read.ts'
import type { PermitRequest } from './events.ts'

/** English text has some four bytes to a token, code and other scripts fewer: rather too many tokens than too few. */
const BYTES_PER_TOKEN = 3
/** What a picture or file inside the body is taken to weigh; its base64 says nothing of its tokens. */
const ATTACHMENT_TOKENS = 1_600
const ATTACHMENT = /[A-Za-z0-9+/_-]{2000,}={0,2}/g
/** The output of a request that does not bound its own, for its price. */
const UNBOUNDED_OUTPUT_TOKENS = 16_384

/** Where the APIs put the most an answer may have. */
const OUTPUT_LIMITS = [
  ['max_completion_tokens'],
  ['max_output_tokens'],
  ['max_tokens'],
  ['generationConfig', 'maxOutputTokens'],
  ['inferenceConfig', 'maxTokens'],
] as const
/** Where they put the number of answers. */
const ANSWERS = [['n'], ['generationConfig', 'candidateCount']] as const

/** Tokens of a request before it leaves: the input estimated from its size, the output as the request bounds it. */
export function requestTokens(text: string, body: unknown): NonNullable<PermitRequest['tokens']> {
  let attachments = 0
  const rest = text.replace(ATTACHMENT, () => {
    attachments++
    return ''
  })
  const bytes = new TextEncoder().encode(rest).length
  const limit = firstCount(body, OUTPUT_LIMITS)
  return {
    input: Math.ceil(bytes / BYTES_PER_TOKEN) + attachments * ATTACHMENT_TOKENS,
    output: limit === null ? null : limit * Math.max(1, firstCount(body, ANSWERS) ?? 1),
  }
}

/**
 * The most a request can be charged, as far as its tokens bound it; null where its model has no price.
 *
 * @param reading null for a request to a provider that is none of its model APIs: free where its lane is
 */
export function requestBound(
  reading: RequestReading | null,
  lane: string,
  tokens: NonNullable<PermitRequest['tokens']>,
  at: Date,
  prices: PriceOverrides = [],
): MicroUsd | null {
  if (reading === null) return overrideOf(lane, prices) === 0 ? 0 : null
  const usage = { ...NO_USAGE, input: tokens.input, output: tokens.output ?? UNBOUNDED_OUTPUT_TOKENS }
  const answer = { usage, servedModel: null, usageMissing: null, observedMicroUsd: null }
  const unsaid = { finishReason: null, truncatedByLength: false, complete: true, error: null, responseId: null }
  return priceExchange({ ...reading, ...answer, ...unsaid }, at, prices).microUsd
}

function firstCount(body: unknown, paths: readonly (readonly string[])[]): number | null {
  for (const path of paths) {
    const count = peekCount(body, ...path)
    if (count !== null) return count
  }
  return null
}
