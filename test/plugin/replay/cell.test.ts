import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import axios from 'axios'
import { HttpResponse, http, passthrough } from 'msw'
import { setupServer } from 'msw/node'
import OpenAI from 'openai'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PermitReply } from '../../../src/plugin/control.ts'
import { completion, project, serve } from './harness.ts'

const chat = (model = 'm') => ({ method: 'POST', body: JSON.stringify({ model, messages: [] }) })

test('40 concurrent cells get their own calls, through every client and shared connections', async () => {
  const { url } = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => setTimeout(() => response.end(body), Math.random() * 10))
  })
  const { start } = project()
  const run = start('live')
  const instance = axios.create({ baseURL: url })
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const name = `cell-${index}`
      const { result } = await run.cell(
        async (cell) => {
          const body = JSON.stringify({ name })
          await Promise.all([
            fetch(`${url}/fetch`, { method: 'POST', body }).then((r) => r.text()),
            instance.post('/axios', { name }),
            sleep(1).then(() => cell.fetch(`${url}/direct`, { method: 'POST', body }).then((r) => r.text())),
          ])
        },
        { cellId: name, coordinates: { campaignId: 'c', variantId: 'v', scenarioId: 's', seed: index } },
      )
      expect(result.exchanges).toHaveLength(3)
      for (const { request, outcome } of result.exchanges) {
        expect([request.body, outcome.kind === 'response' && outcome.body]).toEqual([
          { text: JSON.stringify({ name }) },
          { text: JSON.stringify({ name }) },
        ])
      }
    }),
  )
  expect(run.log.admitted).toHaveLength(40)
  expect(run.log.unattributed).toEqual([])
})

test('the role is that of the context, and a cell is found by whoever runs in it', async () => {
  const { url } = await serve((_, response) => response.end('x'))
  const { start } = project()
  const run = start('live')
  const cell = await run.open()
  expect(run.traffic.currentCell()).toBe(null)
  await run.traffic.run(cell, 'subject', () => fetch(url).then((r) => r.text()))
  await run.traffic.run(cell, 'judge', async () => {
    await sleep(1)
    expect(run.traffic.currentCell()).toBe(cell)
    await cell.fetch(url).then((r) => r.text())
  })
  expect((await cell.close(100)).exchanges.map(({ role }) => role)).toEqual(['subject', 'judge'])
})

test('nothing is sent before the admission is durable, and it is asked for once', async () => {
  let calls = 0
  const { url } = await serve((_, response) => {
    calls++
    response.end()
  })
  let durable: () => void = () => {}
  const admitted = new Promise<void>((resolve) => {
    durable = resolve
  })
  let asked = 0
  const { start } = project()
  const run = start('live', {
    port: {
      admitted: () => {
        asked++
        return admitted
      },
    },
  })
  await run.cell(async () => {
    const both = Promise.all([fetch(url), fetch(`${url}/2`)])
    await sleep(20)
    expect([calls, asked]).toEqual([0, 1])
    durable()
    await both
    expect([calls, asked]).toEqual([2, 1])
  })
})

test('a refused admission refuses the call', async () => {
  const { url } = await serve((_, response) => response.end())
  const { start } = project()
  const run = start('live', { port: { admitted: () => Promise.reject(new Error('disk full')) } })
  const { value, result } = await run.cell(async () => (await fetch(url)).json())
  expect(value).toMatchObject({ error: { code: 'not_admitted', message: expect.stringContaining('disk full') } })
  expect(result.exchanges).toEqual([])
})

test('waits for permits are told and counted, and an ask that nobody waits for any longer is withdrawn', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
  const grants: (() => void)[] = []
  const done: string[] = []
  const { start } = project()
  const run = start('live', {
    port: {
      permit() {
        const number = grants.length
        const reply = new Promise<PermitReply>((resolve) => grants.push(() => resolve({ granted: true, waitedMs: 1 })))
        return { reply, done: ({ result: { kind } }) => done.push(`${number} ${kind}`) }
      },
    },
  })
  const waits: boolean[] = []
  const { result } = await run.cell(async (cell) => {
    cell.onWait((waiting) => waits.push(waiting))
    const controller = new AbortController()
    const first = fetch(`${url}/v1/chat/completions`, chat()).then((r) => r.text())
    const second = fetch(`${url}/v1/chat/completions`, { ...chat('n'), signal: controller.signal }).catch(
      (e: Error) => e.name,
    )
    while (grants.length < 2) await sleep(1)
    // For the journal, then for the permit.
    expect(waits).toEqual([true, false, true])
    controller.abort()
    expect(await second).toBe('AbortError')
    expect(done).toEqual(['1 unsent'])
    await sleep(2)
    grants[0]?.()
    await first
    expect(waits).toEqual([true, false, true, false])
    grants[1]?.()
    await sleep(1)
  })
  expect(done).toEqual(['1 unsent', '0 answered'])
  expect(result.exchanges).toHaveLength(1)
  expect(result.waitedMs).toBeGreaterThan(0)
})

test.each([0, 40])(
  'a wait is as long as the governor says, not the way there; at one time it counts once: %i ms',
  async (waitedMs) => {
    const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
    const { start } = project()
    const grants: (() => void)[] = []
    const run = start('live', {
      port: {
        permit: () => ({
          reply: new Promise((resolve) => grants.push(() => resolve({ granted: true, waitedMs }))),
          done() {},
        }),
      },
    })
    const { result } = await run.cell(async () => {
      const calls = [1, 2, 3].map(() => fetch(`${url}/v1/chat/completions`, chat()).then((r) => r.text()))
      while (grants.length < 3) await sleep(1)
      await sleep(50)
      for (const grant of grants) grant()
      await Promise.all(calls)
    })
    expect(result.waitedMs).toBeGreaterThanOrEqual(waitedMs)
    // Three times the wait would be 120 ms.
    expect(result.waitedMs).toBeLessThan(waitedMs === 0 ? 0.001 : 110)
  },
)

test('after close and after the deadline nothing is sent, and the tries are told', async () => {
  let calls = 0
  const { url } = await serve((_, response) => {
    calls++
    response.end()
  })
  const { start } = project()
  const run = start('live')
  const deadline = new AbortController()
  const cell = await run.open({ signal: deadline.signal })
  const call = (client: typeof fetch) =>
    run.traffic.run(
      cell,
      'subject',
      async () => ((await (await client(url)).json()) as { error: { code: string } }).error.code,
    )
  deadline.abort()
  expect(await call(fetch)).toBe('after_deadline')
  await cell.close(100)
  expect(await call(fetch)).toBe('late_call')
  expect(await call(cell.fetch)).toBe('late_call')
  expect(cell.late()).toHaveLength(3)
  expect(cell.late()[0]).toEqual({ role: 'subject', method: 'GET', url: `${url}/` })
  expect(calls).toBe(0)
})

test('a call that still waits for its permit when the cell is closed is not sent', async () => {
  let calls = 0
  const { url } = await serve((_, response) => {
    calls++
    response.end()
  })
  const grants: (() => void)[] = []
  const done: string[] = []
  const { start } = project()
  const run = start('live', {
    port: {
      permit: () => ({
        reply: new Promise((resolve) => grants.push(() => resolve({ granted: true, waitedMs: 1 }))),
        done: ({ result: { kind } }) => done.push(kind),
      }),
    },
  })
  const cell = await run.open()
  const answer = run.traffic.run(cell, 'subject', () => fetch(`${url}/v1/chat/completions`, chat()))
  while (grants.length === 0) await sleep(1)
  const closing = cell.close(1000)
  grants[0]?.()
  expect((await answer).status).toBe(424)
  await closing
  expect(cell.late()).toHaveLength(1)
  expect(done).toEqual(['unsent'])
  expect(calls).toBe(0)
})

test('the deadline aborts calls in flight', async () => {
  let arrived: () => void = () => {}
  const { url } = await serve(() => arrived())
  const { start } = project()
  const run = start('live')
  const deadline = new AbortController()
  arrived = () => deadline.abort()
  const { value, result } = await run.cell(async () => fetch(url).catch((error: Error) => error.name), {
    signal: deadline.signal,
  })
  expect(value).toBe('AbortError')
  expect(result.exchanges[0]?.outcome).toMatchObject({ kind: 'fault', phase: 'aborted' })
})

test('a raw capture that cannot be written fails the cell, and names the file', async () => {
  const { url } = await serve((_, response) => response.end())
  const { start, root } = project()
  writeFileSync(join(root, 'file'), '')
  const run = start('live', { runDir: join(root, 'file') })
  await expect(run.cell(async () => (await fetch(url)).text())).rejects.toThrow(
    /raw capture .*c0ffee.*could not be written/,
  )
})

test('a secret that redaction did not reach keeps the recording from being written', async () => {
  const { url } = await serve((_, response) => response.end())
  const { start, root } = project()
  const run = start('record')
  const cell = await run.open({
    coordinates: { campaignId: 'c', variantId: 'v', scenarioId: 'sk-ant-0123456789abcdef', seed: 0 },
  })
  await run.traffic.run(cell, 'subject', () => fetch(url).then((r) => r.text()))
  await cell.close(100)
  expect(await cell.save()).toEqual(['anthropic-key'])
  expect(existsSync(join(root, '__recordings__'))).toBe(false)
})

test('fake timers of a test do not stop the traffic', async () => {
  const { url } = await serve(async (_, response) => {
    for (const chunk of ['a', 'b', 'c']) response.write(chunk)
    response.end()
  })
  const { start } = project()
  const first = start('record')
  await first.cell(async () => (await fetch(url)).text(), { save: true })
  first.end()
  const run = start('replay')
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { value } = await run.cell(async (cell) => [await (await fetch(url)).text(), (await cell.fetch(url)).status])
  expect(value).toEqual(['abc', 424])
})

test('what a settled cell captured is let go', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const body = 'x'.repeat(64 * 1024)
  const { url } = await serve((_, response) => response.end(body))
  const { start } = project()
  const run = start('record')
  const used = async () => {
    // Streams and signals hold one another weakly: what the first pass frees lets go of more.
    for (let pass = 0; pass < 3; pass++) {
      await sleep(10)
      gc()
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const cells = (n: number) =>
    Promise.all(
      Array.from({ length: n }, async (_, seed) => {
        await run.cell(async () => (await fetch(url)).text(), {
          save: true,
          coordinates: { campaignId: 'c', variantId: 'v', scenarioId: 's', seed },
        })
      }),
    )
  await cells(20)
  await cells(20)
  const before = await used()
  for (let batch = 0; batch < 5; batch++) await cells(20)
  // A hundred cells went by: bodies that stayed would be a hundred times the body at least.
  expect((await used()) - before).toBeLessThan(60 * body.length)
})

test('a placeholder key does not go live, and the variable is named', async () => {
  const { start } = project()
  const run = start('live', { placeholderKeys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] })
  const { value, result } = await run.cell(async () => {
    const client = new OpenAI({ apiKey: 'vitest-campaign-placeholder-key' })
    return client.chat.completions.create({ model: 'm', messages: [] }).catch((error: Error) => error.message)
  })
  expect(value).toContain('OPENAI_API_KEY is not set')
  expect(result.missingKeys).toEqual(['OPENAI_API_KEY'])
  expect(run.log.admitted).toEqual([])
})

test('routes are origins, not prefixes, and bind the subject', async () => {
  const { url } = await serve((_, response) => response.end('in'))
  const { start } = project()
  const run = start('live')
  const cell = await run.open({ routes: [url] })
  const strange = `${url.replace('127.0.0.1', '127.0.0.1.evil.invalid')}/`
  await run.traffic.run(cell, 'subject', async () => {
    expect(await (await fetch(`${url}/path`)).text()).toBe('in')
    expect((await fetch(strange)).status).toBe(424)
  })
  const { exchanges } = await cell.close(100)
  expect(exchanges.map(({ request, outcome }) => [request.url, outcome.kind])).toEqual([
    [`${url}/path`, 'response'],
    [strange, 'fault'],
  ])
  await expect(run.open({ routes: ['api.example.com'] })).rejects.toThrow('`routes` holds "api.example.com"')
})

test('mocks of the campaign answer its tools, recorded as mocked, live and replayed', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
  const mocks = [
    http.post('https://tools.example/weather', async ({ request }) => HttpResponse.json({ got: await request.json() })),
    http.get('https://tools.example/down', () => HttpResponse.error()),
    http.all(`${url}/*`, () => passthrough()),
  ]
  const { start } = project()
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(
      async () => [
        (await axios.post('https://tools.example/weather', { city: 'Bonn' })).data,
        await fetch('https://tools.example/down').catch((error: Error) => error.message),
        (await fetch(`${url}/v1/chat/completions`, chat())).status,
      ],
      { mocks, save: true },
    )
    expect(value).toEqual([{ got: { city: 'Bonn' } }, 'fetch failed', 200])
    expect(result.exchanges.map(({ source }) => source)).toEqual([
      'mocked',
      'mocked',
      policy === 'record' ? 'live' : 'replayed',
    ])
    expect([result.misses, result.unused]).toEqual([[], []])
    run.end()
  }
  const run = start('replay')
  const broken = [
    http.get('https://tools.example/broken', () => {
      throw new Error('the mock is broken')
    }),
  ]
  const { value } = await run.cell(
    async (cell) => {
      const cause = async (client: typeof fetch) =>
        client('https://tools.example/broken').catch((error: Error) => (error.cause as Error).message)
      return [await cause(fetch), await cause(cell.fetch)]
    },
    { mocks: broken },
  )
  expect(value).toEqual(['the mock is broken', 'the mock is broken'])
  await expect(run.open({ mocks: [() => null] })).rejects.toThrow('mocks[0] is no msw request handler')
})

test('a server of the user answers hosts that are no provider; the rest is ours', async () => {
  const { url } = await serve((_, response) => response.end('real'))
  const { start } = project()
  const theirs = () => {
    const server = setupServer(http.get('https://tools.example/known', () => HttpResponse.text('theirs')))
    server.listen({ onUnhandledRequest: 'bypass' })
    return server
  }
  const ask = async (cell: { fetch: typeof fetch }) => {
    const texts: string[] = []
    for (const client of [fetch, cell.fetch]) {
      texts.push(await (await client('https://tools.example/known')).text())
      texts.push(await (await client(url)).text())
    }
    return texts
  }
  const first = start('record')
  const one = theirs()
  expect((await first.cell(ask, { save: true })).value).toEqual(['theirs', 'real', 'theirs', 'real'])
  one.close()
  first.end()
  const second = start('replay')
  const two = theirs()
  onTestFinished(() => two.close())
  const { value, result } = await second.cell(ask)
  expect(value).toEqual(['theirs', 'real', 'theirs', 'real'])
  expect([result.misses, result.unused]).toEqual([[], []])
  const mocks = [http.get('https://tools.example/mocked', () => HttpResponse.text('mocked'))]
  const both = async () => [
    await (await fetch('https://tools.example/mocked')).text(),
    await (await fetch('https://tools.example/known')).text(),
  ]
  expect((await second.cell(both, { mocks })).value).toEqual(['mocked', 'theirs'])
  const other = await second.cell(async () => (await fetch('https://tools.example/unknown')).status)
  expect(other.value).toBe(424)
  expect(other.result.misses.map(({ url: missed }) => missed)).toEqual(['https://tools.example/unknown'])
})

test('a server that the user opens after us changes nothing about an SDK that retries', async () => {
  let calls = 0
  const { url } = await serve((_, response) => {
    if (++calls === 1) response.writeHead(429, { 'retry-after-ms': '1' }).end('{"error":{"message":"slow"}}')
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(completion('hi')))
  })
  const { start } = project()
  const run = start('live')
  const server = setupServer()
  server.events.on('response:mocked', () => {})
  server.listen({ onUnhandledRequest: 'bypass' })
  onTestFinished(() => server.close())
  const { value } = await run.cell(async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1` })
    return (await client.chat.completions.create({ model: 'm', messages: [] })).choices[0]?.message.content
  })
  expect(value).toBe('hi')
})

test('calls outside every cell are told; replay refuses them, live carries them', async () => {
  const { url } = await serve((_, response) => response.end('real'))
  const { start } = project()
  const replaying = start('replay')
  const refused = (await (await fetch(`${url}/a`)).json()) as { error: { message: string } }
  expect(refused.error.message).toContain('outside every cell')
  expect(replaying.log.unattributed).toEqual([`GET ${url}/a`])
  replaying.end()
  const living = start('live')
  expect(await (await fetch(`${url}/b`)).text()).toBe('real')
  expect(living.log.unattributed).toEqual([`GET ${url}/b`])
  expect(living.log.admitted).toEqual([])
})

test('origins of passthrough are neither recorded nor reported, also in replay', async () => {
  const { url } = await serve((_, response) => response.end('local'))
  const { start } = project()
  const run = start('replay', { passthrough: [url] })
  const { value, result } = await run.cell(async (cell) => [
    await (await fetch(url)).text(),
    (await axios.get(url)).data,
    await (await cell.fetch(url)).text(),
    await (await cell.fetch(new Request(url, { method: 'POST', body: 'x' }))).text(),
  ])
  expect(value).toEqual(['local', 'local', 'local', 'local'])
  expect([result.exchanges, result.misses, run.log.unattributed]).toEqual([[], [], []])
  expect(() => start('replay', { passthrough: ['localhost:1'] })).toThrow('`passthrough` holds "localhost:1"')
})
