import { openMs, type SeenCell, type SeenUse } from '../capacity/seen-cells.ts'
import type { Exchange } from '../traffic/exchange.ts'
import { readExchange } from '../traffic/wire/read.ts'
import { type PriceOverrides, priceExchange } from './cost.ts'
import type { RunRecord } from './record.ts'
import { toMicroUsd } from './usage.ts'

/**
 * What a cell took, as its calls say it. A refused attempt is no call: a run that is planned reckons with none.
 *
 * @param prices what the user says of prices
 */
export function seenInExchanges(
  variantId: string,
  exchanges: readonly Exchange[],
  prices: PriceOverrides = [],
): SeenCell {
  const uses = new Map<string, { -readonly [key in keyof SeenUse]: SeenUse[key] }>()
  const spans: { start: number; ms: number | null }[] = []
  for (const exchange of exchanges) {
    const reading = exchange.source === 'mocked' ? null : readExchange(exchange)
    if (reading === null || reading.usageMissing === 'error-response') continue
    const { role, startedAt, totalMs } = exchange
    const { lane, usage } = reading
    const { microUsd } = priceExchange(reading, new Date(startedAt), prices)
    const tokens = usage === null || usage.input === null || usage.output === null ? null : usage.input + usage.output
    const key = JSON.stringify([lane, role])
    const use = uses.get(key) ?? { lane, role, calls: 0, tokens: 0, ms: 0, microUsd: 0 }
    uses.set(key, use)
    use.calls++
    use.tokens = sum(use.tokens, tokens)
    use.ms = sum(use.ms, totalMs)
    use.microUsd = sum(use.microUsd, microUsd)
    spans.push({ start: Date.parse(startedAt), ms: totalMs })
  }
  return { variantId, uses: [...uses.values()], ms: openMs(spans) }
}

/**
 * What a cell took, where its record alone says it: of a cell without judges that called once, or not at all. Null where
 * the calls must be looked at.
 */
export function seenInRecord({ variantId, lane, calls, cost, tokens, providerMs }: RunRecord): SeenCell | null {
  if (calls.judge + calls.setup > 0 || calls.subject > 1 || calls.retried > 0) return null
  if (calls.subject === 0) return { variantId, uses: [], ms: 0 }
  const { input, output, known } = tokens
  const use: SeenUse = {
    lane,
    role: 'subject',
    calls: 1,
    tokens: known && input !== null && output !== null ? input + output : null,
    ms: providerMs,
    microUsd: cost.subjectUsd === null ? null : toMicroUsd(cost.subjectUsd),
  }
  return { variantId, uses: [use], ms: providerMs }
}

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)
