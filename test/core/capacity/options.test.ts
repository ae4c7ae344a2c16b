import { expect, test } from 'vitest'
import { createGovernor } from '../../../src/core/capacity/governor.ts'
import { parseCapacityOptions, shadowedLanes } from '../../../src/core/capacity/options.ts'

test.each([
  [Number.NaN, 'NaN'],
  [0, '0'],
  [-1, '-1'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [1.5, '1.5'],
  [2 ** 53, '9007199254740992'],
  ['8', '"8"'],
  [null, 'null'],
  [{}, 'an object'],
])('cells: %s is refused', (cells, shown) => {
  expect(() => parseCapacityOptions({ cells })).toThrow(
    new TypeError(`capacity.cells must be an integer ≥ 1, got ${shown}`),
  )
})

test.each([
  [{ lanes: [{ match: '*', concurrency: 0 }] }, 'capacity.lanes[0].concurrency must be an integer ≥ 1, got 0'],
  [
    { lanes: [{ match: 'a' }, { match: ' ' }] },
    'capacity.lanes[1].match must be a non-empty pattern such as "openai/*", got " "',
  ],
  [{ lanes: [{}] }, 'capacity.lanes[0].match must be a non-empty pattern such as "openai/*", got undefined'],
  [{ lanes: 'openai/*' }, 'capacity.lanes must be a list of lanes, got "openai/*"'],
  [
    { lanes: ['openai/*'] },
    'capacity.lanes[0] must be an object with match, concurrency, requestsPerMinute, tokensPerMinute, burstSeconds, account, equivalent, price and usdPerCell, got "openai/*"',
  ],
  [
    { lanes: [{ match: '*', rpm: 5 }] },
    'capacity.lanes[0].rpm is not an option; match, concurrency, requestsPerMinute, tokensPerMinute, burstSeconds, account, equivalent, price and usdPerCell are',
  ],
  [{ slots: 5 }, 'capacity.slots is not an option; cells and lanes are'],
  [null, 'capacity must be an object with cells and lanes, got null'],
  [[], 'capacity must be an object with cells and lanes, got a list'],
])('%j is refused, naming the path', (options, message) => {
  expect(() => parseCapacityOptions(options)).toThrow(new TypeError(message))
})

test('every problem is named, one per line, under the path the caller gives', () => {
  expect(() => parseCapacityOptions({ cells: 0, more: 1, less: 2 }, 'evals().capacity')).toThrow(
    new TypeError(
      [
        'evals().capacity.cells must be an integer ≥ 1, got 0',
        'evals().capacity.more is not an option; cells and lanes are',
        'evals().capacity.less is not an option; cells and lanes are',
      ].join('\n'),
    ),
  )
})

test('the governor checks what it is given', () => {
  expect(() => createGovernor({ cells: Number.NaN }, () => 0)).toThrow('capacity.cells must be an integer ≥ 1, got NaN')
})

test('good options come back as they are', () => {
  const options = { cells: 1, lanes: [{ match: 'openai/*', concurrency: 16 }, { match: '*' }] }
  expect(parseCapacityOptions(options)).toEqual(options)
  expect(parseCapacityOptions({})).toEqual({})
})

test.each(['requestsPerMinute', 'tokensPerMinute', 'concurrency'])('%s must be an integer ≥ 1', (key) => {
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
    expect(() => parseCapacityOptions({ lanes: [{ match: '*', [key]: value }] })).toThrow(
      `capacity.lanes[0].${key} must be an integer ≥ 1, got `,
    )
  }
})

test.each([
  [{ account: ' ' }, 'capacity.lanes[0].account must be a non-empty name, got " "'],
  [
    { equivalent: ['azure/*'] },
    'capacity.lanes[0].equivalent must be a list of lanes such as ["azure/gpt-5"], without patterns, got a list',
  ],
  [{ price: -1 }, 'capacity.lanes[0].price must be 0 or an object with input and output (USD per million tokens, ≥ 0)'],
  [{ price: { input: Number.NaN, output: 1 } }, 'capacity.lanes[0].price must be 0 or an object with input and output'],
  [{ usdPerCell: 0 }, 'capacity.lanes[0].usdPerCell must be a finite number > 0, got 0'],
  [{ usdPerCell: Number.POSITIVE_INFINITY }, 'capacity.lanes[0].usdPerCell must be a finite number > 0, got Infinity'],
])('%j is refused', (limit, message) => {
  expect(() => parseCapacityOptions({ lanes: [{ match: '*', ...limit }] })).toThrow(message)
})

test('lanes of one account share one quota, so they declare the same one', () => {
  const lanes = [
    { match: 'a/*', account: 'acme', concurrency: 4, requestsPerMinute: 60 },
    { match: 'b/*', account: 'acme', concurrency: 4 },
    { match: 'c/*', account: 'other', concurrency: 9 },
  ]
  expect(() => parseCapacityOptions({ lanes })).toThrow(
    new TypeError(
      'capacity.lanes[1].requestsPerMinute must be what the first lane of account "acme" says (60), because they share it; got nothing',
    ),
  )
})

test('an entry that an earlier one shadows wholly is named; an overlap that leaves it something is not', () => {
  const lanes = [{ match: 'openai/*' }, { match: 'openai/gpt-*' }, { match: '*-mini' }, { match: '*' }, { match: 'x' }]
  expect(shadowedLanes({ lanes })).toEqual([
    'capacity.lanes[1] ("openai/gpt-*") is never used: lanes[0] ("openai/*") comes first and takes all it matches. Put the narrower pattern first',
    'capacity.lanes[4] ("x") is never used: lanes[3] ("*") comes first and takes all it matches. Put the narrower pattern first',
  ])
  expect(shadowedLanes({})).toEqual([])
})
