import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, NotJsonError } from '../../../src/core/campaign/canonical-json.ts'

describe('RFC 8785', () => {
  test('the example of section 3.2.2 and 3.2.3', () => {
    const value = {
      // biome-ignore lint/correctness/noPrecisionLoss: the RFC writes it so
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  test('keys sort by UTF-16 code units, not by code points or locale', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    const order = Object.values(JSON.parse(canonicalJson(value)))
    // JSON.parse puts the integer key first; it stands second in the text.
    expect(order).toContain('One')
    expect([...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
  })

  // Appendix B: IEEE 754 bits and the text of the number.
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
  ])('number %s is %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
  })
})

const json = fc.jsonValue({ maxDepth: 4 })

function shuffled(value: unknown, turn: number): unknown {
  if (Array.isArray(value)) return value.map((member) => shuffled(member, turn))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member, turn)] as const)
  const at = entries.length === 0 ? 0 : turn % entries.length
  return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)])
}

test('the order of keys does not matter', () => {
  fc.assert(
    fc.property(json, fc.nat(7), (value, turn) => {
      expect(canonicalJson(shuffled(value, turn))).toBe(canonicalJson(value))
    }),
  )
})

test('the text says the value, so that different data has different text', () => {
  fc.assert(
    fc.property(json, (value) => {
      // -0 is 0 in JSON, and nothing else is lost.
      const written = JSON.parse(JSON.stringify(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(written)
    }),
  )
})

class Money {
  readonly cents = 1
}
const cyclic: { self?: unknown } = {}
cyclic.self = { inner: cyclic }

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'undefined'],
  ['NaN', Number.NaN, 'NaN'],
  ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
  ['-Infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
  ['a bigint', 1n, 'a bigint'],
  ['a function', () => 1, 'a function'],
  ['a symbol', Symbol('x'), 'a symbol'],
  ['a Date', new Date(0), 'an instance of Date'],
  ['a Map', new Map(), 'an instance of Map'],
  ['a Set', new Set(), 'an instance of Set'],
  ['a class instance', new Money(), 'an instance of Money'],
  ['a cycle', cyclic, 'a cycle'],
  ['a lone surrogate', '\ud800', 'a string with a lone surrogate'],
  ['a symbol key', { [Symbol('x')]: 1 }, 'an object with symbol keys'],
  ['a hole', Object.assign([1], { length: 2 }), 'undefined'],
])('%s is refused and its path is named', (_, value, what) => {
  const within = { 'due date': [{ at: value }] }
  const deep = value === cyclic ? '["due date"][0].at.self.inner' : '["due date"][0].at'
  const path = Array.isArray(value) ? `${deep}[1]` : deep
  expect(() => canonicalJson(within, 'scenarios.refund')).toThrow(
    expect.objectContaining({ name: 'NotJsonError', path: `scenarios.refund${path}` }),
  )
  expect(() => canonicalJson(within, 'scenarios.refund')).toThrow(what)
  expect(() => canonicalJson(value)).toThrow(NotJsonError)
})

test('a value that stands twice is no cycle', () => {
  const shared = { a: 1 }
  expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]')
})

test('an object without prototype is a plain one', () => {
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}')
})
