import { expect, test } from 'vitest'
import { createGovernor } from '../../../src/core/capacity/governor.ts'
import { parseCapacityOptions } from '../../../src/core/capacity/options.ts'

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
  [{ lanes: ['openai/*'] }, 'capacity.lanes[0] must be an object with match and concurrency, got "openai/*"'],
  [
    { lanes: [{ match: '*', requestsPerMinute: 500 }] },
    'capacity.lanes[0].requestsPerMinute is not supported yet: leave it out, concurrency is the limit that is kept',
  ],
  [
    { lanes: [{ match: '*', tokensPerMinute: 500 }] },
    'capacity.lanes[0].tokensPerMinute is not supported yet: leave it out, concurrency is the limit that is kept',
  ],
  [{ lanes: [{ match: '*', rpm: 5 }] }, 'capacity.lanes[0].rpm is not an option; match and concurrency are'],
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
