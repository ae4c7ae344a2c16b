import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellIdOf, digestOf, foldId, idProblem, sha256Hex } from '../../../src/core/campaign/identity.ts'

test('digests carry their scheme and are SHA-256 of the canonical text', () => {
  // sha256 of "{}", published widely.
  expect(digestOf({})).toBe('sha256-jcs:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(digestOf({ b: 1, a: 2 })).toBe(digestOf({ a: 2, b: 1 }))
})

test('a cell id depends on each coordinate and on nothing else', () => {
  const base = { campaignId: 'c', variantId: 'v', scenarioId: 's', seed: 0 }
  const changes = [{ campaignId: 'd' }, { variantId: 'w' }, { scenarioId: 't' }, { seed: 1 }]
  const ids = [base, ...changes.map((change) => ({ ...base, ...change }))].map(cellIdOf)
  expect(new Set(ids).size).toBe(5)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect(cellIdOf({ ...base, position: 3 } as typeof base)).toBe(ids[0])
})

test('moving a separator between ids gives another cell', () => {
  const id = fc.string({ minLength: 1, unit: fc.constantFrom('a', '/', '.', '"', ' > ') })
  fc.assert(
    fc.property(id, id, id, id, (a, b, c, d) => {
      fc.pre(a !== c || b !== d)
      const first = cellIdOf({ campaignId: 'c', variantId: a, scenarioId: b, seed: 0 })
      expect(first).not.toBe(cellIdOf({ campaignId: 'c', variantId: c, scenarioId: d, seed: 0 }))
    }),
  )
})

test.each<[unknown, string | null]>([
  ['triage', null],
  ['größer als 3 > 2 / "x"', null],
  ['日本語', null],
  ['', 'is empty'],
  ['  ', 'is empty'],
  [3, 'must be a string, not number'],
  [null, 'must be a string, not null'],
  [undefined, 'must be a string, not undefined'],
  ['a\nb', 'has a control character'],
  ['a\u0085b', 'has a control character'],
  ['a\u2028b', 'has a control character'],
  ['a\ud800', 'has a lone surrogate'],
  ['x'.repeat(200), null],
  ['x'.repeat(201), 'is 201 code units long; at most 200 are allowed'],
])('id %j: %s', (id, problem) => {
  expect(idProblem(id)).toBe(problem)
})

test('ids that a disk may not tell apart are one', () => {
  expect(foldId('Refund')).toBe(foldId('refund'))
  expect(foldId('caf\u00e9')).toBe(foldId('cafe\u0301'))
  expect(foldId('a')).not.toBe(foldId('b'))
})
