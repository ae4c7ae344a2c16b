import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256Hex } from '../../../src/core/campaign/identity.ts'
import { isInShard, parseShard } from '../../../src/core/campaign/shard.ts'
import { parseCapacityOptions } from '../../../src/core/capacity/options.ts'
import { capacityOfShard } from '../../../src/core/capacity/shard.ts'

test('every cell is in exactly one shard, and shards are about equally large', () => {
  const ids = Array.from({ length: 3000 }, (_, at) => sha256Hex(String(at)).slice(0, 16))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), (count) => {
      const sizes = Array.from({ length: count }, (_, at) => {
        return ids.filter((id) => isInShard(id, { index: at + 1, count })).length
      })
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(ids.length)
      for (const size of sizes)
        expect(Math.abs(size - ids.length / count)).toBeLessThan(5 * Math.sqrt(ids.length / count) + 1)
    }),
  )
})

test('all shards together keep every declared limit', () => {
  const limit = fc.integer({ min: 12, max: 1_000_000 })
  const lane = fc.record({ concurrency: limit, requestsPerMinute: limit, tokensPerMinute: limit })
  fc.assert(
    fc.property(limit, lane, fc.integer({ min: 1, max: 12 }), (cells, limits, count) => {
      const whole = { cells, lanes: [{ match: 'openai/*', ...limits, account: 'main', price: 0 as const }] }
      const parts = Array.from({ length: count }, (_, at) => capacityOfShard(whole, { index: at + 1, count }))
      expect(parts.reduce((sum, part) => sum + (part.cells ?? 0), 0)).toBe(cells)
      for (const key of ['concurrency', 'requestsPerMinute', 'tokensPerMinute'] as const) {
        expect(parts.reduce((sum, { lanes }) => sum + (lanes?.[0]?.[key] ?? 0), 0)).toBe(limits[key])
      }
      for (const part of parts) {
        expect(parseCapacityOptions(part)).toEqual(part)
        expect(part.lanes?.[0]).toMatchObject({ match: 'openai/*', account: 'main', price: 0 })
      }
    }),
  )
})

test('limits that nobody declared are divided too, down to one', () => {
  expect(capacityOfShard({}, { index: 2, count: 4 })).toEqual({ cells: 8, lanes: [{ match: '*', concurrency: 2 }] })
  expect(capacityOfShard({}, { index: 40, count: 100 })).toEqual({ cells: 1, lanes: [{ match: '*', concurrency: 1 }] })
})

test('a limit that cannot be divided is refused, saying how many shards it allows', () => {
  const lanes = [{ match: '*', requestsPerMinute: 2 }]
  expect(() => capacityOfShard({ lanes }, { index: 1, count: 3 })).toThrow(
    /capacity\.lanes\[0\]\.requestsPerMinute is 2, which 3 shards cannot share: run at most 2 shards/,
  )
  expect(() => capacityOfShard({ cells: 1 }, { index: 2, count: 2 })).toThrow(/capacity\.cells is 1/)
})

test.each(['', '0/3', '4/3', '1', '1/0', 'a/b', '-1/2', '1/2/3', '1.5/2'])('%j is no shard', (text) => {
  expect(() => parseShard(text, 'EVALS_SHARD')).toThrow(/EVALS_SHARD is .*write <index>\/<count>/)
})
