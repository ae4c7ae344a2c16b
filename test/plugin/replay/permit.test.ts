import type { OutgoingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { completion, project, serve } from './harness.ts'

const chat = { method: 'POST', body: JSON.stringify({ model: 'm', messages: [] }) }
const fail = (): number => {
  throw new Error('out of order')
}

test.each([
  ['an error', (status: number) => ({ status, text: '{"error":{"message":"down"}}' }), 500],
  ['an answer that breaks off', (status: number) => ({ status, text: '{"id":' }), 200],
] as const)(
  'a recorder that fails over %s gives the permit back, tells of it, and holds no cell up',
  async (_, reply, status) => {
    const { url } = await serve((_request, response) => {
      const { text } = reply(status)
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': text.length + (status === 200 ? 9 : 0),
      })
      response.write(text, () => (status === 200 ? response.destroy() : response.end()))
    })
    const run = project().start('live')
    const { result } = await run.cell(
      () =>
        fetch(`${url}/v1/chat/completions`, chat)
          .then((response) => response.text())
          .catch(() => null),
      { leftMs: fail },
    )
    expect(run.log.done).toEqual([0])
    expect(run.log.outcomes).toEqual([{ result: { kind: 'aborted' }, tokens: null, microUsd: null }])
    expect(result.open).toEqual([])
    expect(result.lost).toEqual([
      {
        role: 'subject',
        scorer: null,
        reason: 'provider-fault',
        message: expect.stringMatching(/^the recorder failed .*out of order$/),
      },
    ])
  },
)

test('a wait that nobody can be told of withdraws the ask', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
  const run = project().start('live')
  const { value } = await run.cell((cell) => {
    let waits = 0
    cell.onWait((waiting) => {
      // The first is for the journal.
      if (!waiting && ++waits === 2) fail()
    })
    return fetch(`${url}/v1/chat/completions`, chat).then(({ status }) => status)
  })
  expect(value).toBe(424)
  expect(run.log.outcomes.map(({ result }) => result.kind)).toEqual(['unsent'])
})

test('a cell waits for the journal before its first call, and its deadline does not', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
  const order: string[] = []
  let write = (): void => {}
  const written = new Promise<void>((resolve) => {
    write = resolve
  })
  const run = project().start('live', {
    port: {
      async admitted() {
        order.push('asked')
        await written
        order.push('written')
      },
    },
  })
  const { result } = await run.cell(async (cell) => {
    cell.onWait((waiting) => order.push(waiting ? 'stands still' : 'goes on'))
    const called = fetch(`${url}/v1/chat/completions`, chat)
    while (!order.includes('asked')) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(run.log.permits).toEqual([])
    write()
    return (await called).status
  })
  expect(order.slice(0, 2).sort()).toEqual(['asked', 'stands still'])
  expect(order.slice(2, 4)).toEqual(['written', 'goes on'])
  // It is nobody's excuse either.
  expect(result.waitedMs).toBe(0)
})

const DATE = 'Sun, 29 Nov 2026 12:00:00 GMT'
const anthropic = (of: string, remaining: number, reset: string): OutgoingHttpHeaders => ({
  [`anthropic-ratelimit-${of}-remaining`]: remaining,
  [`anthropic-ratelimit-${of}-reset`]: reset,
})
/** Of the first back-off: the provider said nothing that can be used. */
const BACKOFF = [500, 1_000] as const
/** As told, and spread by a tenth, at most two seconds. */
const told = (ms: number) => [ms, ms + Math.min(ms / 10, 2_000)] as const

test.each<[string, OutgoingHttpHeaders, readonly [number, number]]>([
  ['seconds', { 'retry-after': '3' }, told(3_000)],
  ['milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '3' }, told(250)],
  ['a date, on the clock of the provider', { 'retry-after': 'Sun, 29 Nov 2026 12:00:07 GMT' }, told(7_000)],
  ['a date in the past', { 'retry-after': 'Sun, 29 Nov 2026 11:59:00 GMT' }, BACKOFF],
  ['a date in another year', { 'retry-after': 'Mon, 29 Nov 2027 12:00:00 GMT' }, BACKOFF],
  ['a year of seconds', { 'retry-after': '31536000' }, BACKOFF],
  ['less than nothing', { 'retry-after': '-5' }, BACKOFF],
  ['nothing', { 'retry-after': '0' }, BACKOFF],
  ['no date', { 'retry-after': 'soon' }, BACKOFF],
  [
    'OpenAI: the window that is used up',
    {
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '8.64s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m2.5s',
    },
    told(62_500),
  ],
  ['OpenAI: milliseconds', { 'x-ratelimit-reset-requests': '120ms' }, told(120)],
  ['Anthropic: an instant', anthropic('input-tokens', 0, '2026-11-29T12:00:11Z'), told(11_000)],
  [
    'Anthropic: the later of two that are used up',
    { ...anthropic('requests', 0, '2026-11-29T12:00:02Z'), ...anthropic('output-tokens', 0, '2026-11-29T12:00:04Z') },
    told(4_000),
  ],
  ['Anthropic: no instant', anthropic('requests', 0, 'tomorrow'), BACKOFF],
  ['nothing at all', {}, BACKOFF],
])('a 429 that tells %s is waited out', async (_, headers, [least, most]) => {
  let calls = 0
  const { url } = await serve((request, response) => {
    request.resume()
    response.setHeader('date', DATE)
    if (++calls > 1) return response.end(JSON.stringify(completion('x')))
    response.writeHead(429, { 'content-type': 'application/json', ...headers })
    response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
  })
  const run = project().start('live')
  const { value } = await run.cell(() => fetch(`${url}/v1/chat/completions`, chat).then(({ status }) => status), {
    leftMs: () => 3_600_000,
  })
  expect(value).toBe(200)
  const [first, again] = run.log.asked
  expect(first?.delayMs).toBe(0)
  expect(again?.delayMs).toBeGreaterThanOrEqual(least)
  expect(again?.delayMs).toBeLessThanOrEqual(most)
  // The lane learns the same wait.
  expect(run.log.outcomes[0]?.result).toMatchObject({ kind: 'throttled', holdMs: again?.delayMs })
})
