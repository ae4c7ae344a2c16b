import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Pace } from '../../../src/core/capacity/pace.ts'

const asks = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 3_000 }), weight: fc.integer({ min: 1, max: 40 }) }),
  { minLength: 1, maxLength: 60 },
)

test('a bucket never lets more out than it holds and what flowed in since, and nobody waits longer than that takes', () => {
  const limits = fc.record({ perMinute: fc.integer({ min: 60, max: 6_000 }), seconds: fc.integer({ min: 1, max: 20 }) })
  fc.assert(
    fc.property(asks, limits, (asks, { perMinute, seconds }) => {
      const pace = new Pace(perMinute, seconds)
      const perMs = perMinute / 60_000
      // A quarter of it is left alone, and half a second at least, but a request of one always fits.
      const holds = Math.max(1, (perMinute / 60) * Math.min(seconds - 0.5, seconds * 0.75))
      const out: { readonly at: number; readonly weight: number }[] = []
      let now = 0
      for (const { after, weight } of asks) {
        now += after
        for (let until = pace.waitsUntil(weight, now); until !== null; until = pace.waitsUntil(weight, now)) {
          expect(until).toBeGreaterThan(now)
          now = until
        }
        pace.take(weight, now)
        out.push({ at: now, weight })
      }
      for (const [first, { at: from }] of out.entries()) {
        let sum = 0
        let largest = 0
        for (const { at, weight } of out.slice(first)) {
          sum += weight
          largest = Math.max(largest, weight)
          // One that is larger than the bucket goes when that is full, and leaves a debt.
          const most = holds + Math.max(0, largest - holds) + (at - from) * perMs
          expect(sum).toBeLessThanOrEqual(most + 1e-6)
          if (at - from < 60_000) expect(sum).toBeLessThanOrEqual(Math.max(perMinute, largest))
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('what a request really weighed is corrected in bucket and minute, and 1200 a minute in 2 s are 30 and 20 a second', () => {
  const pace = new Pace(1_200, 2)
  const uses = Array.from({ length: 30 }, () => {
    expect(pace.waitsUntil(1, 0)).toBeNull()
    return pace.take(1, 0)
  })
  expect(pace.waitsUntil(1, 0)).toBe(50)
  const [use] = uses
  if (use !== undefined) pace.correct(use, 0, 0)
  expect(pace.usedAt(0)).toBe(29)
  expect(pace.waitsUntil(1, 0)).toBeNull()
})
