import type { TokenUsage } from '../../record/usage.ts'
import type { PricedParts } from '../exchange.ts'
import type { ServerEvent } from './stream.ts'

/** The body of a successful answer, parsed. */
export type Answer =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'events'; readonly events: readonly ServerEvent[] }

/** What a request asks for, before it leaves. */
export interface Asked {
  readonly model: string | null
  readonly streamed: boolean
  readonly prompt: unknown
}

/** What an answer says; every member null where it says nothing. */
export interface Told {
  readonly servedModel: string | null
  readonly usage: TokenUsage | null
  /** True where usage was there and contradicts itself: it is not used. */
  readonly contradictory?: boolean
  readonly finishReason: string | null
  readonly truncatedByLength: boolean
  /** The terminal event of a stream was seen; for JSON: the value is an answer of this API. */
  readonly complete: boolean
  /** An error told inside a 2xx answer, as the provider shapes it. */
  readonly error?: unknown
  readonly observedMicroUsd?: number | null
  readonly responseId: string | null
  readonly parts?: PricedParts
}

/** How one provider API is recognised and read. */
export interface WireApi {
  readonly api: string
  /** The API's own vendor: provider of a loopback host that speaks it. */
  readonly vendor: string
  /** By method and path alone. */
  matches(method: string, path: string): boolean
  /** By the body: what is asked of hosts that are no known provider, whose paths prove nothing. */
  speaks(body: unknown, path: string): boolean
  ask(body: unknown, path: string): Asked
  tell(answer: Answer): Told
}

export const NOTHING_TOLD: Told = {
  servedModel: null,
  usage: null,
  finishReason: null,
  truncatedByLength: false,
  complete: false,
  responseId: null,
}
