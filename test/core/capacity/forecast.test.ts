import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Expected, type ExpectedUse, forecast, type PlannedCells } from '../../../src/core/capacity/forecast.ts'
import { expectedOf, openMs, type SeenCell } from '../../../src/core/capacity/seen-cells.ts'

const use = (more: Partial<ExpectedUse> = {}): ExpectedUse => ({
  lane: 'p/m',
  role: 'subject',
  callsPerCell: 2,
  tokensPerCall: 500,
  msPerCall: 1_000,
  ...more,
})
const like = (uses: readonly ExpectedUse[], more: Partial<Expected> = {}): Expected => ({
  uses,
  microUsd: { low: 100, mean: 150, high: 300 },
  msPerCell: uses.reduce((sum, { callsPerCell, msPerCall }) => sum + callsPerCell * (msPerCall ?? 0), 0),
  ...more,
})
const judge = use({ role: 'judge', lane: 'q/j', callsPerCell: 1 })

test('a forecast sums cells, calls and money, and names what binds the time', () => {
  const planned: PlannedCells[] = [
    { cells: 100, expected: like([use()]) },
    { cells: 50, expected: like([use(), judge], { microUsd: { low: 0, mean: 5, high: 10 } }) },
  ]
  const lanes = [{ match: 'p/*', concurrency: 50, requestsPerMinute: 60 }]
  expect(forecast(planned, { cells: 100, lanes })).toEqual({
    cells: 150,
    calls: 350,
    microUsd: { low: 10_000, mean: 15_250, high: 30_500 },
    // 300 requests, 60 a minute: the last ones leave after four minutes, and take their second.
    minMs: 241_000,
    boundBy: { bound: 'requestsPerMinute', lane: 'p/m', account: null },
    unknown: [],
  })
  expect(forecast(planned, { cells: 1 })).toMatchObject({ minMs: 350_000, boundBy: { bound: 'cells', lane: null } })
  const narrow = { cells: 350, lanes: [{ match: '*', concurrency: 2 }] }
  expect(forecast(planned, narrow)).toMatchObject({ minMs: 150_000, boundBy: { bound: 'concurrency', lane: 'p/m' } })
  const tokens = { lanes: [{ match: '*', tokensPerMinute: 1_000 }] }
  expect(forecast(planned, tokens)).toMatchObject({
    minMs: 149 * 60_000 + 1_000,
    boundBy: { bound: 'tokensPerMinute' },
  })
})

test('of a bucket what it holds leaves at once, and the rest flows in', () => {
  const planned = [{ cells: 90, expected: like([use({ callsPerCell: 1 })]) }]
  const lanes = [{ match: '*', concurrency: 90, requestsPerMinute: 60, burstSeconds: 10 }]
  // Ten at once and eighty more, one a second; the last one takes its second.
  expect(forecast(planned, { cells: 90, lanes })).toMatchObject({
    minMs: 81_000,
    boundBy: { bound: 'requestsPerMinute' },
  })
})

test('a few cells take as long as one of them, and calls side by side no longer than the cell they are in', () => {
  const slow = like([use({ callsPerCell: 10, msPerCall: 5_000 })], { msPerCell: 6_000 })
  expect(forecast([{ cells: 3, expected: slow }], { lanes: [{ match: '*', concurrency: 30 }] })).toMatchObject({
    minMs: 6_000,
    boundBy: { bound: 'cell' },
  })
  expect(forecast([{ cells: 320, expected: slow }], { lanes: [{ match: '*', concurrency: 3_200 }] })).toMatchObject({
    minMs: 60_000,
    boundBy: { bound: 'cells' },
  })
})

test('lanes of one account are bound together', () => {
  const planned = ['p/a', 'p/b'].map((lane) => ({ cells: 60, expected: like([use({ lane, callsPerCell: 1 })]) }))
  const lanes = [{ match: 'p/*', account: 'acme', requestsPerMinute: 60 }]
  expect(forecast(planned, { lanes })).toMatchObject({
    minMs: 61_000,
    boundBy: { bound: 'requestsPerMinute', account: 'acme' },
  })
})

test('what nobody knows is null with its reason, never a part of a sum', () => {
  const lanes = [{ match: '*', tokensPerMinute: 1_000 }]
  const planned: PlannedCells[] = [
    { cells: 3, expected: like([use({ tokensPerCall: null })], { microUsd: null }) },
    { cells: 2, expected: { unseen: 'never ran' } },
    { cells: 4, expected: { unseen: 'never ran' } },
    { cells: 0, expected: { unseen: 'has no cells' } },
  ]
  expect(forecast(planned, { lanes })).toEqual({
    cells: 9,
    calls: null,
    microUsd: null,
    minMs: 2_000,
    boundBy: { bound: 'cell', lane: null, account: null },
    unknown: [
      { what: ['cost'], cells: 3, why: 'no cell like it that ran has a bill that is known' },
      { what: ['tokens'], cells: 3, why: 'no call like theirs that was seen reports its tokens' },
      { what: ['calls', 'cost', 'time'], cells: 6, why: 'never ran' },
    ],
  })
  expect(forecast([], {})).toMatchObject({ cells: 0, calls: 0, minMs: null, boundBy: null })
})

const seen = (uses: SeenCell['uses'], ms: number | null = 10): SeenCell => ({ variantId: 'a', uses, ms })
const asked = { lane: 'p/m', role: 'subject', calls: 2, tokens: 100, ms: 10, microUsd: 7 } as const
const judged = { lane: 'q/j', role: 'judge', calls: 1, tokens: null, ms: 30, microUsd: null } as const

test('cells that were seen give the mean of their calls and the range of their bills', () => {
  expect(expectedOf([])).toBeNull()
  expect(expectedOf([seen([asked]), seen([{ ...asked, calls: 4, tokens: 500, microUsd: 1 }]), seen([])])).toEqual({
    uses: [{ lane: 'p/m', role: 'subject', callsPerCell: 2, tokensPerCall: 100, msPerCall: 20 / 6 }],
    microUsd: { low: 0, mean: 8 / 3, high: 7 },
    msPerCell: 10,
  })
  const both = expectedOf([seen([asked, judged], 40), seen([asked])])
  expect(both?.uses).toMatchObject([{ callsPerCell: 2 }, { role: 'judge', callsPerCell: 0.5, tokensPerCall: null }])
  expect(both?.microUsd, 'of the cell whose bill is known').toEqual({ low: 7, mean: 7, high: 7 })
  const scored = expectedOf([seen([asked, judged], 40)], ['judge'])
  expect(scored).toMatchObject({ uses: [{ role: 'judge', callsPerCell: 1 }], microUsd: null, msPerCell: null })
})

test('calls beside each other count once', () => {
  expect(openMs([])).toBe(0)
  expect(
    openMs([
      { start: 100, ms: 50 },
      { start: 0, ms: 10 },
      { start: 120, ms: 10 },
      { start: 140, ms: 20 },
    ]),
  ).toBe(70)
  expect(openMs([{ start: 0, ms: null }])).toBeNull()
})

test('no bound is above what the limits take, and more cells are never over sooner', () => {
  const limits = fc.record({
    cells: fc.integer({ min: 1, max: 50 }),
    concurrency: fc.integer({ min: 1, max: 20 }),
    requestsPerMinute: fc.integer({ min: 1, max: 100 }),
  })
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 300 }), ({ cells, ...limit }, count) => {
      const of = (n: number) => {
        const planned = [{ cells: n, expected: like([use({ callsPerCell: 1 })]) }]
        return forecast(planned, { cells, lanes: [{ match: '*', ...limit }] }).minMs ?? 0
      }
      // One after the other, a minute's worth at a time.
      const slowest = count * 1_000 + Math.ceil(count / limit.requestsPerMinute) * 60_000
      expect(of(count)).toBeLessThanOrEqual(slowest)
      expect(of(count + 1)).toBeGreaterThanOrEqual(of(count))
    }),
  )
})
