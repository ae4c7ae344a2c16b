import { describe, expect, it } from 'vitest'
import { priceExchange, sumCost } from '../../../src/core/record/cost.ts'
import type { WireReading } from '../../../src/core/traffic/exchange.ts'
import { readExchange } from '../../../src/core/traffic/wire/read.ts'
import { hasRecordedTraffic, recordedTraffic } from '../traffic/recorded.ts'

const at = new Date('2026-01-15T00:00:00Z')
const usage = { input: 1000, output: 100, reasoning: null, cacheRead: null, cacheWrite: null }
const reading = (changes: Partial<WireReading> = {}): WireReading => ({
  api: 'openai-chat',
  provider: 'openai',
  requestedModel: 'gpt-4o',
  servedModel: 'gpt-4o-2024-08-06',
  lane: 'openai/gpt-4o',
  streamed: false,
  usage,
  usageMissing: null,
  finishReason: 'stop',
  truncatedByLength: false,
  complete: true,
  error: null,
  observedMicroUsd: null,
  prompt: null,
  responseId: null,
  pricing: { provider: 'openai', parts: {} },
  ...changes,
})

describe('priceExchange', () => {
  // OpenAI's list of 2024-10: gpt-4o 2.50 in, 1.25 cached, 10.00 out per million.
  it('multiplies tokens by list prices, cache reads at their own', () => {
    expect(priceExchange(reading(), at)).toEqual({ microUsd: 3500, provenance: 'estimated' })
    expect(priceExchange(reading({ usage: { ...usage, cacheRead: 400 } }), at).microUsd).toBe(3000)
  })

  it('does not bill reasoning twice', () => {
    expect(priceExchange(reading({ usage: { ...usage, reasoning: 80 } }), at).microUsd).toBe(3500)
  })

  // Anthropic's list: claude-sonnet-4-5 3.00 in, 3.75 five-minute write, 6.00 one-hour write, 15.00 out per million.
  it('bills an hour of cache higher than five minutes', () => {
    const written = (parts: object) =>
      priceExchange(
        reading({
          servedModel: 'claude-sonnet-4-5-20250929',
          usage: { ...usage, cacheWrite: 500 },
          pricing: { provider: 'anthropic', parts },
        }),
        at,
      ).microUsd
    expect(written({})).toBe(1500 + 1875 + 1500)
    expect(written({ cacheWrite1h: 400 })).toBe(1500 + 375 + 2400 + 1500)
  })

  it('takes the provider’s own charge before everything', () => {
    const observed = reading({ observedMicroUsd: 42 })
    expect(priceExchange(observed, at, [{ match: '*', price: 0 }])).toEqual({ microUsd: 42, provenance: 'observed' })
  })

  it.each([
    ['a model without a price', { servedModel: 'nobody-knows', requestedModel: 'nobody-knows' }],
    ['a provider without a list', { pricing: { provider: null, parts: {} } }],
    ['no usage', { usage: null, usageMissing: 'not-reported' as const }],
    ['an answer that broke off', { usage: null, usageMissing: 'incomplete' as const }],
    ['half a usage', { usage: { ...usage, output: null } }],
    ['counts that contradict each other', { usage: { ...usage, cacheRead: 2000 } }],
  ])('knows no cost of %s', (_, changes) => {
    expect(priceExchange(reading(changes), at)).toEqual({ microUsd: null, provenance: 'uncaptured' })
  })

  it('asks nothing for a refused request', () => {
    const refused = reading({ usage: null, usageMissing: 'error-response', servedModel: null })
    expect(priceExchange(refused, at)).toEqual({ microUsd: 0, provenance: 'estimated' })
  })

  it('falls back to the requested model where the served one is not listed', () => {
    expect(priceExchange(reading({ servedModel: 'brand-new-snapshot' }), at).microUsd).toBe(3500)
  })

  it('takes prices of the user’s own by lane, first match first', () => {
    const local = reading({ lane: 'ollama/llama3', pricing: { provider: null, parts: {} } })
    expect(priceExchange(local, at, [{ match: 'ollama/*', price: 0 }])).toEqual({
      microUsd: 0,
      provenance: 'estimated',
    })
    const prices = [
      { match: 'ollama/*', price: { input: 2, output: 10, cacheRead: 1 } },
      { match: '*', price: 0 as const },
    ]
    expect(priceExchange({ ...local, usage: { ...usage, cacheRead: 400 } }, at, prices).microUsd).toBe(
      1200 + 400 + 1000,
    )
    expect(priceExchange({ ...local, usage: null }, at, prices).microUsd).toBeNull()
  })
})

describe('sumCost', () => {
  it('is only as good as its worst part', () => {
    const observed = { microUsd: 1, provenance: 'observed' as const }
    const estimated = { microUsd: 2, provenance: 'estimated' as const }
    const unknown = { microUsd: null, provenance: 'uncaptured' as const }
    expect(sumCost([])).toEqual({ microUsd: 0, provenance: 'observed' })
    expect(sumCost([observed, observed])).toEqual({ microUsd: 2, provenance: 'observed' })
    expect(sumCost([observed, estimated])).toEqual({ microUsd: 3, provenance: 'estimated' })
    expect(sumCost([observed, unknown, estimated])).toEqual(unknown)
  })
})

describe.skipIf(!hasRecordedTraffic)('recorded traffic', () => {
  it('has a price wherever the big three served it, and none is zero', () => {
    const unpriced: string[] = []
    for (const { where, exchange, expected } of recordedTraffic()) {
      const read = readExchange(exchange)
      if (read === null || expected === null || read.usage === null || read.usage.input === 0) continue
      if (!['openai', 'anthropic', 'google'].includes(read.provider)) continue
      const { microUsd } = priceExchange(read, new Date('2026-06-01T00:00:00Z'))
      if (microUsd === null || (microUsd === 0 && read.api !== 'openai-embeddings'))
        unpriced.push(`${read.servedModel} ${microUsd} ${where}`)
    }
    expect(unpriced.join('\n')).toBe('')
  })
})
