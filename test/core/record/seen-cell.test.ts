import { expect, test } from 'vitest'
import { seenInExchanges, seenInRecord } from '../../../src/core/record/seen-cell.ts'
import type { Exchange } from '../../../src/core/traffic/exchange.ts'
import { planOf, recordOf } from '../report/records.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')

function exchange(at: number, ms: number | null, more: Partial<Exchange> = {}, status = 200): Exchange {
  const usage = { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1_000 }
  const answer = {
    id: 'x',
    model: 'gpt-4o-mini',
    choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
    usage,
  }
  const headers = [['content-type', 'application/json']] as const
  return {
    role: 'subject',
    key: 'k',
    ordinal: 0,
    request: {
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      headers,
      body: { text: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }) },
    },
    outcome: {
      kind: 'response',
      status,
      statusText: '',
      headers,
      body: { text: status === 200 ? JSON.stringify(answer) : '{"error":{"message":"slow down"}}' },
      cuts: [],
      end: { kind: 'complete' },
    },
    source: 'live',
    startedAt: new Date(START + at).toISOString(),
    ttfbMs: 1,
    totalMs: ms,
    redactions: [],
    retried: 0,
    ...more,
  }
}

test('calls of a cell, by lane and role, with their tokens, time and price', () => {
  const prices = [{ match: 'openai/*', price: { input: 1, output: 10 } }] as const
  const seen = seenInExchanges(
    'a',
    [
      exchange(0, 100),
      // A refused attempt, a tool that is mocked and a call to no provider are no calls that a plan reckons with.
      exchange(0, 50, {}, 429),
      exchange(0, 900, { source: 'mocked' }),
      exchange(0, 900, { request: { method: 'GET', url: 'https://example.com/', headers: [], body: null } }),
      exchange(60, 100),
      exchange(500, 40, { role: 'judge' }),
    ],
    prices,
  )
  expect(seen).toEqual({
    variantId: 'a',
    uses: [
      { lane: 'openai/gpt-4o-mini', role: 'subject', calls: 2, tokens: 2_000, ms: 200, microUsd: 3_800 },
      { lane: 'openai/gpt-4o-mini', role: 'judge', calls: 1, tokens: 1_000, ms: 40, microUsd: 1_900 },
    ],
    // Two beside each other for 40 ms, and the judge after them.
    ms: 200,
  })
  expect(seenInExchanges('a', [exchange(0, null)], prices).uses[0]?.ms, 'a time that nobody knows').toBeNull()
  expect(seenInExchanges('a', []).uses).toEqual([])
})

test('a record says it alone where the cell called once and had no judge', () => {
  const plan = planOf()
  const cell = { variant: 'current', scenario: 's01', seed: 0 }
  const calls = { subject: 1, judge: 0, setup: 0, retried: 0, mocked: 3 }
  const record = recordOf(plan, cell, {
    calls,
    providerMs: 400,
    tokens: { input: 10, output: 5, reasoning: 1, cacheRead: 0, cacheWrite: 0, known: true },
    cost: { usd: 0.002, provenance: 'observed', subjectUsd: 0.002, judgeUsd: 0 },
  })
  const use = { lane: 'openai/gpt-5-mini', role: 'subject', calls: 1, tokens: 15, ms: 400, microUsd: 2_000 }
  expect(seenInRecord(record)).toEqual({ variantId: 'current', uses: [use], ms: 400 })
  const blind = { ...record, tokens: { ...record.tokens, known: false }, providerMs: null }
  expect(seenInRecord({ ...blind, cost: { ...record.cost, usd: null, subjectUsd: null } })?.uses).toEqual([
    { ...use, tokens: null, ms: null, microUsd: null },
  ])
  expect(seenInRecord({ ...record, calls: { ...calls, subject: 0 } })).toEqual({
    variantId: 'current',
    uses: [],
    ms: 0,
  })
  for (const more of [{ subject: 2 }, { judge: 1 }, { setup: 1 }, { retried: 1 }]) {
    expect(seenInRecord({ ...record, calls: { ...calls, ...more } })).toBeNull()
  }
})
