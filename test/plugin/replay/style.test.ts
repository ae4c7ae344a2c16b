import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AS_RECORDED, chunksOf, type PlayStyle } from '../../../src/plugin/replay/chunks.ts'
import { completion, project, serve } from './harness.ts'

const traffic = { timing: 'instant', recut: 'recorded', allow: [], volatile: [], rules: [], pii: false } as const
const SSE = 'text/event-stream; charset=utf-8'

test('however a body is cut, its bytes and the time it took are those of the recording', () => {
  const style = fc.record<PlayStyle>({
    timing: fc.constantFrom('instant' as const, 'recorded' as const),
    recut: fc.oneof(
      fc.constantFrom('recorded' as const, 'sse-event' as const, 'one-byte' as const),
      fc.integer({ min: 1, max: 9 }),
      fc.record({ random: fc.integer() }),
    ),
  })
  const cuts = fc.array(fc.tuple(fc.nat(7), fc.nat(50)), { maxLength: 12 })
  fc.assert(
    fc.property(style, cuts, fc.constantFrom(SSE, 'application/json', ''), (style, cuts, type) => {
      const length = cuts.reduce((sum, [size]) => sum + size, 0)
      const bytes = Buffer.from('data: x\n\n'.repeat(length)).subarray(0, length)
      const chunks = chunksOf(bytes, cuts, style, type)
      expect(chunks.reduce((sum, { size }) => sum + size, 0)).toBe(length)
      expect(chunks.every(({ size }) => size > 0)).toBe(true)
      const waited = cuts.reduce((sum, [size, ms]) => sum + (size > 0 ? ms : 0), 0)
      expect(chunks.reduce((sum, { ms }) => sum + ms, 0)).toBe(style.timing === 'instant' ? 0 : waited)
    }),
  )
})

test.each<[recut: PlayStyle['recut'], pieces: string[]]>([
  ['recorded', ['da', 'ta: a\n\ndata: é', '\n\nend']],
  ['sse-event', ['data: a\n\n', 'data: é\n\n', 'end']],
  [9, ['data: a\n\n', 'data: é\n', '\nend']],
])('cut at %s', (recut, pieces) => {
  const bytes = Buffer.from('data: a\n\ndata: é\n\nend')
  const chunks = chunksOf(
    bytes,
    [
      [2, 1],
      [15, 1],
      [5, 1],
    ],
    { ...AS_RECORDED, recut },
    SSE,
  )
  const ends = chunks.map((_, index) => chunks.slice(0, index + 1).reduce((sum, { size }) => sum + size, 0))
  expect(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end).toString())).toEqual(pieces)
})

test('cut at random, the pieces are those of the seed, whatever the recorded cuts', () => {
  const bytes = Buffer.alloc(2000, 'x')
  const sizes = (random: number) =>
    chunksOf(bytes, [[2000, 0]], { ...AS_RECORDED, recut: { random } }, SSE).map(({ size }) => size)
  expect(sizes(7)).toEqual(sizes(7))
  expect(sizes(7)).not.toEqual(sizes(8))
  expect(sizes(-1)).not.toEqual(sizes(1))
  expect(Math.max(...sizes(7))).toBeLessThanOrEqual(64)
  expect(new Set(sizes(7)).size).toBeGreaterThan(20)
})

test('a replayed stream in one-byte pieces reads the same; in recorded time its waits are the recorded ones', async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: é\n\n')
    setTimeout(() => response.end('data: end\n\n'), 40)
  })
  const { start } = project()
  const live = start('record')
  await live.cell(() => fetch(url).then((response) => response.text()), { save: true })
  live.end()

  const fine = start('replay', { traffic: { ...traffic, recut: 'one-byte' } })
  const { value: pieces } = await fine.cell(async () => {
    const sizes: number[] = []
    const reader = (await fetch(url)).body?.getReader()
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      sizes.push(read.value.length)
    return sizes
  })
  expect(pieces).toEqual(Array(Buffer.byteLength('data: é\n\ndata: end\n\n')).fill(1))
  fine.end()

  const timed = start('replay', { traffic: { ...traffic, timing: 'recorded' } })
  const begun = performance.now()
  await timed.cell(() => fetch(url).then((response) => response.text()))
  expect(performance.now() - begun).toBeGreaterThan(30)
  // A client that gives up does not wait for the recording.
  const controller = new AbortController()
  const { value } = await timed.cell(async () => {
    const answer = fetch(url, { signal: controller.signal }).then((response) => response.text())
    controller.abort()
    return answer.catch((error: Error) => error.name)
  })
  expect(value).toBe('AbortError')
})

test('volatile members are not matched, with or without them in the recording', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('hi'))))
  const ask = (id: string, text = 'hi') =>
    fetch(url, { method: 'POST', body: JSON.stringify({ metadata: { id }, text }) }).then((response) => response.status)
  const { start } = project()
  const live = start('record')
  await live.cell(() => ask('9b2c7a10-0d6e-4d3e-8a63-5f2f6f0c1d2e'), { save: true })
  live.end()
  const strict = start('replay')
  const missed = await strict.cell(() => ask('1f0e7a10-0d6e-4d3e-8a63-5f2f6f0c1d2e'))
  expect(missed.value).toBe(424)
  expect(missed.result.misses[0]?.message).toContain('/metadata/id (a uuid?)')
  expect(missed.result.misses[0]?.message).toContain("volatile: ['/metadata/id']")
  strict.end()
  const loose = start('replay', { traffic: { ...traffic, volatile: ['/metadata/id'] } })
  expect((await loose.cell(() => ask('1f0e7a10-0d6e-4d3e-8a63-5f2f6f0c1d2e'))).value).toBe(200)
  expect((await loose.cell(() => ask('x', 'other'))).value).toBe(424)
})

test("rules of the user's own and personal data are redacted, counted and still matched", async () => {
  const { url } = await serve((_, response) => response.end('badge 7731-K of jo@example.com'))
  const { start } = project()
  const options = { traffic: { ...traffic, rules: [{ name: 'badge', pattern: /\d{4}-[A-Z]/ }], pii: true } }
  const ask = () =>
    fetch(url, { method: 'POST', body: '{"who":"jo@example.com","badge":"7731-K"}' }).then((r) => r.text())
  const live = start('record', options)
  const { result } = await live.cell(ask, { save: true })
  expect(result.exchanges[0]?.redactions).toEqual([
    { rule: 'badge', count: 2 },
    { rule: 'email', count: 2 },
  ])
  live.end()
  const { value } = await start('replay', options).cell(ask)
  expect(value).toBe('badge [redacted:badge] of [redacted:email]')
})
