import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Body, HeaderList } from '../../../src/core/traffic/exchange.ts'
import { type MatchOptions, matchKey } from '../../../src/core/traffic/match.ts'
import { createRedactor } from '../../../src/core/traffic/redact.ts'
import { hasRecordedTraffic, recordedTraffic } from './recorded.ts'

const CHAT = 'https://api.openai.com/v1/chat/completions'

interface Asked {
  method?: string
  url?: string
  headers?: HeaderList
  body?: string | Body
}
const keyOf = ({ method = 'POST', url = CHAT, headers = [], body = null }: Asked, options?: MatchOptions) =>
  matchKey({ method, url, headers, body: typeof body === 'string' ? { text: body } : body }, options).key

describe('the same request', () => {
  it.each<[string, Asked, Asked]>([
    ['order of members', { body: '{"a":1,"b":{"c":2,"d":3}}' }, { body: '{"b":{"d":3,"c":2},"a":1}' }],
    ['blanks', { body: '{"a":[1,2]}' }, { body: ' {\n "a" : [ 1 , 2 ] }\n' }],
    ['spelling of an escape', { body: '{"a":"é/\\u00e9"}' }, { body: '{"a":"\\u00E9\\/é"}' }],
    ['order of the query', { url: `${CHAT}?b=2&a=1` }, { url: `${CHAT}?a=1&b=2` }],
    ['a key in the query', { url: `${CHAT}?key=one&a=1` }, { url: `${CHAT}?a=1&key=two` }],
    ['a signed query', { url: `${CHAT}?X-Amz-Signature=a1` }, { url: CHAT }],
    ['a default port', { url: 'https://api.openai.com:443/v1/x' }, { url: 'https://api.openai.com/v1/x' }],
    ['case of method and host', { method: 'post' }, { url: CHAT.replace('api.', 'API.') }],
    ['telemetry', { headers: [['x-stainless-retry-count', '1']] }, { headers: [['user-agent', 'x']] }],
    ['idempotency', { headers: [['idempotency-key', '1']] }, { headers: [['idempotency-key', '2']] }],
    ['a user name for the provider', { body: '{"model":"m","user":"a"}' }, { body: '{"model":"m"}' }],
    ['a cache hint', { body: '{"prompt_cache_key":"a","safety_identifier":"x"}' }, { body: '{}' }],
    ['no body', { body: null }, { body: '' }],
  ])('%s does not matter', (_, a, b) => expect(keyOf(a)).toBe(keyOf(b)))

  it('is found without the user of Anthropic', () => {
    const url = 'https://api.anthropic.com/v1/messages'
    expect(keyOf({ url, body: '{"metadata":{"user_id":"a","x":1}}' })).toBe(
      keyOf({ url, body: '{"metadata":{"x":1}}' }),
    )
  })

  it('has the same key with and without the secret', () => {
    const redactor = createRedactor({ env: {} })
    const key = (secret: string) =>
      matchKey(
        redactor.request({
          method: 'POST',
          url: `${CHAT}?key=${secret}`,
          headers: [['authorization', `Bearer ${secret}`]],
          body: { text: '{"model":"m"}' },
        }).request,
      ).key
    expect(key('a-first-key')).toBe(key('another-second-key'))
  })
})

describe('another request', () => {
  it.each<[string, Asked, Asked]>([
    [
      'a digit that JSON.parse would lose',
      { body: '{"seed":9007199254740993}' },
      { body: '{"seed":9007199254740992}' },
    ],
    ['a number as written', { body: '{"t":1.0}' }, { body: '{"t":1}' }],
    ['a repeated member', { body: '{"a":1,"a":2}' }, { body: '{"a":2}' }],
    ['the order of repeated members', { body: '{"a":1,"a":2}' }, { body: '{"a":2,"a":1}' }],
    ['the order of items', { body: '{"a":[1,2]}' }, { body: '{"a":[2,1]}' }],
    ['a string that looks like a number', { body: '{"a":"1"}' }, { body: '{"a":1}' }],
    ['model', { body: '{"model":"a"}' }, { body: '{"model":"b"}' }],
    ['temperature', { body: '{"temperature":0}' }, { body: '{"temperature":1}' }],
    ['tools', { body: '{"tools":[]}' }, { body: '{}' }],
    ['null and absent', { body: '{"a":null}' }, { body: '{}' }],
    ['method', { method: 'GET' }, { method: 'POST' }],
    ['host', {}, { url: CHAT.replace('openai', 'groq') }],
    ['path', {}, { url: `${CHAT}/x` }],
    ['query', { url: `${CHAT}?alt=sse` }, {}],
    ['order of values of one name', { url: `${CHAT}?a=1&a=2` }, { url: `${CHAT}?a=2&a=1` }],
    ['version header', { headers: [['anthropic-version', '2023-06-01']] }, { headers: [] }],
    ['text', { body: 'plain a' }, { body: 'plain b' }],
    ['torn JSON', { body: '{"a":1' }, { body: '{"a":1,' }],
    ['text and empty', { body: ' ' }, { body: '' }],
    ['bytes', { body: { base64: 'AP8=' } }, { body: { base64: 'AP4=' } }],
    [
      'an application’s own user',
      { url: 'https://app.example/ask', body: '{"user":"a"}' },
      { url: 'https://app.example/ask', body: '{"user":"b"}' },
    ],
  ])('differs by %s', (_, a, b) => expect(keyOf(a)).not.toBe(keyOf(b)))

  it('cannot move text from one part to the next', () => {
    expect(keyOf({ method: 'A', url: 'b c' })).not.toBe(keyOf({ method: 'A b', url: 'c' }))
  })

  it('keeps very deep JSON apart by its bytes', () => {
    const deep = (inner: string) => '['.repeat(100_000) + inner + ']'.repeat(100_000)
    expect(keyOf({ body: deep('1') })).not.toBe(keyOf({ body: deep('2') }))
  })
})

describe('volatile members', () => {
  it.each([
    ['/trace/id', '{"trace":{"id":"a","n":1}}', '{"trace":{"id":"b","n":1}}'],
    ['/messages/*/id', '{"messages":[{"id":1,"c":"x"},{"id":2}]}', '{"messages":[{"id":8,"c":"x"},{"id":9}]}'],
    ['/messages/0', '{"messages":["a","z"]}', '{"messages":["b","z"]}'],
    ['/a~1b/c~0d', '{"a/b":{"c~d":1}}', '{"a/b":{"c~d":2}}'],
  ])('%s does not matter', (pointer, a, b) => {
    expect(keyOf({ body: a })).not.toBe(keyOf({ body: b }))
    expect(keyOf({ body: a }, { volatile: [pointer] })).toBe(keyOf({ body: b }, { volatile: [pointer] }))
  })

  it('leave everything else in the key', () => {
    const options = { volatile: ['/messages/0', '/x/*/id'] }
    expect(keyOf({ body: '{"messages":["a","b"]}' }, options)).not.toBe(keyOf({ body: '{"messages":["b"]}' }, options))
    expect(keyOf({ body: '{"x":[{"id":1,"v":1}]}' }, options)).not.toBe(
      keyOf({ body: '{"x":[{"id":1,"v":2}]}' }, options),
    )
  })

  it.each(['a', 'a/b', '', '/a~2'])('must be JSON pointers: %j', (pointer) => {
    expect(() => keyOf({ body: '{}' }, { volatile: [pointer] })).toThrow(/is no JSON pointer/)
  })
})

describe('multipart bodies', () => {
  const form = (boundary: string, fields: [head: string, value: string][], end = `--${boundary}--\r\n`): Asked => ({
    url: 'https://api.openai.com/v1/audio/transcriptions',
    headers: [['content-type', `multipart/form-data; boundary=${boundary}`]],
    body: `${fields.map(([head, value]) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`).join('')}${end}`,
  })
  const fields: [string, string][] = [
    ['name="file"; filename="a.wav"\r\nContent-Type: audio/wav', 'RIFF\r\n\r\n--x'],
    ['name="model"', 'whisper-1'],
  ]

  it('match by parts, whatever the boundary', () => {
    expect(keyOf(form('aaa', fields))).toBe(keyOf(form('------bbb', fields)))
    expect(keyOf(form('aaa', fields))).not.toBe(keyOf(form('aaa', [...fields].reverse())))
    expect(keyOf(form('aaa', fields))).not.toBe(keyOf(form('aaa', [fields[0] ?? ['', ''], ['name="model"', 'x']])))
    expect(keyOf(form('aaa', fields))).not.toBe(keyOf(form('aaa', fields.slice(1))))
  })

  it('match by bytes where they are torn', () => {
    expect(keyOf(form('aaa', fields, ''))).not.toBe(keyOf(form('bbb', fields, '')))
    expect(keyOf(form('aaa', fields, ''))).not.toBe(keyOf(form('aaa', fields)))
  })

  it('may hold bytes that are no text', () => {
    const binary = (boundary: string, byte: number): Asked => ({
      ...form(boundary, []),
      body: {
        base64: Buffer.concat([
          Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="f"\r\n\r\n`),
          Buffer.from([0xff, byte, 0x0d, 0x0a]),
          Buffer.from(`\r\n--${boundary}--`),
        ]).toString('base64'),
      },
    })
    expect(keyOf(binary('a', 1))).toBe(keyOf(binary('b', 1)))
    expect(keyOf(binary('a', 1))).not.toBe(keyOf(binary('a', 2)))
  })
})

describe('laws', () => {
  it('JSON written in another order has the same key; another value has another', () => {
    const shuffle = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffle)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, shuffle(member)]),
      )
    }
    const document = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    const url = 'https://app.example/x'
    fc.assert(
      fc.property(document, document, (a, b) => {
        const text = JSON.stringify(a)
        expect(keyOf({ url, body: JSON.stringify(shuffle(JSON.parse(text)), null, 1) })).toBe(
          keyOf({ url, body: text }),
        )
        if (canonical(a) !== canonical(b))
          expect(keyOf({ url, body: JSON.stringify(b) })).not.toBe(keyOf({ url, body: text }))
      }),
    )
  })
})

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) =>
    typeof v === 'object' && v !== null && !Array.isArray(v)
      ? Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))
      : v,
  )

describe.skipIf(!hasRecordedTraffic)('recorded traffic', () => {
  it('has JSON bodies that are all matched as JSON', () => {
    const kinds = new Set<string>()
    let n = 0
    for (const { exchange } of recordedTraffic()) {
      const { request } = exchange
      if (request.body === null || !('text' in request.body)) continue
      // Two uploads of plain text call themselves JSON.
      if (!request.body.text.startsWith('{')) continue
      kinds.add(matchKey(request).parts.body.kind)
      n++
    }
    expect(n).toBeGreaterThan(0)
    expect(kinds).toEqual(new Set(['json']))
  })
})
