import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeRecording, encodeExchange, encodeRecording } from '../../../../src/core/traffic/format.ts'
import { readHar } from '../../../../src/core/traffic/import/har.ts'
import { type ImportedFile, importedExchanges } from '../../../../src/core/traffic/import/imported.ts'
import { readVcr } from '../../../../src/core/traffic/import/vcr.ts'
import { createRedactor } from '../../../../src/core/traffic/redact.ts'
import { readExchange } from '../../../../src/core/traffic/wire/read.ts'
import { recordedFolder } from '../recorded.ts'

const importedAt = '2026-01-02T03:04:05.000Z'
const exchanges = ({ calls }: ImportedFile) =>
  importedExchanges(calls, { redactor: createRedactor({ env: {} }), importedAt })

const question = '{"model":"gpt-5-mini","seed":9007199254740993,"messages":[{"role":"user","content":"Grüße"}]}'
const answer = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'gpt-5-mini' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})

const entry = (changes: { request?: object; response?: object; rest?: object } = {}) => ({
  startedDateTime: '2026-01-01T12:00:00.250+01:00',
  time: 341.7,
  timings: { blocked: 2.2, dns: -1, connect: -1, send: 0.3, wait: 300, receive: 39.2, ssl: -1 },
  request: {
    method: 'POST',
    url: 'https://api.openai.com/v1/chat/completions?key=abcdefgh',
    httpVersion: 'http/2.0',
    headers: [
      { name: ':authority', value: 'api.openai.com' },
      { name: 'Authorization', value: 'Bearer sk-of-the-test-0123456789' },
      { name: 'Content-Type', value: 'application/json' },
    ],
    postData: { mimeType: 'application/json', text: question },
    ...changes.request,
  },
  response: {
    status: 200,
    statusText: 'OK',
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'content-encoding', value: 'br' },
      { name: 'x-set', value: 'a\nb' },
    ],
    content: { size: answer.length, mimeType: 'application/json', text: answer },
    ...changes.response,
  },
  ...changes.rest,
})
const har = (...entries: object[]) => JSON.stringify({ log: { version: '1.2', creator: {}, entries } })

describe('a HAR file', () => {
  it('becomes exchanges: redacted, keyed, with their times, numbered where they repeat', () => {
    const [first, second] = exchanges(readHar(har(entry(), entry())))
    expect(first).toMatchObject({
      ...{ ordinal: 0, startedAt: '2026-01-01T11:00:00.250Z', ttfbMs: 303, totalMs: 342, source: 'live' },
      request: {
        url: 'https://api.openai.com/v1/chat/completions?key=[redacted:query]',
        headers: [
          ['authorization', '[redacted:header]'],
          ['content-type', 'application/json'],
        ],
        body: { text: question },
      },
      outcome: {
        headers: [
          ['content-type', 'application/json'],
          ['x-set', 'a'],
          ['x-set', 'b'],
        ],
        body: { text: answer },
        end: { kind: 'complete' },
      },
    })
    expect([second?.key, second?.ordinal]).toEqual([first?.key, 1])
    if (first !== undefined) expect(readExchange(first)?.usage).toMatchObject({ input: 3, output: 1 })
    const recording = { campaignId: 'c', variantId: 'v', scenarioId: 's', seed: 0, recordedAt: importedAt }
    const list = exchanges(readHar(har(entry(), entry())))
    const text = encodeRecording({ ...recording, exchanges: list })
    expect(decodeRecording(text, 'f').value.exchanges).toEqual(list)
  })

  it('keeps bytes, forms and failures', () => {
    const bytes = Buffer.from([0, 255, 1])
    const [binary, form, failed] = exchanges(
      readHar(
        har(
          entry({ response: { content: { text: bytes.toString('base64'), encoding: 'base64' } } }),
          entry({
            request: {
              postData: { mimeType: 'application/x-www-form-urlencoded', params: [{ name: 'a b', value: 'ä' }] },
            },
          }),
          entry({ response: { status: 0, headers: [], _error: 'net::ERR_CONNECTION_REFUSED' } }),
        ),
      ),
    )
    expect(binary?.outcome).toMatchObject({ body: { base64: bytes.toString('base64') } })
    expect(form?.request.body).toEqual({ text: 'a+b=%C3%A4' })
    expect(failed?.outcome).toMatchObject({ kind: 'fault', code: 'ECONNREFUSED' })
  })

  it('leaves out what no program repeats, and what was not asked for', () => {
    const preflight = entry({
      request: { method: 'OPTIONS', headers: [{ name: 'Access-Control-Request-Method', value: 'POST' }] },
    })
    const page = entry({ request: { url: 'https://cdn.example/page.css' }, response: { content: { size: 9 } } })
    const socket = entry({ request: { url: 'wss://api.openai.com/v1/realtime' } })
    const read = readHar(har(preflight, page, socket, entry()), (url) => url.includes('openai'))
    expect(read.calls).toHaveLength(1)
    expect(read.skipped).toEqual([
      expect.stringMatching(/^entry 0: a preflight/),
      expect.stringMatching(/^entry 2: wss/),
    ])
  })

  it.each([
    ['nothing', '', /^no HAR file/],
    ['another document', '{"log":{}}', /no log\.entries/],
    ['a version of the future', '{"log":{"version":"2.0","entries":[]}}', /version "2\.0"/],
    ['an entry without a response', har(entry(), { request: entry().request }), /^entry 1\.response/],
    ['an address of nowhere', har(entry({ request: { url: 'not a url' } })), /^entry 0\.request\.url: "not a url"/],
    [
      'a body that was not exported',
      har(entry({ response: { content: { size: 12 } } })),
      /^entry 0\.response\.content: 12/,
    ],
    ['a broken base64', har(entry({ response: { content: { text: '***', encoding: 'base64' } } })), /^entry 0.*base64/],
    [
      'an upload without its bytes',
      har(entry({ request: { postData: { mimeType: 'multipart/form-data; boundary=x', params: [{ name: 'a' }] } } })),
      /^entry 0\.request\.postData/,
    ],
    ['no date', har(entry({ rest: { startedDateTime: 'yesterday' } })), /^entry 0\.startedDateTime/],
    ['no status', har(entry({ response: { status: 1000 } })), /^entry 0\.response\.status/],
    ['headers that are none', har(entry({ request: { headers: [{ name: 3 }] } })), /^entry 0\.request\.headers\.0/],
  ])('is refused for %s, naming the place', (_, text, message) => {
    expect(() => readHar(text)).toThrow(message)
  })
})

const cassette = (request: string, response: string) => `interactions:
- request:
    method: POST
    uri: https://api.openai.com/v1/chat/completions
    headers:
      authorization: [Bearer sk-of-the-test-0123456789]
      content-type: [application/json]
${request}
  response:
    status: {code: 200, message: OK}
    headers:
      Content-Type: application/json
${response}
version: 1
`

describe('a vcrpy cassette', () => {
  const packed = gzipSync(answer).toString('base64')
  const brotli = brotliCompressSync(answer).toString('base64')
  it.each([
    ['text', `    body: '${question}'`, `    body: {string: '${answer}'}`],
    [
      'parsed bodies',
      '    parsed_body: {model: gpt-5-mini, seed: 9007199254740993, messages: [{role: user, content: Grüße}]}',
      `    parsed_body: ${answer}`,
    ],
    [
      'binary',
      `    body: !!binary ${Buffer.from(question).toString('base64')}`,
      `    body: {string: !!binary ${Buffer.from(answer).toString('base64')}}`,
    ],
    [
      'base64',
      `    body: {string: ${Buffer.from(question).toString('base64')}, encoding: base64}`,
      `    body: {base64_string: ${Buffer.from(answer).toString('base64')}}`,
    ],
    ['gzip', `    body: '${question}'`, `      content-encoding: [gzip]\n    body: {string: !!binary ${packed}}`],
    ['brotli', `    body: '${question}'`, `      content-encoding: br\n    body: {string: !!binary ${brotli}}`],
    [
      'a coding that was decoded',
      `    body: '${question}'`,
      `      content-encoding: gzip\n    body: {string: '${answer}'}`,
    ],
  ])('may hold %s', (_, request, response) => {
    const [first] = exchanges(readVcr(cassette(request, response)))
    expect(first?.request.body).toEqual({ text: question })
    expect(first?.outcome).toMatchObject({ status: 200, body: { text: answer } })
    expect(JSON.stringify(first)).not.toContain('sk-of-the-test')
    expect(first?.startedAt).toBe(importedAt)
  })

  it('does not say how long a call took, which is not 0, and reads back as that', () => {
    const [first] = exchanges(readVcr(cassette('', '')))
    expect([first?.ttfbMs, first?.totalMs]).toEqual([null, null])
    if (first === undefined) throw new Error('no exchange')
    expect(JSON.parse(encodeExchange(first))).toMatchObject({ ttfbMs: null, totalMs: null })
  })

  const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
interactions: [*c,*c,*c,*c]`
  it.each([
    ['no YAML', 'interactions: [', /^no YAML/],
    ['a member said twice', 'version: 1\nversion: 1\ninteractions: []', /^no YAML/],
    ['aliases that multiply', bomb, /^no cassette: .*alias/i],
    ['code', 'interactions: !!python/object/apply:os.system [true]', /tag that is not/],
    ["Ruby's", 'http_interactions: []', /Ruby/],
    ['another version', 'interactions: []\nversion: 2', /version "2"/],
    ['an interaction that is none', 'interactions: [3]', /^interaction 0/],
    ['a status that is none', cassette('', '').replace('code: 200', 'code: 9'), /^interaction 0\.response\.status/],
    ['a wrong base64', cassette('', '    body: {base64_string: "*"}'), /^interaction 0\.response\.body\.base64_string/],
    [
      'a damaged archive',
      cassette('', `      content-encoding: gzip\n    body: {string: !!binary ${packed.slice(0, 40)}}`),
      /^interaction 0\.response\.body: .*gzip/,
    ],
    ['an address of nowhere', cassette('', '').replace('https:', 'ftp:'), /^interaction 0\.request\.uri/],
  ])('is refused for %s', (_, text, message) => {
    expect(() => readVcr(text)).toThrow(message)
  })

  const folder = join(recordedFolder, 'vcr')
  it.skipIf(!existsSync(folder))('of a real project reads with its usage', () => {
    for (const file of readdirSync(folder)) {
      const list = exchanges(readVcr(readFileSync(join(folder, file), 'utf8')))
      expect(list.length, file).toBeGreaterThan(0)
      for (const exchange of list) {
        const reading = readExchange(exchange)
        if (reading !== null && exchange.request.url.includes('api.')) expect(reading.usage, file).not.toBeNull()
      }
    }
  })
})
