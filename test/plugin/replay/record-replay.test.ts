import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import axios from 'axios'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { completion, project, serve } from './harness.ts'

const coordinates = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }

test('an SDK call is recorded, and replayed without a network', async () => {
  let calls = 0
  const { url, server } = await serve((_, response) => {
    calls++
    response.setHeader('content-type', 'application/json').end(JSON.stringify(completion('billing')))
  })
  const ask = async () => {
    const client = new OpenAI({ apiKey: 'sk-test-0123456789abcdef', baseURL: `${url}/v1` })
    const answer = await client.chat.completions.create({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: 'I was charged twice' }],
    })
    return answer.choices[0]?.message.content
  }
  const { evalFile, start } = project()
  const recording = start('record')
  const live = await recording.cell(ask, { save: true })
  expect(live.value).toBe('billing')
  expect(live.result.exchanges).toMatchObject([
    { role: 'subject', source: 'live', ordinal: 0, outcome: { status: 200 } },
  ])
  expect(recording.log.admitted).toEqual([['c0ffee0000000000', 1, 'openai/gpt-5-mini']])
  expect(recording.log.permits).toEqual([['c0ffee0000000000', 'openai/gpt-5-mini']])
  expect(recording.log.done).toEqual([0])
  recording.end()
  server.close()
  server.closeAllConnections()

  const text = readFileSync(recordingPath(evalFile, coordinates), 'utf8')
  expect(text).not.toContain('0123456789abcdef')
  const replaying = start('replay')
  const replayed = await replaying.cell(ask)
  expect(calls).toBe(1)
  expect(replayed.value).toBe('billing')
  expect(replayed.result).toMatchObject({ misses: [], unused: [], open: [] })
  expect(replayed.result.exchanges).toEqual(live.result.exchanges.map((e) => ({ ...e, source: 'replayed' })))
  expect(replayed.result.recordedAt).toMatch(/^\d{4}-/)
  expect(replaying.log.admitted).toEqual([])
})

test.each(['new', 'record', 'live'] as const)('policy %s without a recording goes live', async (policy) => {
  const { url } = await serve((_, response) => response.end('hello'))
  const { start } = project()
  const run = start(policy)
  const { value, cell } = await run.cell(async () => (await fetch(url)).text(), { save: true })
  expect([value, cell.mode]).toEqual(['hello', 'live'])
  run.end()
  const again = start('replay')
  const { result } = await again.cell(async () => (await fetch(url)).status)
  expect(result.misses.map(({ kind }) => kind)).toEqual(policy === 'live' ? ['no-recording'] : [])
})

test('policy new replays a cell with a recording, wholly', async () => {
  let calls = 0
  const { url } = await serve((_, response) => response.end(`call ${++calls}`))
  const { start } = project()
  const first = start('new')
  await first.cell(async () => (await fetch(url)).text(), { save: true })
  first.end()
  const second = start('new')
  const { value, cell, result } = await second.cell(async () => [
    await (await fetch(url)).text(),
    (await fetch(`${url}/other`)).status,
  ])
  expect(cell.mode).toBe('replayed')
  expect(value).toEqual(['call 1', 424])
  expect(result.misses.map(({ kind }) => kind)).toEqual(['unknown'])
  expect(calls).toBe(1)
})

const bodies: { readonly [name: string]: { readonly bytes: Buffer; readonly headers: Record<string, string> } } = {
  text: { bytes: Buffer.from('grüße 🙂'), headers: { 'content-type': 'text/plain' } },
  binary: { bytes: Buffer.from([0, 0xff, 0xfe, 0x80, 10, 13]), headers: {} },
  gzip: { bytes: gzipSync('zipped text'), headers: { 'content-encoding': 'gzip' } },
  brotli: { bytes: brotliCompressSync('squeezed text'), headers: { 'content-encoding': 'br' } },
  'empty gzip': { bytes: Buffer.alloc(0), headers: { 'content-encoding': 'gzip' } },
  empty: { bytes: Buffer.alloc(0), headers: {} },
}
const decodedBodies: { readonly [name: string]: string } = { gzip: 'zipped text', brotli: 'squeezed text' }

for (const [name, { bytes, headers }] of Object.entries(bodies)) {
  test(`a ${name} body is the same live and replayed, for fetch, axios and ctx.fetch`, async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, 'Fine', headers).end(bytes)
    })
    const expected = Buffer.from(decodedBodies[name] ?? bytes)
    const { start } = project()
    for (const policy of ['record', 'replay'] as const) {
      const run = start(policy)
      const { value, result } = await run.cell(
        async (cell) => [
          Buffer.from(await (await fetch(url)).arrayBuffer()),
          Buffer.from((await axios.get(url, { responseType: 'arraybuffer' })).data),
          Buffer.from(await (await cell.fetch(url)).arrayBuffer()),
        ],
        { save: true },
      )
      expect(value).toEqual([expected, expected, expected])
      expect(result.misses).toEqual([])
      expect(result.exchanges[0]?.outcome).toMatchObject({ statusText: 'Fine', end: { kind: 'complete' } })
      run.end()
    }
  })
}

test('two set-cookie headers and repeated ones survive, in order', async () => {
  const { url } = await serve((_, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('x-multi', ['1', '2']).end('ok')
  })
  const { start } = project()
  const shown: unknown[] = []
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value } = await run.cell(
      async () => {
        const response = await fetch(url)
        await response.text()
        const overHttp = await axios.get(url)
        return [
          response.headers.getSetCookie().length,
          response.headers.get('x-multi'),
          overHttp.headers['set-cookie']?.length,
        ]
      },
      { save: true },
    )
    shown.push(value)
    run.end()
  }
  expect(shown).toEqual([
    [2, '1, 2', 2],
    [2, '1, 2', 2],
  ])
})

test('responses without a body have none, live and replayed', async () => {
  const { url } = await serve((request, response) => {
    const status = Number(request.url?.slice(1))
    if (request.method === 'HEAD') response.setHeader('content-length', 7)
    response.writeHead(status).end()
  })
  const { start } = project()
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value } = await run.cell(
      async (cell) => {
        const seen: unknown[] = []
        for (const client of [fetch, cell.fetch]) {
          for (const status of [204, 304]) seen.push([status, (await client(`${url}/${status}`)).body])
          const head = await client(`${url}/200`, { method: 'HEAD' })
          seen.push([head.headers.get('content-length'), await head.text()])
        }
        seen.push((await axios.head(`${url}/200`)).headers['content-length'], (await axios.get(`${url}/204`)).status)
        return seen
      },
      { save: true },
    )
    const once = [
      [204, null],
      [304, null],
      ['7', ''],
    ]
    expect(value).toEqual([...once, ...once, '7', 204])
    run.end()
  }
})

test('identical calls are answered in their order, each entry once', async () => {
  let calls = 0
  const { url } = await serve((_, response) => {
    const mine = ++calls
    setTimeout(() => response.end(`answer ${mine}`), mine === 1 ? 30 : 1)
  })
  const { start } = project()
  const ask = (client: typeof fetch) => async () =>
    Promise.all(
      Array.from({ length: 3 }, async () =>
        (
          await client(url, { method: 'POST', body: '{"same":true}', headers: { 'content-type': 'application/json' } })
        ).text(),
      ),
    )
  const live = start('record')
  const recorded = await live.cell(ask(fetch), { save: true })
  live.end()
  const run = start('replay')
  expect((await run.cell((cell) => ask(cell.fetch)())).value).toEqual(recorded.value)
  const tooMany = await run.cell(async (cell) => {
    await ask(cell.fetch)()
    return (await ask(cell.fetch)()).map((text) => JSON.parse(text).error.code)
  })
  expect(tooMany.value).toEqual(['replay_miss', 'replay_miss', 'replay_miss'])
  expect(tooMany.result.misses.map(({ kind }) => kind)).toEqual(['exhausted', 'exhausted', 'exhausted'])
  const tooFew = await run.cell(async (cell) =>
    (await cell.fetch(url, { method: 'POST', body: '{ "same": true }' })).text(),
  )
  expect(tooFew.result.unused).toHaveLength(2)
})

test('uploads match by their parts and bytes, not by their boundary', async () => {
  const { url } = await serve((request, response) => {
    request.resume().on('end', () => response.end('stored'))
  })
  const { start } = project()
  const form = (content: number) => {
    const data = new FormData()
    data.append('purpose', 'evals')
    data.append('file', new Blob([Uint8Array.from([0, 255, content])]), 'x.bin')
    return data
  }
  const upload = (content: number) => async (cell: { fetch: typeof fetch }) => {
    const bytes = Uint8Array.from([0, 0xff, 0xfe, content])
    return [
      (await fetch(url, { method: 'POST', body: form(content) })).status,
      (await cell.fetch(url, { method: 'POST', body: form(content) })).status,
      (await axios.post(url, form(content), { validateStatus: null })).status,
      (await fetch(url, { method: 'PUT', body: bytes })).status,
      (await axios.put(url, Buffer.from(bytes), { validateStatus: null })).status,
    ]
  }
  const live = start('record')
  await live.cell(upload(1), { save: true })
  live.end()
  const run = start('replay')
  expect((await run.cell(upload(1))).value).toEqual([200, 200, 200, 200, 200])
  expect((await run.cell(upload(2))).value).toEqual([424, 424, 424, 424, 424])
})

test('ordinals follow the calls, however long their bodies take', async () => {
  const { url } = await serve((request, response) => {
    request.resume().on('end', () => response.end(request.headers['x-name']))
  })
  const { start } = project()
  const run = start('record')
  const { result } = await run.cell(async (cell) => {
    let finish: () => void = () => {}
    const slow = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('sa'))
        finish = () => {
          controller.enqueue(Buffer.from('me'))
          controller.close()
        }
      },
    })
    const upload = { method: 'POST', body: slow, duplex: 'half', headers: { 'x-name': 'first' } } as RequestInit
    const answers = [
      cell.fetch(url, upload),
      cell.fetch(url, { method: 'POST', body: 'same', headers: { 'x-name': 'second' } }),
      cell.fetch(`${url}/other`, { method: 'POST', body: 'same' }).finally(() => finish()),
    ]
    for (const answer of answers) await (await answer).text()
  })
  const [first, second, other] = result.exchanges
  expect([first?.ordinal, second?.ordinal, other?.ordinal]).toEqual([0, 1, 0])
  expect(first?.key).toBe(second?.key)
  expect(first?.request.headers).toContainEqual(['x-name', 'first'])
})

test('a request of another configuration finds no answer', async () => {
  const { url } = await serve((_, response) => response.end(JSON.stringify(completion('x'))))
  const { start } = project()
  const ask = (body: object) => (client: { fetch: typeof fetch }) =>
    client.fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) }).then((r) => r.status)
  const asked = { model: 'm', seed: 7, messages: [{ role: 'user', content: 'a' }] }
  const live = start('record')
  await live.cell(ask(asked), { save: true })
  live.end()
  const run = start('replay')
  const messages = asked.messages
  expect((await run.cell(ask({ messages, seed: asked.seed, model: 'm' }))).value).toBe(200)
  for (const other of [
    { ...asked, model: 'n' },
    { ...asked, temperature: 0 },
    { ...asked, messages: [] },
  ]) {
    expect((await run.cell(ask(other))).value).toBe(424)
  }
})

test('a miss is an error that SDKs print and do not retry, and that swallowing does not hide', async () => {
  const { start, evalFile } = project()
  const run = start('replay')
  const { value, result } = await run.cell(async () => {
    const openai = new OpenAI({ apiKey: 'k', maxRetries: 3 })
    const anthropic = new Anthropic({ apiKey: 'k', maxRetries: 3 })
    const messages = [{ role: 'user' as const, content: 'hi' }]
    return [
      await openai.chat.completions.create({ model: 'gpt-5-mini', messages }).catch((error: Error) => error.message),
      await anthropic.messages
        .create({ model: 'claude-x', max_tokens: 1, messages })
        .catch((error: Error) => error.message),
    ]
  })
  for (const message of value) {
    expect(message).toContain('424')
    expect(message).toContain('has no recording of this cell, and this run replays')
  }
  expect(result.misses.map(({ method, url, kind }) => [method, url, kind])).toEqual([
    ['POST', 'https://api.openai.com/v1/chat/completions', 'no-recording'],
    ['POST', 'https://api.anthropic.com/v1/messages', 'no-recording'],
  ])
  expect(evalFile).toContain('triage')
})

test('429 then 200 is one call to the SDK, made again by us, live and replayed', async () => {
  let calls = 0
  const { url } = await serve((request, response) => {
    request.resume()
    if (++calls % 2 === 1) {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after-ms': '5' })
      response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        request.url === '/v1/messages'
          ? { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [{ type: 'text', text: 'hi' }] }
          : completion('hi'),
      ),
    )
  })
  const { start } = project()
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const ask = async () => {
    const openai = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1` })
    const anthropic = new Anthropic({ apiKey: 'k', baseURL: url })
    const first = await openai.chat.completions.create({ model: 'm', messages })
    const second = await anthropic.messages.create({ model: 'c', max_tokens: 9, messages })
    return [first.choices[0]?.message.content, second.content]
  }
  const values: unknown[] = []
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(ask, { save: true })
    values.push(value)
    expect(result.exchanges.map(({ outcome, retried }) => ['status' in outcome && outcome.status, retried])).toEqual([
      [200, 1],
      [200, 1],
    ])
    expect(run.log.done.length).toBe(run.log.permits.length)
    run.end()
  }
  expect(values[1]).toEqual(values[0])
  expect(calls).toBe(4)
})

test('a server sees what the client would have sent', async () => {
  const { url } = await serve((request, response) => response.end(JSON.stringify(request.headers)))
  const { start } = project()
  const run = start('live')
  const { value } = await run.cell(async () => [
    await (await fetch(url, { headers: { 'x-own': '1', 'user-agent': 'mine' } })).json(),
    await (await fetch(url)).json(),
    (await axios.get(url, { headers: { 'accept-encoding': 'zstd, gzip;q=0.5' } })).data,
  ])
  expect(value).toMatchObject([
    { 'x-own': '1', 'user-agent': 'mine', accept: '*/*' },
    { 'user-agent': 'node', 'accept-encoding': 'gzip, br' },
    { 'user-agent': expect.stringContaining('axios'), 'accept-encoding': 'gzip;q=0.5' },
  ])
})

test('named imports of node:http are captured', async () => {
  const { url } = await serve((_, response) => response.end('named'))
  const { start } = project()
  const run = start('record')
  const { value, result } = await run.cell(
    () =>
      new Promise<string>((resolve, reject) => {
        get(url, (response) => {
          response.setEncoding('utf8').once('data', resolve)
        }).on('error', reject)
      }),
  )
  expect(value).toBe('named')
  expect(result.exchanges).toHaveLength(1)
})
