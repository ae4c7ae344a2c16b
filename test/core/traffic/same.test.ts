import { expect, it } from 'vitest'
import type { Exchange } from '../../../src/core/traffic/exchange.ts'
import { sameTraffic } from '../../../src/core/traffic/same.ts'

const exchange: Exchange = {
  role: 'subject',
  key: 'k',
  ordinal: 0,
  request: { method: 'POST', url: 'https://api.openai.com/v1', headers: [], body: { text: '{}' } },
  outcome: {
    kind: 'response',
    status: 200,
    statusText: 'OK',
    headers: [
      ['date', 'Sun, 01 Nov 2026 10:00:00 GMT'],
      ['x-kind', 'a'],
    ],
    body: { text: 'ab' },
    cuts: [[2, 3]],
    end: { kind: 'complete' },
  },
  source: 'live',
  startedAt: '2026-11-01T10:00:00.000Z',
  ttfbMs: 5,
  totalMs: 9,
  redactions: [],
  retried: 0,
}
const answered = (outcome: object): Exchange => ({ ...exchange, outcome: { ...exchange.outcome, ...outcome } as never })

it('sees through clocks', () => {
  const later = {
    ...answered({
      cuts: [
        [1, 7],
        [1, 0],
      ],
      headers: [
        ['date', 'Mon'],
        ['x-kind', 'a'],
      ],
    }),
    startedAt: '2027-01-01T00:00:00.000Z',
    ttfbMs: 1,
    totalMs: 2,
  }
  expect(sameTraffic([exchange], [later])).toBe(true)
})

it.each<[what: string, other: Exchange[]]>([
  ['another body', [answered({ body: { text: 'ac' } })]],
  ['another header', [answered({ headers: [['x-kind', 'b']] })]],
  ['another status', [answered({ status: 201 })]],
  ['another request', [{ ...exchange, key: 'l' }]],
  ['another end', [answered({ end: { kind: 'client-abort' } })]],
  ['one more', [exchange, exchange]],
  ['one less', []],
])('%s is not the same', (_, other) => {
  expect(sameTraffic([exchange], other)).toBe(false)
  expect(sameTraffic(other, [exchange])).toBe(false)
})
