import { calcPrice, type Usage } from '@pydantic/genai-prices'
import { matchesGlob } from '../capacity/glob.ts'
import type { WireReading } from '../traffic/exchange.ts'
import { priceIdOf } from '../traffic/wire/hosts.ts'
import type { CallCost } from './calls.ts'
import { type MicroUsd, NO_USAGE, type TokenUsage, toMicroUsd } from './usage.ts'

/** USD per million tokens, or 0: nothing is paid (a local model). Cache prices default to the input price. */
export type Price =
  | 0
  | { readonly input: number; readonly output: number; readonly cacheRead?: number; readonly cacheWrite?: number }

/** What a user says of the prices of lanes: `*` in `match` stands for any run of characters. */
export interface LanePrice {
  readonly match: string
  /** Absent: the price list's. */
  readonly price?: Price
}
/** The first entry that matches a lane counts, also where it says no price: so it is with everything of a lane. */
export type PriceOverrides = readonly LanePrice[]

/** What is charged for nothing: a request that was refused or never left. */
const NOTHING: CallCost = { microUsd: 0, provenance: 'estimated' }
const UNKNOWN: CallCost = { microUsd: null, provenance: 'uncaptured' }

/**
 * What one call cost: as the provider states it (`observed`), else tokens times price at that time (`estimated`), else
 * `uncaptured` with null, never 0: a model without a price, an answer without usage or one that broke off.
 *
 * Prices come with `@pydantic/genai-prices`; nothing is fetched. An HTTP error is not billed and costs 0.
 */
export function priceExchange(reading: WireReading, at: Date, prices: PriceOverrides = []): CallCost {
  if (reading.observedMicroUsd !== null) return { microUsd: reading.observedMicroUsd, provenance: 'observed' }
  if (reading.usageMissing === 'error-response') return NOTHING
  const own = overrideOf(reading.lane, prices)
  if (own === 0) return NOTHING
  const { usage } = reading
  if (usage === null || usage.input === null || usage.output === null) return UNKNOWN
  const usd =
    own === null ? listPrice(reading, usage, at) : ownPrice({ ...usage, input: usage.input, output: usage.output }, own)
  return usd === null ? UNKNOWN : { microUsd: toMicroUsd(usd), provenance: 'estimated' }
}

/** The sum of several calls; one that nobody can price makes the sum unknown, one that is estimated an estimate. */
export function sumCost(parts: readonly CallCost[]): CallCost {
  let sum: MicroUsd = 0
  for (const { microUsd } of parts) {
    if (microUsd === null) return UNKNOWN
    sum += microUsd
  }
  return {
    microUsd: sum,
    provenance: parts.some(({ provenance }) => provenance !== 'observed') ? 'estimated' : 'observed',
  }
}

/** The price that the user declares for a lane; null where they leave it to the price list. */
export function overrideOf(lane: string, prices: PriceOverrides): Price | null {
  return prices.find(({ match }) => matchesGlob(match, lane))?.price ?? null
}

/**
 * Whether the price list has the model of a lane; null where the lane's name does not say whose price list it is
 * (`fast`, a gateway, a local model): that shows on the wire.
 */
export function isListed(lane: string, at: Date): boolean | null {
  const slash = lane.indexOf('/')
  const provider = slash === -1 ? undefined : priceIdOf(lane.slice(0, slash))
  if (provider === undefined || provider === null) return null
  const usage = { ...NO_USAGE, input: 1, output: 1 }
  const model = lane.slice(slash + 1)
  return listPrice({ servedModel: null, requestedModel: model, pricing: { provider, parts: {} } }, usage, at) !== null
}

function ownPrice(usage: TokenUsage & { input: number; output: number }, price: Exclude<Price, 0>): number {
  const read = usage.cacheRead ?? 0
  const write = usage.cacheWrite ?? 0
  const fresh = usage.input - read - write
  return (
    (fresh * price.input +
      read * (price.cacheRead ?? price.input) +
      write * (price.cacheWrite ?? price.input) +
      usage.output * price.output) /
    1_000_000
  )
}

/** By the served model, else by the requested one: a new dated snapshot may not be in the list yet. */
function listPrice(
  reading: Pick<WireReading, 'servedModel' | 'requestedModel' | 'pricing'>,
  usage: TokenUsage,
  timestamp: Date,
): number | null {
  const { provider, parts } = reading.pricing
  if (provider === null) return null
  const counts: Usage = {
    ...numbers({
      input_tokens: usage.input,
      cache_read_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
      output_tokens: usage.output,
      output_reasoning_tokens: usage.reasoning,
      cache_write_1h_tokens: parts.cacheWrite1h,
      input_audio_tokens: parts.inputAudio,
      cache_audio_read_tokens: parts.cacheReadAudio,
      output_audio_tokens: parts.outputAudio,
    }),
  }
  for (const model of [reading.servedModel, reading.requestedModel]) {
    if (model === null) continue
    try {
      // Always with the provider's id: left alone the list would guess one from the model's name.
      const price = calcPrice(counts, model, { providerId: provider, timestamp })
      if (price !== null && Number.isFinite(price.total_price)) return price.total_price
    } catch {
      // The list refuses counts it cannot split (overlapping parts). That is no price, not a failed cell.
    }
  }
  return null
}

function numbers(counts: Readonly<Record<string, number | null | undefined>>): Usage {
  return Object.fromEntries(
    Object.entries(counts).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
