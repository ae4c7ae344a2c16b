import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Body, Exchange } from '../../../src/core/traffic/exchange.ts'
import {
  decodeCapture,
  decodeRecording,
  encodeExchange,
  encodeRecording,
  type Recording,
  RecordingError,
  withoutDigests,
} from '../../../src/core/traffic/format.ts'
import { createRedactor } from '../../../src/core/traffic/redact.ts'
import { bodyShare } from '../../../src/core/traffic/shared.ts'
import { hasRecordedTraffic, recordedTraffic } from './recorded.ts'

const exchange = (request: Body, response: Body = null): Exchange => ({
  role: 'subject',
  key: 'k',
  ordinal: 0,
  request: { method: 'POST', url: 'https://a.example/', headers: [['a', 'b']], body: request },
  outcome: {
    kind: 'response',
    status: 200,
    statusText: 'OK',
    headers: [],
    body: response,
    cuts: [[1, 0]],
    end: { kind: 'complete' },
  },
  source: 'live',
  startedAt: '2026-01-01T00:00:00.000Z',
  ttfbMs: 1.5,
  totalMs: 2,
  redactions: [{ rule: 'header', count: 1 }],
  retried: 0,
})
const recording = (...exchanges: Exchange[]): Recording => ({
  campaignId: 'c',
  variantId: 'v',
  scenarioId: 's',
  seed: 0,
  recordedAt: '2026-01-01T00:00:00.000Z',
  exchanges,
})

describe('a recording file', () => {
  it('is scanned without the digests that are ours: their digits may happen to be a card number', () => {
    const { scan } = createRedactor({ env: {}, rules: [], pii: true })
    const key = 'a4111111111111111b0f0e0d0c0b0a09'
    const own = encodeRecording(recording({ ...exchange(null), key }))
    expect([scan(own), scan(withoutDigests(own, []))]).toEqual([['card'], []])
    const share = bodyShare()
    const shared = encodeRecording(recording(exchange({ text: 'long '.repeat(20_000) })), share)
    const [name = ''] = share.files.keys()
    expect([shared.includes(name), withoutDigests(shared, share.files.keys()).includes(name)]).toEqual([true, false])
    // What a body says is not ours, also where it looks like it.
    const said = encodeRecording(recording(exchange({ text: JSON.stringify({ role: 'x', key }) })))
    expect(scan(withoutDigests(said, []))).toEqual(['card'])
  })

  it('has a header and one line per exchange, with JSON to be read as JSON', () => {
    const lines = encodeRecording(recording(exchange({ text: '{"model":"m"}' }, { text: 'data: x\n\n' }))).split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe(
      '{"schema":"vitest-campaign/recording@1","campaignId":"c","variantId":"v","scenarioId":"s","seed":0,"recordedAt":"2026-01-01T00:00:00.000Z"}',
    )
    expect(lines[1]).toContain('"body":{"json":{"model":"m"}}')
    expect(lines[1]).toContain('"body":{"text":"data: x\\n\\n"}')
    expect(lines[2]).toBe('')
  })

  it.each([
    '{ "a":1}',
    '{"a":1.0}',
    '{"a":9007199254740993}',
    '{"b":1,"1":2}',
    '{"a":1,"a":2}',
    '{"a":"\\u00e9"}',
    '[',
    '{"__proto__":{"x":1}}',
    '{"a":-0}',
    '',
  ])('gives back the very bytes of %s', (text) => {
    const { value } = decodeRecording(encodeRecording(recording(exchange({ text }, { text }))), 'f')
    expect(value.exchanges[0]?.request.body).toEqual({ text })
  })

  it('does not depend on the order in which an exchange was put together', () => {
    const one = exchange({ text: 'x' })
    const reversed = Object.fromEntries(Object.entries(one).reverse()) as unknown as Exchange
    expect(encodeExchange(reversed)).toBe(encodeExchange(one))
  })
})

const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '👋', '\u2028', '{', '}') })
const body: fc.Arbitrary<Body> = fc.oneof(
  fc.constant(null),
  text.map((value) => ({ text: value })),
  fc.json().map((value) => ({ text: value })),
  fc.uint8Array().map((bytes) => ({ base64: Buffer.from(bytes).toString('base64') })),
)
const headers = fc.array(fc.tuple(text, text), { maxLength: 3 })
const ms = fc.integer({ min: 0, max: 1e6 }).map((n) => n / 8)
const instant = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const anyExchange: fc.Arbitrary<Exchange> = fc.record({
  role: fc.constantFrom('subject' as const, 'judge' as const, 'setup' as const),
  key: text,
  ordinal: fc.nat(),
  request: fc.record({ method: text, url: text, headers, body }),
  outcome: fc.oneof(
    fc.record({
      kind: fc.constant('response' as const),
      status: fc.nat(599),
      statusText: text,
      headers,
      body,
      cuts: fc.array(fc.tuple(fc.nat(), ms), { maxLength: 4 }),
      end: fc.oneof(
        fc.record({ kind: fc.constant('complete' as const) }),
        fc.record({ kind: fc.constant('client-abort' as const) }),
        fc.record({ kind: fc.constant('broken' as const), code: text, message: text }),
      ),
    }),
    fc.record({
      kind: fc.constant('fault' as const),
      phase: fc.constantFrom('connect' as const, 'headers' as const, 'aborted' as const),
      code: text,
      message: text,
    }),
  ),
  source: fc.constantFrom('live' as const, 'replayed' as const, 'mocked' as const),
  startedAt: instant,
  ttfbMs: fc.option(ms),
  totalMs: ms,
  redactions: fc.array(fc.record({ rule: text, count: fc.nat() }), { maxLength: 2 }),
  retried: fc.nat(),
})

describe('laws', () => {
  it('decoding gives back what was encoded', () => {
    const any = fc.record({
      campaignId: text,
      variantId: text,
      scenarioId: text,
      seed: fc.maxSafeInteger(),
      recordedAt: instant,
      exchanges: fc.array(anyExchange, { maxLength: 4 }),
    })
    fc.assert(
      fc.property(any, (value) => {
        const encoded = encodeRecording(value)
        expect(decodeRecording(encoded, 'f')).toEqual({ value, note: null })
        // Git and editors on Windows: line ends, and a mark before the first character.
        expect(decodeRecording(`\ufeff${encoded.replaceAll('\n', '\r\n')}`, 'f').value).toEqual(value)
        const capture = value.exchanges.map((one) => `${JSON.stringify(one)}\n`).join('')
        expect(decodeCapture(capture, 'f').value).toEqual(value.exchanges)
      }),
    )
  })

  it('cut anywhere, a file gives whole exchanges and a note, or an error with its place', () => {
    const whole = recording(exchange({ text: '{"a":1}' }), exchange({ text: 'b' }), exchange(null))
    const encoded = encodeRecording(whole)
    const headerEnd = encoded.indexOf('\n')
    fc.assert(
      fc.property(fc.integer({ min: headerEnd + 1, max: encoded.length }), (at) => {
        const { value, note } = decodeRecording(encoded.slice(0, at), 'f')
        expect(value.exchanges).toEqual(whole.exchanges.slice(0, value.exchanges.length))
        const piece = encoded.slice(0, at).split('\n').at(-1) ?? ''
        const torn = piece !== '' && encoded.charAt(at) !== '\n'
        expect(note).toBe(torn ? `f:${value.exchanges.length + 2}: the last line is torn and was left out` : null)
      }),
    )
    expect(() => decodeRecording(encoded.slice(0, headerEnd - 1), 'f')).toThrow(RecordingError)
  })
})

describe('a bad file', () => {
  const good = encodeRecording(recording(exchange({ text: 'x' })))
  const lines = good.trimEnd().split('\n')
  const [head = '', line = ''] = lines
  it.each([
    ['nothing', '', 'f:1: the recording is empty'],
    ['a newer schema', good.replace('recording@1', 'recording@2'), 'f:1: written by a newer vitest-campaign'],
    ['another schema', good.replace('vitest-campaign/recording@1', 'x'), 'f:1: no recording'],
    ['a bad line in the middle', `${head}\n{"torn\n${line}\n`, 'f:2: not a JSON line'],
    ['a bad last line that was ended', `${head}\n{"torn\n`, 'f:2: not a JSON line'],
    ['an empty line', `${head}\n\n${line}\n`, 'f:2: an empty line'],
    ['a merge conflict', `${head}\n<<<<<<< HEAD\n${line}\n`, 'f:2: an unresolved merge conflict'],
    ['an unknown member', `${head}\n${line.replace('"role"', '"extra":1,"role"')}\n`, 'f:2: '],
    ['a missing member', `${head}\n${line.replace('"retried":0', '"retried":null')}\n`, 'f:2: retried'],
    ['a wrong body', `${head}\n${line.replace('"text":"x"', '"text":1')}\n`, 'f:2: request.body'],
    ['a body without value', `${head}\n${line.replace('"text":"x"', '')}\n`, 'f:2: request.body'],
    ['base64 that is none', `${head}\n${line.replace('"text":"x"', '"base64":"??"')}\n`, 'f:2: request.body'],
    ['a header line that is an exchange', `${line}\n`, 'f:1: no recording'],
  ])('%s is refused with its place', (_, text, message) => {
    expect(() => decodeRecording(text, 'f')).toThrow(message)
    expect(() => decodeRecording(text, 'f')).toThrow(RecordingError)
  })

  it('may have a torn last line, and says so', () => {
    expect(decodeRecording(`${good}{"role":"sub`, 'f')).toEqual({
      value: recording(exchange({ text: 'x' })),
      note: 'f:3: the last line is torn and was left out',
    })
  })
})

describe.skipIf(!hasRecordedTraffic)('recorded traffic', () => {
  it('keeps every byte of every body', () => {
    let n = 0
    for (const { where, exchange: real } of recordedTraffic()) {
      if (real.outcome.kind !== 'response') continue
      const full = { ...exchange(null), ...real }
      const back = decodeRecording(encodeRecording(recording(full)), where).value.exchanges[0]
      expect(back?.request.body).toEqual(real.request.body)
      expect(back?.outcome).toEqual(real.outcome)
      n++
    }
    expect(n).toBeGreaterThan(0)
  })
})
