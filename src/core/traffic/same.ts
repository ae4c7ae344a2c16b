import type { Exchange, HeaderList } from './exchange.ts'
import { encodeExchange } from './format.ts'

/** Headers that tell the time, or how long something took. */
const CLOCKS = /^(?:date|age|server-timing|x-envoy-upstream-service-time|.*-processing-ms|x-response-time)$/

/** True where two lists of exchanges say the same but for clocks: instants, durations, and where chunks were cut. */
export function sameTraffic(a: readonly Exchange[], b: readonly Exchange[]): boolean {
  return a.length === b.length && a.every((exchange, index) => timeless(exchange) === timeless(b[index] ?? null))
}

function timeless(exchange: Exchange | null): string | null {
  if (exchange === null) return null
  const { outcome } = exchange
  return encodeExchange({
    ...exchange,
    startedAt: '',
    ttfbMs: null,
    totalMs: 0,
    outcome: outcome.kind === 'fault' ? outcome : { ...outcome, cuts: [], headers: untimed(outcome.headers) },
  })
}

const untimed = (headers: HeaderList): HeaderList => headers.filter(([name]) => !CLOCKS.test(name))
