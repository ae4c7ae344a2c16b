import { type Capture, placeOf } from '../traffic/capture.ts'
import { readExchange } from '../traffic/wire/read.ts'
import { type PriceOverrides, priceExchange } from './cost.ts'
import type { MicroUsd } from './usage.ts'

/** What calls cost whose cell has no record of them. */
export interface Spend {
  readonly calls: number
  /** The part that is known. */
  readonly microUsd: MicroUsd
  /** Calls whose charge nobody knows. */
  readonly unknownCalls: number
  /** The most those can have been charged; 0 where there are none, null where nothing bounds them. */
  readonly boundMicroUsd: MicroUsd | null
}

export const NO_SPEND: Spend = { calls: 0, microUsd: 0, unknownCalls: 0, boundMicroUsd: 0 }

/** The bill of an attempt, as far as its raw capture shows it. */
export function spendOf({ exchanges, sent, unfinished }: Capture, prices: PriceOverrides = []): Spend {
  const bounds = new Map(sent.map((mark) => [placeOf(mark), mark.boundMicroUsd]))
  let spend = NO_SPEND
  let seen = false
  for (const exchange of exchanges) {
    const reading = readExchange(exchange)
    if (reading === null) continue
    seen = true
    const { microUsd } = priceExchange(reading, new Date(exchange.startedAt), prices)
    spend =
      microUsd === null
        ? addSpend(spend, unknownSpend(bounds.get(placeOf(exchange)) ?? null))
        : addSpend(spend, { ...NO_SPEND, calls: 1, microUsd })
  }
  // What it called may have bought tokens behind a host that is no provider, and nobody saw that bill.
  if (!seen && exchanges.length > 0) spend = addSpend(spend, unknownSpend(null))
  for (const { boundMicroUsd } of unfinished) spend = addSpend(spend, unknownSpend(boundMicroUsd))
  return spend
}

/** One call of which nothing but its bound is known. */
export function unknownSpend(boundMicroUsd: MicroUsd | null): Spend {
  return { calls: 1, microUsd: 0, unknownCalls: 1, boundMicroUsd }
}

export function addSpend(a: Spend, b: Spend): Spend {
  return {
    calls: a.calls + b.calls,
    microUsd: a.microUsd + b.microUsd,
    unknownCalls: a.unknownCalls + b.unknownCalls,
    boundMicroUsd: a.boundMicroUsd === null || b.boundMicroUsd === null ? null : a.boundMicroUsd + b.boundMicroUsd,
  }
}
