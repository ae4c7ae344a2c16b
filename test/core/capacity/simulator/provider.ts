import type { ExchangeFault, HeaderList, ProviderErrorKind } from '../../../../src/core/traffic/exchange.ts'

/** A time in which a provider lets fewer requests run at once than it promises. */
export interface Burst {
  readonly from: number
  readonly to: number
  readonly concurrency: number
}

export interface ProviderLimits {
  readonly concurrency: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly bursts?: readonly Burst[]
  /** Every n-th request meets this instead of an answer. */
  readonly every?: { readonly n: number; readonly with: Refusal }
}

export type Refusal =
  | { readonly kind: 'fault'; readonly fault: ExchangeFault }
  | {
      readonly kind: 'error'
      readonly status: number
      readonly error: ProviderErrorKind
      readonly headers: HeaderList
    }

export type Answer = { readonly kind: 'ok' } | Refusal

const TOO_MANY: Refusal = { kind: 'error', status: 429, error: 'rate_limit', headers: [['retry-after', '1']] }

/** Counts like a provider: what is in flight, and what arrived in the last 60 seconds, whole tokens included. */
export class Provider {
  readonly limits: ProviderLimits
  inFlight = 0
  peak = 0
  arrived = 0
  /** Requests over what the provider promises: each is a fault of whoever sent it. */
  over = 0
  billed = 0
  #recent: { readonly at: number; readonly tokens: number }[] = []
  #first = 0
  #tokens = 0

  constructor(limits: ProviderLimits) {
    this.limits = limits
  }

  arrive(now: number, tokens: number, microUsd: number): Answer {
    this.arrived++
    this.inFlight++
    this.peak = Math.max(this.peak, this.inFlight)
    const { concurrency, requestsPerMinute, tokensPerMinute, bursts = [], every } = this.limits
    for (
      let old = this.#recent[this.#first];
      old !== undefined && old.at <= now - 60_000;
      old = this.#recent[this.#first]
    ) {
      this.#tokens -= old.tokens
      this.#first++
    }
    const recent = this.#recent.length - this.#first
    const exceeds =
      this.inFlight > concurrency ||
      (requestsPerMinute !== undefined && recent + 1 > requestsPerMinute) ||
      (tokensPerMinute !== undefined && this.#tokens + tokens > tokensPerMinute && this.#tokens > 0)
    if (exceeds) {
      this.over++
      return TOO_MANY
    }
    if (every !== undefined && this.arrived % every.n === 0) return every.with
    const burst = bursts.find(({ from, to }) => from <= now && now < to)
    if (burst !== undefined && this.inFlight > burst.concurrency) return TOO_MANY
    this.#recent.push({ at: now, tokens })
    this.#tokens += tokens
    this.billed += microUsd
    return { kind: 'ok' }
  }

  leave(): void {
    this.inFlight--
  }
}
