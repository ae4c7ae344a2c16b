import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Body, ExchangeResponse, StreamCut } from '../../../src/core/traffic/exchange.ts'
import { encodeExchange } from '../../../src/core/traffic/format.ts'
import { createRedactor, PLACEHOLDER_KEY } from '../../../src/core/traffic/redact.ts'
import { readExchange } from '../../../src/core/traffic/wire/read.ts'
import { hasRecordedTraffic, recordedTraffic } from './recorded.ts'

const plain = createRedactor({ env: {} })
/** Put together at run time, so that no scanner takes this file for a leak. */
const alnum = (n: number) => 'Zx9Kq3Lw7Pv2Rt6Ym4Bn8Hd5Jf1Gc0Sa'.repeat(4).slice(0, n)
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', alnum(30)].join('.')
const pem = ['-----BEGIN RSA PRIVATE KEY-----', alnum(64), alnum(64), '-----END RSA PRIVATE KEY-----'].join('\n')

const SHAPES: [rule: string, secret: string][] = [
  ['openai-key', `sk-${alnum(40)}`],
  ['openai-key', `sk-proj-${alnum(40)}`],
  ['openai-key', `sk-or-v1-${alnum(40)}`],
  ['anthropic-key', `sk-ant-api03-${alnum(40)}`],
  ['google-key', `AIza${alnum(35)}`],
  ['google-token', `ya29.${alnum(40)}`],
  ['aws-access-key', `AKIA${'QWERTY234567ABCD'}`],
  ['huggingface-token', `hf_${alnum(34)}`],
  ['github-token', `ghp_${alnum(36)}`],
  ['slack-token', `xoxb-${alnum(24)}`],
  ['provider-key', `gsk_${alnum(52)}`],
  ['jwt', jwt],
]

describe('secrets by shape', () => {
  it.each(SHAPES)('%s: %s', (rule, secret) => {
    const { text, redactions } = plain.text(`wrong key "${secret}", try again`)
    expect(text).toBe(`wrong key "[redacted:${rule}]", try again`)
    expect(redactions).toEqual([{ rule, count: 1 }])
  })

  it('finds a key behind an escape, whose last letter is no part of a word', () => {
    for (const before of ['\\n', '\\t', '%20', '%3D', '\\u003d', '=', ':', '(', '>']) {
      expect(plain.text(`x${before}sk-${alnum(40)}`).text).toBe(`x${before}[redacted:openai-key]`)
    }
  })

  it('keeps the words around a bearer token', () => {
    expect(plain.text(`-H 'Authorization: Bearer ${alnum(30)}'`).text).toBe(
      `-H 'Authorization: Bearer [redacted:bearer-token]'`,
    )
  })

  it('finds the secrets of raw HTTP, which clients keep in their errors', () => {
    const raw =
      'GET /v1 HTTP/1.1\r\nx-api-key: of-my-gateway-1\r\nAuthorization: Custom abc def\r\nX-Tenant: number-9\r\nx-ratelimit-limit-tokens: 100000000\r\n\r\n'
    const clean =
      'GET /v1 HTTP/1.1\r\nx-api-key: [redacted:header]\r\nAuthorization: [redacted:header]\r\nX-Tenant: [redacted:tenant]\r\nx-ratelimit-limit-tokens: 100000000\r\n\r\n'
    const own = createRedactor({ env: {}, rules: [{ name: 'tenant', headers: ['x-tenant'] }] })
    expect(own.text(raw).text).toBe(clean)
    expect(own.json({ _header: raw }).value).toEqual({ _header: clean })
    expect(own.scan(clean)).toEqual([])
    const prose = 'Token: refund\nKey: a word that is long\nCookie-cutter: answers are dull\nsee api-key: below'
    expect(own.text(prose).text).toBe(prose)
  })

  it('finds private keys, also inside JSON and torn', () => {
    expect(plain.text(`a ${pem} b`).text).toBe('a [redacted:private-key] b')
    const inJson = JSON.stringify({ k: pem, after: 1 })
    expect(JSON.parse(plain.text(inJson).text)).toEqual({ k: '[redacted:private-key]', after: 1 })
    expect(plain.text(pem.slice(0, 90)).text).toBe('[redacted:private-key]')
  })

  it('finds credentials in URLs inside text', () => {
    expect(plain.text('see postgres://bob:hunter22@db.example/x').text).toBe(
      'see postgres://[redacted:url-credentials]@db.example/x',
    )
    const signed = `https://b.s3.amazonaws.com/o?X-Amz-Credential=${alnum(20)}%2Fus&X-Amz-Signature=${'a1'.repeat(32)}&n=1`
    expect(plain.text(signed).text).toBe(
      'https://b.s3.amazonaws.com/o?X-Amz-Credential=[redacted:aws-signature]&X-Amz-Signature=[redacted:aws-signature]&n=1',
    )
  })

  it.each([
    'risk-management-and-task-organisation-disk-usage-by-somebody',
    'Bearer authentication is described below',
    '{"max_tokens":100,"token":" Hello","logprob":-0.1,"bytes":[32]}',
    '{"token":"Zx9Kq3Lw7Pv2Rt6Ym4Bn","logprob":-0.1}',
    `{"type":"thinking","signature":"${alnum(120)}+/sk-9AIza=="}`,
    '{"usage":{"prompt_tokens":1},"idempotency":"a"}',
    'https://example.com/a?page=2&pageToken=abcdefghij',
    'the secret of password managers: a key and a token',
    '{"properties":{"password":{"type":"string"}},"required":["password"]}',
    '{"secret":true,"password":null}',
  ])('is no secret: %s', (text) => {
    expect(plain.text(text)).toEqual({ text, redactions: [] })
    expect(plain.scan(text)).toEqual([])
  })
})

describe('members of JSON', () => {
  it('loses only the values, byte for byte', () => {
    const text = '{ "api_key" : "abc",\n  "n": 1.0, "apiKey":"d\\"ef", "nested":{"client_secret":"x"}, "z":"\\u00e9" }'
    expect(plain.text(text).text).toBe(
      '{ "api_key" : "[redacted:body-key]",\n  "n": 1.0, "apiKey":"[redacted:body-key]", "nested":{"client_secret":"[redacted:body-key]"}, "z":"\\u00e9" }',
    )
  })

  it('finds them in server-sent events and in torn JSON', () => {
    const events = 'data: {"a":1}\n\ndata: {"access_token":"abc"}\n\n'
    expect(plain.text(events).text).toBe('data: {"a":1}\n\ndata: {"access_token":"[redacted:body-key]"}\n\n')
    expect(plain.text('{"password":"hunter').text).toBe('{"password":"[redacted:body-key]')
    expect(plain.text('{"password":"ends with an escaped quote\\"').text).toBe('{"password":"[redacted:body-key]')
  })

  it('leaves the arguments of a tool call, which are what is measured', () => {
    for (const call of [
      { content: [{ type: 'tool_use', name: 'login', input: { password: 'hunter2' } }] },
      { candidates: [{ functionCall: { name: 'login', args: { user: { password: 'hunter2' } } } }] },
      { tool_calls: [{ function: { name: 'login', arguments: '{"password":"hunter2"}' } }] },
    ]) {
      const text = JSON.stringify(call)
      expect(plain.text(text).text).toBe(text)
    }
    const beside = '{"content":[{"input":{"password":"kept"}}],"password":"gone","input":{"secret":"gone"}}'
    expect(plain.text(beside).text).toBe(
      '{"content":[{"input":{"password":"kept"}}],"password":"[redacted:body-key]","input":{"secret":"[redacted:body-key]"}}',
    )
  })

  it('takes credentials of MCP servers in a request', () => {
    const body = { tools: [{ type: 'mcp', authorization: 'abc', headers: { Authorization: 'def' } }] }
    expect(plain.json(body).value).toEqual({
      tools: [{ type: 'mcp', authorization: '[redacted:body-key]', headers: { Authorization: '[redacted:body-key]' } }],
    })
  })

  it('gives back the same value where there is no secret', () => {
    const value = { a: [1, 'x'], token: 'hi' }
    expect(plain.json(value).value).toBe(value)
    expect(plain.json(undefined).value).toBeUndefined()
  })
})

describe('headers', () => {
  it('lose their values by name, in whatever case, and keep order and repeats', () => {
    const { headers, redactions } = plain.headers([
      ['Authorization', 'Bearer x'],
      ['x-goog-api-key', 'x'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['X-My-Gateway-Token', 'x'],
      ['openai-organization', 'org'],
      ['x-amz-security-token', 'x'],
      ['content-type', 'application/json'],
      ['x-ratelimit-remaining-tokens', '149'],
      ['anthropic-ratelimit-input-tokens-limit', '100'],
      ['x-amzn-bedrock-input-token-count', '5'],
      ['retry-after', '3'],
      ['num_tokens', '4'],
    ])
    expect(headers.map(([, value]) => value)).toEqual([
      ...Array<string>(7).fill('[redacted:header]'),
      'application/json',
      '149',
      '100',
      '5',
      '3',
      '4',
    ])
    expect(redactions).toEqual([{ rule: 'header', count: 7 }])
    expect(plain.headers(headers)).toEqual({ headers, redactions: [] })
  })

  it('redact a placeholder key too: replay must not depend on having a key', () => {
    const of = (key: string) => plain.headers([['authorization', `Bearer ${key}`]]).headers
    expect(of(PLACEHOLDER_KEY)).toEqual(of(`sk-${alnum(40)}`))
  })

  it('have their other values searched', () => {
    const { headers } = plain.headers([
      ['x-trace', `key sk-${alnum(40)}`],
      ['location', 'https://x.example/?key=abc'],
    ])
    expect(headers).toEqual([
      ['x-trace', 'key [redacted:openai-key]'],
      ['location', 'https://x.example/?key=[redacted:query]'],
    ])
  })
})

describe('URLs', () => {
  it.each([
    ['https://g.example/v1?key=abc&alt=sse', 'https://g.example/v1?key=[redacted:query]&alt=sse'],
    ['https://g.example/v1?a=%20b&API-KEY=abc#x', 'https://g.example/v1?a=%20b&API-KEY=[redacted:query]#x'],
    ['https://g.example/cb#access_token=abc', 'https://g.example/cb#access_token=[redacted:query]'],
    ['https://bob:pw1@g.example/', 'https://[redacted:url-credentials]@g.example/'],
    ['https://g.example/v1?pageToken=abc&keys=1', 'https://g.example/v1?pageToken=abc&keys=1'],
  ])('%s', (url, redacted) => {
    expect(plain.url(url).url).toBe(redacted)
    expect(plain.url(redacted)).toEqual({ url: redacted, redactions: [] })
    expect(URL.canParse(redacted)).toBe(true)
  })
})

describe('values of the environment', () => {
  const secret = 'pa"ss/wörd&x <1>'
  const redactor = createRedactor({
    env: { MY_SERVICE_PASSWORD: secret, SHORT_KEY: 'abc', HOME: '/home/somebody', OPENAI_API_KEY: PLACEHOLDER_KEY },
  })
  const base64 = Buffer.from(secret).toString('base64')

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON with escaped slashes', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1)],
    ['percent-encoded', encodeURIComponent(secret)],
    ['form-encoded', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['base64', base64],
    ['base64url', Buffer.from(secret).toString('base64url')],
  ])('are found %s', (_, form) => {
    const { text } = redactor.text(`before ${form} after`)
    expect(text).toMatch(/^before .{0,2}\[redacted:env\].{0,2} after$/)
  })

  it.each([1, 2, 3, 4, 5])('are found inside base64 of a longer text, %i characters in', (before) => {
    const encoded = Buffer.from(`${'u'.repeat(before)}${secret}zzz`).toString('base64')
    const { text } = redactor.text(encoded)
    expect(text).toContain('[redacted:env]')
    expect(Buffer.from(text.replace('[redacted:env]', ''), 'base64').toString()).not.toContain('wör')
  })

  it('are not found in what is short, not secret or a placeholder', () => {
    const text = `abc /home/somebody ${PLACEHOLDER_KEY}`
    expect(redactor.text(text)).toEqual({ text, redactions: [] })
  })

  it('leave JSON JSON where they are numbers', () => {
    const numeric = createRedactor({ env: { PIN_TOKEN: '12345678' } })
    const body = { a: 12345678, b: [912345678, 1], c: 'x12345678' }
    expect(numeric.json(body).value).toEqual({
      a: '[redacted:env]',
      b: ['[redacted:env]', 1],
      c: 'x[redacted:env]',
    })
  })
})

describe('own rules and personal data', () => {
  it('apply by pattern, header and query name', () => {
    const redactor = createRedactor({
      env: {},
      rules: [
        { name: 'customer', pattern: /cust-(\d+)/ },
        { name: 'tenant', headers: ['X-Tenant'], query: ['tenant'] },
      ],
    })
    expect(redactor.text('cust-12 and cust-34').text).toBe('cust-[redacted:customer] and cust-[redacted:customer]')
    expect(redactor.headers([['x-tenant', 'a']]).headers).toEqual([['x-tenant', '[redacted:tenant]']])
    expect(redactor.url('https://a.example/?tenant=b').url).toBe('https://a.example/?tenant=[redacted:tenant]')
  })

  it('refuse a name that would break the placeholder', () => {
    expect(() => createRedactor({ env: {}, rules: [{ name: 'a "b"' }] })).toThrow(/redaction rule/)
  })

  it('finds personal data only when asked', () => {
    const text = 'ann@example.org, +49 30 1234567, 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00, 123-45-6789'
    expect(plain.text(text).text).toBe(text)
    expect(createRedactor({ env: {}, pii: true }).text(text).text).toBe(
      '[redacted:email], [redacted:phone], [redacted:card], [redacted:iban], [redacted:us-ssn]',
    )
    const numbers = '{"created":1754432618,"id":1234567890123456,"v":"1.2.3"}'
    expect(createRedactor({ env: {}, pii: true }).text(numbers).text).toBe(numbers)
  })
})

const secretValue = fc.string({ unit: fc.constantFrom(...'abcXYZ0189+/=._-"\\&ü%'), minLength: 10, maxLength: 30 })
const filler = fc.string({ unit: fc.constantFrom(...'ab 0,:{}"\\\n€👋'), maxLength: 40 })

function cutUp(bytes: Buffer, at: readonly number[]): StreamCut[] {
  const borders = [...new Set(at.map((n) => n % (bytes.length + 1)))].sort((a, b) => a - b)
  const ends = [...borders, bytes.length]
  return ends.map((end, index): StreamCut => [end - (ends[index - 1] ?? 0), index])
}

const responseOf = (body: Body, cuts: readonly StreamCut[], type = 'text/event-stream'): ExchangeResponse => ({
  kind: 'response',
  status: 200,
  statusText: 'OK',
  headers: [['content-type', type]],
  body,
  cuts,
  end: { kind: 'complete' },
})

describe('laws', () => {
  it('no secret is in any output byte, wherever it was put', () => {
    fc.assert(
      fc.property(secretValue, filler, filler, fc.array(fc.nat(), { maxLength: 8 }), (secret, before, after, at) => {
        const redactor = createRedactor({ env: { A_SECRET: secret } })
        const needle = secret.trim()
        fc.pre(!`${before}${after}`.includes(needle) && !'[redacted:env]'.includes(needle))
        const text = `${before}${secret}${after}`
        const json = JSON.stringify({ [before]: [text], n: 1 })
        const streamed = Buffer.from(text)
        const outputs = [
          redactor.text(text).text,
          JSON.stringify(redactor.headers([['x-any', text]]).headers.map(([, value]) => value)),
          decodeURIComponent(redactor.url(`https://a.example/p?q=${encodeURIComponent(text.toWellFormed())}`).url),
          String(Object.entries(JSON.parse(redactor.text(json).text))),
          JSON.stringify(redactor.response(responseOf({ text }, cutUp(streamed, at)))),
        ]
        for (const output of outputs) {
          expect(output.includes(needle)).toBe(false)
          expect(output.includes(JSON.stringify(needle).slice(1, -1))).toBe(false)
        }
        expect(redactor.scan(redactor.text(text).text)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('cuts add up to the new body, in number and delay as before, and text outside the secret stays in its chunk', () => {
    fc.assert(
      fc.property(filler, filler, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (before, after, at, binary) => {
        const secret = `sk-${alnum(40)}`
        const bytes = Buffer.concat([
          Buffer.from(binary ? [0xff, 0xfe] : []),
          Buffer.from(`${before} ${secret} ${after}`),
        ])
        const body = binary ? { base64: bytes.toString('base64') } : { text: bytes.toString() }
        const cuts = cutUp(bytes, at)
        const { response } = plain.response(responseOf(body, cuts))
        const out = response.body
        if (out === null) throw new Error('the body is gone')
        const outBytes = 'text' in out ? Buffer.from(out.text) : Buffer.from(out.base64, 'base64')
        expect(outBytes.includes(secret)).toBe(false)
        expect(outBytes.includes('[redacted:openai-key]')).toBe(true)
        expect(response.cuts.map(([, ms]) => ms)).toEqual(cuts.map(([, ms]) => ms))
        expect(response.cuts.every(([size]) => size >= 0)).toBe(true)
        expect(response.cuts.reduce((sum, [size]) => sum + size, 0)).toBe(outBytes.length)
        // The first chunk, where it ends before the secret, is the same bytes.
        const first = cuts[0]?.[0] ?? 0
        if (first < bytes.indexOf(secret)) expect(response.cuts[0]?.[0]).toBe(first)
      }),
    )
  })

  it('a text without secrets is untouched, and redacting twice is redacting once', () => {
    const redactor = createRedactor({ env: { A_SECRET: 'correct horse battery' } })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        fc.pre(!text.includes('sk-'))
        expect(redactor.text(text)).toEqual({ text, redactions: [] })
      }),
    )
    for (const [, secret] of SHAPES) {
      const once = redactor.text(`{"api_key":"x","a":"Bearer ${secret} ${pem.replaceAll('\n', '\\n')}"}`).text
      expect(redactor.text(once)).toEqual({ text: once, redactions: [] })
    }
  })
})

describe('large bodies', () => {
  // Each of these makes a careless pattern look again from every position; such a test does not end.
  it.each([
    ['hexadecimal', 'a1b2'.repeat(250_000)],
    ['base64', 'eyJsk-AIza+/9'.repeat(80_000)],
    ['quotes', '"'.repeat(1_000_000)],
    ['backslashes', '\\'.repeat(1_000_000)],
    ['a long member', `{"secret":"${'\\n'.repeat(500_000)}"}`],
    ['digits', '1 2-'.repeat(250_000)],
    ['line ends', '\n'.repeat(1_000_000)],
    ['addresses', 'a.b-c.'.repeat(150_000)],
  ])('%s', (_, text) => {
    const redactor = createRedactor({ env: { A_SECRET: 'aaaaaaaab' }, pii: true })
    const tail = ` see https://x.example/?key=abcdefghij Bearer ${alnum(30)} ann@example.org`
    const out = redactor.text(`${text}${tail}`).text
    expect(out).toContain('key=[redacted:query] Bearer [redacted:bearer-token] [redacted:email]')
  })
})

describe.skipIf(!hasRecordedTraffic)('recorded traffic', () => {
  it('is public, so nothing in its bodies is a secret but named credentials', () => {
    const hits: string[] = []
    for (const { where, exchange } of recordedTraffic()) {
      const { request, outcome } = exchange
      const requested = plain.body(request.body)
      const answered = outcome.kind === 'response' ? plain.body(outcome.body).redactions : []
      for (const { rule } of [...requested.redactions, ...answered]) hits.push(`${rule} in ${where}`)
    }
    expect(hits).toEqual([])
  })

  it('reads the same after redaction, and a whole recording passes the last look', () => {
    let n = 0
    for (const { where, exchange } of recordedTraffic()) {
      if (exchange.outcome.kind !== 'response') continue
      const { request } = plain.request(exchange.request)
      const { response } = plain.response(exchange.outcome)
      expect(readExchange({ request, outcome: response }), where).toEqual(readExchange(exchange))
      const line = encodeExchange({
        role: 'subject',
        key: 'k',
        ordinal: 0,
        request,
        outcome: response,
        source: 'live',
        startedAt: '2026-01-01T00:00:00.000Z',
        ttfbMs: null,
        totalMs: 0,
        redactions: [],
        retried: 0,
      })
      expect(plain.scan(line), where).toEqual([])
      n++
    }
    expect(n).toBeGreaterThan(0)
  })
})
