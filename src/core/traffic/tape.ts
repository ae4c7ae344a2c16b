import { type Difference, differences } from './difference.ts'
import type { Exchange, ExchangeRequest } from './exchange.ts'
import { type MatchOptions, matchKey } from './match.ts'

/** Why a request finds no answer. */
export interface TapeMiss {
  /** `unknown`: no recorded request has this key; `exhausted`: all of them were served, or this ordinal was. */
  readonly miss: 'unknown' | 'exhausted'
  /** How many exchanges with this key the recording holds. */
  readonly recorded: number
}

/** The recorded request that comes nearest to one that misses, and what sets them apart. */
export interface Nearest {
  readonly exchange: Exchange
  readonly differences: readonly Difference[]
}

/** The recorded exchanges of one cell, to be served once each. */
export interface Tape {
  /** Whether `take` with the same arguments would find an exchange. */
  has(key: string, ordinal?: number): boolean
  /** The exchange with this key and ordinal; without an ordinal the next one not yet served. */
  take(key: string, ordinal?: number): Exchange | TapeMiss
  /** Same method and address first, then the fewest and shortest differences; null for an empty tape. */
  nearest(request: ExchangeRequest): Nearest | null
  /** Never served, in recorded order. */
  unused(): readonly Exchange[]
}

/** Differences are worked out for this many candidates at most: a miss must not take seconds. */
const CANDIDATES = 50

/**
 * A tape of a cell's exchanges. An exchange is never served twice: a repeat that was not recorded is a miss.
 *
 * @param options when given, keys are worked out anew from the recorded requests, so that a recording made with other
 *   volatile members still serves; otherwise the recorded keys hold
 */
export function createTape(exchanges: readonly Exchange[], options?: MatchOptions): Tape {
  const byKey = new Map<string, Exchange[]>()
  for (const exchange of exchanges) {
    const key = options === undefined ? exchange.key : matchKey(exchange.request, options).key
    const list = byKey.get(key)
    if (list === undefined) byKey.set(key, [exchange])
    else list.push(exchange)
  }
  // New keys may bring together what was recorded apart: file order decides between equal ordinals.
  for (const list of byKey.values()) list.sort((a, b) => a.ordinal - b.ordinal)
  const served = new Set<Exchange>()

  function find(key: string, ordinal: number | undefined): Exchange | null {
    const list = byKey.get(key) ?? []
    // The place in the list is the ordinal: a recording of which somebody deleted a line still serves in order.
    const found = ordinal === undefined ? list.find((exchange) => !served.has(exchange)) : list[ordinal]
    return found === undefined || served.has(found) ? null : found
  }

  return {
    has: (key, ordinal) => find(key, ordinal) !== null,
    take(key, ordinal) {
      const found = find(key, ordinal)
      if (found !== null) {
        served.add(found)
        return found
      }
      const recorded = byKey.get(key)?.length ?? 0
      return { miss: recorded === 0 ? 'unknown' : 'exhausted', recorded }
    },
    nearest: (request) => nearest(request, exchanges, options),
    unused: () => exchanges.filter((exchange) => !served.has(exchange)),
  }
}

function nearest(request: ExchangeRequest, exchanges: readonly Exchange[], options: MatchOptions = {}): Nearest | null {
  const address = addressOf(request)
  const same = exchanges.filter((exchange) => addressOf(exchange.request) === address)
  const candidates = (same.length > 0 ? same : exchanges).slice(0, CANDIDATES)
  let best: (Nearest & { readonly weight: number }) | null = null
  for (const exchange of candidates) {
    const found = differences(exchange.request, request, options)
    const weight = found.reduce(
      (sum, { recorded, asked }) => sum + 32 + (recorded?.length ?? 0) + (asked?.length ?? 0),
      0,
    )
    if (best === null || weight < best.weight) best = { exchange, differences: found, weight }
  }
  return best === null ? null : { exchange: best.exchange, differences: best.differences }
}

function addressOf({ method, url }: ExchangeRequest): string {
  if (!URL.canParse(url)) return `${method} ${url}`
  const { origin, pathname } = new URL(url)
  return `${method.toUpperCase()} ${origin}${pathname}`
}
