import { overrideOf, type PriceOverrides, priceExchange } from '../record/cost.ts'
import { type MicroUsd, NO_USAGE } from '../record/usage.ts'
import type { ExchangeRequest, HeaderList } from '../traffic/exchange.ts'
import { readParts } from '../traffic/multipart.ts'
import { parseJson, peekCount } from '../traffic/wire/peek.ts'
import type { RequestReading } from '../traffic/wire/read.ts'
import type { PermitRequest } from './events.ts'
import { mediaTokens, withoutMedia } from './media.ts'

/** English text has some four bytes to a token, code and other scripts fewer: rather too many tokens than too few. */
const BYTES_PER_TOKEN = 3
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

/** What a request weighs before it leaves. */
export interface RequestSize {
  /** The input estimated from its size, the output as the request bounds it. */
  readonly tokens: NonNullable<PermitRequest['tokens']>
  /** Input tokens at most, as far as what is in the body bounds them: what a picture or a sound weighs is the model's. */
  readonly mostInput: number
}

export function requestSize({ body, headers }: Pick<ExchangeRequest, 'body' | 'headers'>): RequestSize {
  const text = body !== null && 'text' in body ? body.text : ''
  const json = parseJson(text)
  const limit = firstCount(json, OUTPUT_LIMITS)
  const output = limit === null ? null : limit * Math.max(1, firstCount(json, ANSWERS) ?? 1)
  const { input, most } =
    body !== null && 'base64' in body ? bytesSize(Buffer.from(body.base64, 'base64'), headers) : textSize(text)
  return { tokens: { input, output }, mostInput: most }
}

interface Size {
  readonly input: number
  readonly most: number
}

function textSize(text: string): Size {
  const { rest, media } = withoutMedia(text)
  const bytes = Math.ceil(new TextEncoder().encode(rest).length / BYTES_PER_TOKEN)
  return sum([{ input: bytes, most: bytes }, ...media])
}

/** Bytes that are no text, or a form of several parts of which some are. */
function bytesSize(bytes: Buffer, headers: HeaderList): Size {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const parts = /^\s*multipart\//i.test(type) ? readParts(bytes, type) : null
  if (parts === null) return mediaTokens(bytes)
  return sum(
    parts.map(({ content }) => (isText(content) ? textSize(Buffer.from(content).toString()) : mediaTokens(content))),
  )
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0')
  } catch {
    return false
  }
}

const sum = (sizes: readonly Size[]): Size => ({
  input: sizes.reduce((total, { input }) => total + input, 0),
  most: sizes.reduce((total, { most }) => total + most, 0),
})

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
