import { expect, test } from 'vitest'
import { carriedSpend } from '../../../src/core/capacity/carried.ts'
import { createGovernor } from '../../../src/core/capacity/governor.ts'
import { requestBound, requestSize } from '../../../src/core/capacity/request.ts'
import { runsAgain } from '../../../src/core/capacity/rerun.ts'
import { readRequest } from '../../../src/core/traffic/wire/read.ts'

const sizeOf = (body: object | string) =>
  requestSize({ headers: [], body: { text: typeof body === 'string' ? body : JSON.stringify(body) } })

test('tokens of a request: its size, and its own bound of the output', () => {
  const body = { n: 2, max_completion_tokens: 100, messages: 'x'.repeat(300) }
  expect(sizeOf(body)).toEqual({ tokens: { input: 117, output: 200 }, mostInput: 117 })
  expect(sizeOf('é'.repeat(30)).tokens).toEqual({ input: 20, output: null })
  expect(sizeOf({ max_tokens: -1, inferenceConfig: { maxTokens: 9 } }).tokens.output).toBe(9)
  expect(sizeOf({ generationConfig: { maxOutputTokens: 7 } }).tokens.output).toBe(7)
})

const begins = (head: string, bytes: number): Buffer => Buffer.concat([Buffer.from(head, 'latin1')], bytes)
const text = { input: 9, most: 9 }

test.each([
  ['a picture, by its pixels', begins('\x89PNG', 300), { input: 1_600, most: 6_000 }],
  ['a large picture', begins('\xff\xd8\xff\xe0', 3_000_000), { input: 1_600, most: 6_000 }],
  ['half a minute of PCM', begins('RIFF\x00\x00\x00\x00WAVE', 1_000_000), { input: 1_000, most: 4_000 }],
  ['a minute of speech', begins('OggS', 120_000), { input: 480, most: 5_000 }],
  ['pages of text', begins('%PDF-1.7', 100_000), { input: 5_600, most: 100_000 }],
  ['a film', begins('\0\0\0\x20ftypisom', 1_000_000), { input: 2_000, most: 50_000 }],
  ['something', Buffer.alloc(30_000), { input: 1_600, most: 15_000 }],
])('%s weighs the same in an address, as bare base64, as bytes and in a form', (_, bytes, { input, most }) => {
  const base64 = bytes.toString('base64')
  const inAddress = sizeOf(`data:image/x;base64,${base64} and 25 bytes of some text`)
  expect(inAddress).toEqual({ tokens: { input: input + text.input, output: null }, mostInput: most + text.most })
  if (base64.length >= 2_000) {
    expect(sizeOf(`${base64} and 25 bytes of some text`).mostInput).toBe(most + text.most)
  }
  expect(requestSize({ headers: [], body: { base64 } })).toEqual({ tokens: { input, output: null }, mostInput: most })
  const form = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\n\r\na model of 23 characters\r\n'),
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'),
    bytes,
    Buffer.from('\r\n--b--\r\n'),
  ])
  const headers = [['content-type', 'multipart/form-data; boundary=b']] as const
  expect(requestSize({ headers, body: { base64: form.toString('base64') } })).toMatchObject({ mostInput: most + 8 })
})

test('what stands elsewhere is counted too, and an address inside a text is not', () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } }
  expect(sizeOf(image).mostInput).toBeGreaterThan(6_000)
  expect(sizeOf({ content: JSON.stringify(image) }).mostInput).toBeLessThan(100)
})

test('the bound of a request is its price at the most it may answer; without a price there is none', () => {
  const text = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] })
  const reading = readRequest({ method: 'POST', url: 'https://api.openai.com/v1/chat/completions', body: { text } })
  if (reading === null) throw new Error('not read')
  const at = new Date('2026-01-01T00:00:00Z')
  const prices = [{ match: 'openai/*', price: { input: 1, output: 2 } }]
  expect(requestBound(reading, reading.lane, { input: 100, output: 50 }, at, prices)).toBe(200)
  expect(requestBound(reading, reading.lane, { input: 0, output: null }, at, prices)).toBe(2 * 16_384)
  expect(requestBound(reading, reading.lane, { input: 1_000_000, output: 0 }, at)).toBe(150_000)
  const unknown = { ...reading, requestedModel: 'nobody-knows-this', lane: 'openai/nobody-knows-this' }
  expect(requestBound(unknown, unknown.lane, { input: 1, output: 1 }, at)).toBeNull()
  expect(requestBound(null, 'openai/unknown', { input: 1, output: 1 }, at), 'no API of a model').toBeNull()
  expect(requestBound(null, 'local/unknown', { input: 1, output: 1 }, at, [{ match: 'local/*', price: 0 }])).toBe(0)
})

test.each([
  ['infra_error', 'provider-fault', false, 0, true],
  ['infra_error', 'deadline-while-waiting', false, 0, true],
  ['infra_error', 'provider-fault', false, 1, false],
  ['infra_error', 'provider-fault', true, 0, false],
  ['infra_error', 'lane-failed', false, 0, false],
  ['infra_error', 'worker-lost', false, 0, false],
  ['infra_error', 'interrupted', false, 0, false],
  ['infra_error', null, false, 0, false],
  ['task_fail', 'provider-fault', false, 0, false],
  ['judge_error', null, false, 0, false],
] as const)(
  '%s (%s), subject settled %s, %i reruns: runs again %s',
  (status, reason, subjectSettled, reruns, again) => {
    expect(runsAgain({ status, reason, subjectSettled, reruns }, { infra: 1 })).toBe(again)
    expect(runsAgain({ status, reason, subjectSettled, reruns }, { infra: 0 })).toBe(false)
  },
)

test('what a killed run had in flight is carried as unknown, never as free', () => {
  expect(
    carriedSpend([
      { heldMicroUsd: 500, usd: 0.0002 },
      { heldMicroUsd: 500, usd: undefined },
      { heldMicroUsd: 70, usd: null },
      { heldMicroUsd: 70, usd: 0 },
      { heldMicroUsd: null, usd: undefined },
      { heldMicroUsd: 3, usd: Number.NaN },
    ]),
  ).toEqual({ chargedMicroUsd: 200, unknownMicroUsd: 573 })
})

test('what earlier parts of a run spent is not there to be spent again', () => {
  const lanes = [{ match: '*', usdPerCell: 0.5 }]
  const granted = (chargedMicroUsd: number, unknownMicroUsd: number) => {
    const governor = createGovernor({ lanes }, () => 0, { budget: { limitMicroUsd: 1_000_000 } })
    const request = { cellId: 'a', lane: 'a/b', rank: [0, 0, 0, 'c'] } as const
    const [effect] = governor.send([
      { type: 'spent-before', chargedMicroUsd, unknownMicroUsd },
      { type: 'ask-lease', request },
    ])
    return effect?.type
  }
  expect(granted(300_000, 200_000)).toBe('lease-granted')
  expect(granted(300_000, 200_001)).toBe('lease-refused')
})
