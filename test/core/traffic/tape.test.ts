import { describe, expect, it } from 'vitest'
import { differences } from '../../../src/core/traffic/difference.ts'
import type { Exchange, ExchangeRequest } from '../../../src/core/traffic/exchange.ts'
import { matchKey } from '../../../src/core/traffic/match.ts'
import { createTape } from '../../../src/core/traffic/tape.ts'

const CHAT = 'https://api.openai.com/v1/chat/completions'
const ask = (body: unknown, url = CHAT): ExchangeRequest => ({
  method: 'POST',
  url,
  headers: [],
  body: { text: typeof body === 'string' ? body : JSON.stringify(body) },
})
const recorded = (request: ExchangeRequest, ordinal = 0, answer = 'x'): Exchange => ({
  role: 'subject',
  key: matchKey(request).key,
  ordinal,
  request,
  outcome: {
    kind: 'response',
    status: 200,
    statusText: 'OK',
    headers: [],
    body: { text: answer },
    cuts: [],
    end: { kind: 'complete' },
  },
  source: 'live',
  startedAt: '2026-01-01T00:00:00.000Z',
  ttfbMs: 1,
  totalMs: 2,
  redactions: [],
  retried: 0,
})
const answerOf = (taken: ReturnType<ReturnType<typeof createTape>['take']>) =>
  'miss' in taken ? taken : taken.outcome.kind === 'response' && taken.outcome.body

describe('a tape', () => {
  const hello = ask({ m: 'hello' })
  const other = ask({ m: 'other' })
  const { key } = matchKey(hello)

  it('serves repeats in the order of their ordinals, each once, and never a last one again', () => {
    const tape = createTape([
      recorded(hello, 2, 'c'),
      recorded(hello, 0, 'a'),
      recorded(other),
      recorded(hello, 1, 'b'),
    ])
    expect(tape.has(key)).toBe(true)
    expect([0, 1, 2].map(() => answerOf(tape.take(key)))).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    expect(tape.has(key)).toBe(false)
    expect(tape.take(key)).toEqual({ miss: 'exhausted', recorded: 3 })
    expect(tape.take('nowhere')).toEqual({ miss: 'unknown', recorded: 0 })
  })

  it('serves by ordinal where calls overtake each other', () => {
    const tape = createTape([recorded(hello, 0, 'a'), recorded(hello, 1, 'b')])
    expect(answerOf(tape.take(key, 1))).toEqual({ text: 'b' })
    expect(tape.has(key, 1)).toBe(false)
    expect(tape.take(key, 1)).toEqual({ miss: 'exhausted', recorded: 2 })
    expect(answerOf(tape.take(key, 0))).toEqual({ text: 'a' })
  })

  it('says what nobody asked for', () => {
    const tape = createTape([recorded(hello), recorded(other)])
    tape.take(key)
    expect(tape.unused().map(({ request }) => request)).toEqual([other])
  })

  it('works keys out anew for other volatile members', () => {
    const options = { volatile: ['/id'] }
    const tape = createTape([recorded(ask({ m: 1, id: 'a' })), recorded(ask({ m: 1, id: 'b' }), 0, 'y')], options)
    const now = matchKey(ask({ m: 1, id: 'c' }), options).key
    expect([answerOf(tape.take(now)), answerOf(tape.take(now))]).toEqual([{ text: 'x' }, { text: 'y' }])
  })

  it('names the nearest request and what differs', () => {
    const tape = createTape([
      recorded(ask({ m: 'hello' }, 'https://api.openai.com/v1/responses')),
      recorded(ask({ model: 'a', messages: [{ role: 'user', content: 'quite another text' }], temperature: 1 })),
      recorded(ask({ model: 'a', messages: [{ role: 'user', content: 'hello' }], temperature: 1 })),
    ])
    const nearest = tape.nearest(ask({ model: 'a', messages: [{ role: 'user', content: 'hallo' }], temperature: 1 }))
    expect(nearest?.differences).toEqual([
      { at: '/messages/0/content', recorded: '"hello"', asked: '"hallo"', looks: null },
    ])
    expect(createTape([]).nearest(hello)).toBeNull()
  })
})

describe('differences', () => {
  it('points at members by JSON pointer, and at other parts by name', () => {
    const left = {
      ...ask('{"a/b":{"c":[1,2]},"gone":null,"n":9007199254740992}'),
      headers: [['openai-beta', 'x']] as const,
    }
    const right = ask('{"a/b":{"c":[1,3,4]},"new":{},"n":9007199254740993}', `${CHAT}?v=2`)
    expect(differences(left, right).map(({ at, recorded, asked }) => [at, recorded, asked])).toEqual([
      ['query', '', 'v=2'],
      ['headers', 'openai-beta:x', ''],
      ['/a~1b/c/1', '2', '3'],
      ['/a~1b/c/2', null, '4'],
      ['/gone', 'null', null],
      ['/n', '9007199254740992', '9007199254740993'],
      ['/new', null, '{}'],
    ])
  })

  it('says where a value looks made anew at every run', () => {
    const looks = (a: unknown, b: unknown) => differences(ask({ v: a }), ask({ v: b }))[0]?.looks
    expect(looks('0b8f4b6e-7a54-4c5e-9f0a-2f6d5a1c9e11', '1c8f4b6e-7a54-4c5e-9f0a-2f6d5a1c9e12')).toBe('uuid')
    expect(looks('on 2026-01-02T03:04:05Z', 'on 2026-02-02')).toBe('date')
    expect(looks(1767225600000, 1767225601000)).toBe('timestamp')
    expect(looks('a', 'b')).toBeNull()
  })

  it('finds none exactly where the keys are equal', () => {
    const same = ask('{"b":1,"a":[ {"x":"\\u00e9"} ],"user":"u1"}')
    expect(differences(same, ask('{"a":[{"x":"é"}],"b":1}'))).toEqual([])
    expect(differences(ask('text'), ask('other'))).toHaveLength(1)
    expect(differences(ask('{"a":1,"a":2}'), ask('{"a":1}'))).toHaveLength(1)
  })

  it('is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]))
    expect(differences(ask(many), ask({}), {}, 5)).toHaveLength(5)
  })
})
