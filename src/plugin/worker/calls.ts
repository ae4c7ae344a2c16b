import type { CheckedCall } from '../../core/integrity/check.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import type { Exchange } from '../../core/traffic/exchange.ts'
import { readExchange } from '../../core/traffic/wire/read.ts'

export const NO_CALLS: readonly CheckedCall[] = []

/** What the exchanges of a cell say and cost. */
export async function readCalls(exchanges: readonly Exchange[], prices: PriceOverrides): Promise<CheckedCall[]> {
  // The price list is large: a thread whose cells call no provider never loads it.
  const { priceExchange } = await import('../../core/record/cost.ts')
  return exchanges.map((exchange) => {
    const reading = readExchange(exchange)
    const billed = reading !== null && exchange.source !== 'mocked'
    return { ...exchange, reading, cost: billed ? priceExchange(reading, new Date(exchange.startedAt), prices) : null }
  })
}
