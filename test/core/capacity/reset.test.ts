import { expect, test } from 'vitest'
import { readReset } from '../../../src/core/capacity/reset.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const read = (headers: Readonly<Record<string, string>>, body: unknown = null) =>
  readReset(Object.entries(headers), body, NOW)

test.each([
  ['seconds', { 'retry-after': '20' }, 20_000, 'retry-after'],
  ['fractions of a second', { 'retry-after': '0.5' }, 500, 'retry-after'],
  ['milliseconds before seconds', { 'retry-after': '20', 'retry-after-ms': '1500' }, 1_500, 'retry-after-ms'],
  ['an HTTP date', { 'retry-after': 'Sun, 29 Nov 2026 12:00:30 GMT' }, 30_000, 'retry-after'],
  ['an RFC 850 date', { 'retry-after': 'Sunday, 29-Nov-26 12:01:00 GMT' }, 60_000, 'retry-after'],
  [
    'a date by the clock of the provider, which is ten minutes fast',
    { 'retry-after': 'Sun, 29 Nov 2026 12:10:30 GMT', date: 'Sun, 29 Nov 2026 12:10:00 GMT' },
    30_000,
    'retry-after',
  ],
  [
    'OpenAI: the window that is used up',
    {
      'x-ratelimit-remaining-requests': '10',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '20ms',
    },
    20,
    'x-ratelimit-reset-tokens',
  ],
  [
    'OpenAI: the later one where neither says that it is used up',
    { 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6.5s' },
    6_500,
    'x-ratelimit-reset-tokens',
  ],
  [
    'Groq',
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2m59.56s' },
    179_560,
    'x-ratelimit-reset-requests',
  ],
  [
    'Anthropic',
    {
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-11-29T12:00:01Z',
      'anthropic-ratelimit-output-tokens-remaining': '0',
      'anthropic-ratelimit-output-tokens-reset': '2026-11-29T12:00:41Z',
    },
    41_000,
    'anthropic-ratelimit-output-tokens-reset',
  ],
  ['the IETF draft', { 'ratelimit-reset': '12' }, 12_000, 'ratelimit-reset'],
  ['an epoch in seconds', { 'x-ratelimit-reset': String(NOW / 1000 + 9) }, 9_000, 'x-ratelimit-reset'],
  ['an epoch in milliseconds (OpenRouter)', { 'x-ratelimit-reset': String(NOW + 9_500) }, 9_500, 'x-ratelimit-reset'],
])('%s', (_, headers, ms, source) => {
  expect(read(headers).reset).toEqual({ ms, source })
})

test('Gemini tells it in the body', () => {
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' }
  const help = { '@type': 'type.googleapis.com/google.rpc.Help', links: [] }
  const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [help, info] } }
  expect(read({}, body).reset).toEqual({ ms: 34_070, source: 'RetryInfo' })
  expect(read({}, [body]).reset).toEqual({ ms: 34_070, source: 'RetryInfo' })
})

test.each([
  ['a year', { 'retry-after': '31536000' }, 'retry-after "31536000" is more than 15 minutes away'],
  ['the past', { 'retry-after': 'Sun, 29 Nov 2026 11:59:59 GMT' }, 'is not in the future'],
  ['now', { 'retry-after': '0' }, 'retry-after "0" is not in the future'],
  ['a negative number', { 'retry-after': '-3' }, 'retry-after "-3" is not in the future'],
  ['no date', { 'retry-after': 'soon' }, 'retry-after "soon" is no time'],
  ['a bare year', { 'retry-after': '2030-01' }, 'retry-after "2030-01" is no time'],
  ['infinity', { 'retry-after': 'Infinity' }, 'retry-after "Infinity" is no time'],
  ['a day that is none', { 'retry-after': 'Sun, 99 Nov 2026 12:00:30 GMT' }, 'is no time'],
  ['a unit that is none', { 'x-ratelimit-reset-tokens': '6 fortnights' }, 'is no time'],
  ['an instant of last week', { 'anthropic-ratelimit-tokens-reset': '2026-11-22T12:00:00Z' }, 'is not in the future'],
])('%s is unusable and said so', (_, headers, problem) => {
  const { reset, unusable } = read(headers)
  expect(reset).toBeNull()
  expect(unusable).toEqual([expect.stringContaining(problem)])
})

test('an unusable word does not hide a usable one', () => {
  expect(read({ 'retry-after': 'soon', 'x-ratelimit-reset-requests': '2s' }).reset?.ms).toBe(2_000)
})

test('nothing said is nothing', () => {
  expect(read({ 'content-type': 'application/json' }, { error: { details: 'none' } })).toEqual({
    reset: null,
    unusable: [],
  })
})
