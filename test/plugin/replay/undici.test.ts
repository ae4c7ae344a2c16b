import { channel } from 'node:diagnostics_channel'
import { Writable } from 'node:stream'
import { Agent, type Dispatcher, interceptors, request, stream, fetch as undiciFetch } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { bind } from '../../../src/plugin/worker/bind.ts'
import { project, serve } from './harness.ts'

const body = JSON.stringify({ model: 'm', messages: [] })
const post = { method: 'POST' as const, headers: { 'content-type': 'application/json' }, body }

async function gather(url: string): Promise<string[]> {
  const asked = await request(`${url}/request`, { ...post, query: { n: 1 } })
  const fetched = await undiciFetch(`${url}/fetch`, post)
  let streamed = ''
  await stream(`${url}/stream`, post, () => {
    return new Writable({
      write(chunk, _encoding, done) {
        streamed += chunk
        done()
      },
    })
  })
  const own = await fetch(`${url}/global`, post)
  return [
    `${asked.statusCode} ${await asked.body.text()}`,
    `${fetched.status} ${await fetched.text()}`,
    streamed,
    await own.text(),
  ]
}

test("undici's own clients are captured once each, and replay without a connection", async () => {
  let calls = 0
  const { url, server } = await serve((message, response) => {
    calls++
    let text = ''
    message.on('data', (chunk) => {
      text += chunk
    })
    message.on('end', () => {
      expect(message.headers['x-vitest-campaign-call']).toBeUndefined()
      response.setHeader('x-kind', ['a', 'b'])
      response.write(`${message.method} ${message.url} `)
      setTimeout(() => response.end(text), 5)
    })
  })
  const { start } = project()
  const live = start('record')
  const first = await live.cell(() => gather(url), { save: true })
  expect(calls).toBe(4)
  expect(first.value).toEqual([
    `200 POST /request?n=1 ${body}`,
    `200 POST /fetch ${body}`,
    `POST /stream ${body}`,
    `POST /global ${body}`,
  ])
  expect(first.result.exchanges.map(({ request: { url: at } }) => at.slice(url.length))).toEqual([
    '/request?n=1',
    '/fetch',
    '/stream',
    '/global',
  ])
  expect(live.log.unattributed).toEqual([])
  live.end()
  server.closeAllConnections()
  server.close()
  const again = await start('replay').cell(() => gather(url))
  expect(again.value).toEqual(first.value)
  expect(again.result.misses).toEqual([])
  expect(calls).toBe(4)
})

test('40 concurrent cells get their own calls back', async () => {
  const { url } = await serve((message, response) => void message.pipe(response))
  const { start } = project()
  const run = start('live')
  await Promise.all(
    Array.from({ length: 40 }, async (_, seed) => {
      const { value, result } = await run.cell(
        async () => (await request(url, { method: 'POST', body: `cell ${seed}` })).body.text(),
        { cellId: `c${seed}`, coordinates: { campaignId: 'c', variantId: 'v', scenarioId: 's', seed } },
      )
      expect(value).toBe(`cell ${seed}`)
      expect(result.exchanges.map(({ request: { body: sent } }) => sent)).toEqual([{ text: `cell ${seed}` }])
    }),
  )
})

test('faults, broken bodies and aborts are what undici itself gives', async () => {
  const { url } = await serve((message, response) => {
    if (message.url === '/reset') return void message.socket.resetAndDestroy()
    response.write('half')
    if (message.url === '/broken') setTimeout(() => response.destroy(), 10)
  })
  const { start } = project()
  const run = start('record')
  const ask = async () => {
    const codes: unknown[] = []
    await request(`${url}/reset`).catch((error: { code: string }) => codes.push(error.code))
    const broken = await request(`${url}/broken`)
    await broken.body.text().catch((error: Error) => codes.push(error instanceof Error))
    await undiciFetch(`${url}/reset`).catch((error: { message: string }) => codes.push(error.message))
    const controller = new AbortController()
    const slow = await request(`${url}/slow`, { signal: controller.signal })
    controller.abort()
    await slow.body.text().catch((error: Error) => codes.push(error.name))
    return codes
  }
  const live = await run.cell(ask, { save: true })
  expect(live.value).toEqual([expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/), true, 'fetch failed', 'AbortError'])
  expect(
    live.result.exchanges.map(({ outcome }) => (outcome.kind === 'fault' ? outcome.phase : outcome.end.kind)),
  ).toEqual(['headers', 'broken', 'headers', 'client-abort'])
  expect(live.result.open).toEqual([])
  run.end()
  expect((await start('replay').cell(ask)).value).toEqual(live.value)
})

/** Takes note of what it is asked for, as a proxy or a retrying agent would be asked. */
class Own extends Agent {
  readonly asked: string[] = []
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.asked.push(`${options.method} ${options.path}`)
    return super.dispatch(options, handler)
  }
}

test("a live call goes through its caller's own dispatcher, and replays without it", async () => {
  const { url, server } = await serve((message, response) => void message.pipe(response.writeHead(201)))
  const { start } = project()
  const dispatcher = new Own({ connections: 1 })
  const composed = dispatcher.compose(interceptors.retry({ maxRetries: 1 }))
  onTestFinished(() => dispatcher.destroy())
  const ask = async ({ fetch: direct }: { readonly fetch: typeof globalThis.fetch }) => {
    const init = { ...post, ...{ dispatcher: dispatcher as unknown } } as RequestInit
    const answers = await Promise.all([
      request(`${url}/request`, { ...post, dispatcher }).then(({ body: read }) => read.text()),
      request(`${url}/composed`, { ...post, dispatcher: composed }).then(({ body: read }) => read.text()),
      undiciFetch(`${url}/undici-fetch`, { ...post, dispatcher }).then((response) => response.text()),
      fetch(`${url}/fetch`, init).then((response) => response.text()),
      direct(`${url}/direct`, init).then((response) => response.text()),
    ])
    return answers
  }
  const live = start('record')
  const first = await live.cell(ask, { save: true })
  expect(first.value).toEqual(Array(5).fill(body))
  expect(first.result.exchanges).toHaveLength(5)
  expect(dispatcher.asked.toSorted()).toEqual(
    ['composed', 'direct', 'fetch', 'request', 'undici-fetch'].map((path) => `POST /${path}`),
  )
  expect(live.log.unattributed).toEqual([])
  live.end()
  server.closeAllConnections()
  server.close()
  const second = await start('replay').cell(ask)
  expect([second.value, second.result.misses]).toEqual([first.value, []])
})

test('a request of another copy of undici, through a dispatcher of its own, is told', async () => {
  const { url } = await serve((_, response) => response.end('theirs'))
  const { start } = project()
  const run = start('live')
  // What every copy publishes for a request that it makes; this one is not ours.
  const other = (path: string) =>
    channel('undici:request:create').publish({ request: { origin: url, path, method: 'POST' } })
  const { result } = await run.cell(async () => {
    other('/v1?key=of-the-test-0123456789')
    await (await request(`${url}/ours`)).body.text()
    await (await fetch(`${url}/fetch`)).text()
  })
  expect(result.exchanges).toHaveLength(2)
  expect(run.log.unattributed).toEqual([`POST ${url}/v1?key=[redacted:query]`])
})

test('a miss is an answer, also through a dispatcher of the caller', async () => {
  const { start } = project()
  const run = start('replay')
  const { value, result } = await run.cell(async () => {
    const { statusCode } = await request('http://api.openai.com/v1/models')
    const dispatcher = new Agent()
    const refused = await request('http://api.openai.com/v1/models', { dispatcher })
    await dispatcher.destroy()
    return [statusCode, refused.statusCode]
  })
  expect(value).toEqual([424, 424])
  expect(result.misses).toHaveLength(2)
})

test('work that a queue runs in the context of another cell stays with its own, once bound', async () => {
  const { url } = await serve((message, response) => void message.pipe(response))
  const { start } = project()
  const run = start('live')
  const queue: (() => Promise<unknown>)[] = []
  let drain = () => {}
  const full = new Promise<void>((resolve) => {
    drain = resolve
  })
  const sent = await Promise.all(
    [0, 1, 2].map(async (seed) => {
      const { result } = await run.cell(
        async () => {
          const done = new Promise<void>((resolve) => {
            queue.push(
              bind(() =>
                request(url, { method: 'POST', body: `cell ${seed}` })
                  .then(({ body }) => body.text())
                  .then(() => resolve()),
              ),
            )
          })
          if (queue.length === 3) drain()
          await full
          // Whoever comes first works the whole queue off.
          for (let work = queue.shift(); work !== undefined; work = queue.shift()) await work()
          await done
        },
        { cellId: `c${seed}`, coordinates: { campaignId: 'c', variantId: 'v', scenarioId: 's', seed } },
      )
      return result.exchanges.map(({ request: { body } }) => body)
    }),
  )
  expect(sent).toEqual([0, 1, 2].map((seed) => [{ text: `cell ${seed}` }]))
})
