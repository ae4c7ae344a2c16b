import { mkdtempSync, rmSync } from 'node:fs'
import http, { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axios from 'axios'
import { HttpResponse, http as mswHttp } from 'msw'
import { setupServer } from 'msw/node'
import { afterEach, expect, test, vi } from 'vitest'
import type { Answer, Call } from '../../../src/plugin/replay/call.ts'
import { type Decide, intercept } from '../../../src/plugin/replay/interception.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function said(text: string): Answer {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
  return { kind: 'response', url: '', redirected: false, status: 200, statusText: 'OK', headers: [], body }
}

const open = (decide: Decide) => {
  const interception = intercept(decide)
  cleanups.push(interception.dispose)
  return interception
}

const answering = (text: (call: Call) => string, yields = false) =>
  open((call) => ({
    answer: async () => said(text(call)),
    yieldFirst: async () => yields,
    dropped: () => {},
  }))

async function overHttp(getter: typeof get, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    getter(url, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text)).on('error', reject)
    }).on('error', reject)
  })
}

const overFetch = async (url: string) => (await fetch(url)).text()

test('fetch, node:http by default and by named import are answered', async () => {
  answering((call) => `${call.client} ${call.method} ${call.url}`)
  const url = 'http://nowhere.invalid/a?b=1'
  expect(await overFetch(url)).toBe(`fetch GET ${url}`)
  expect(await overHttp(http.get, url)).toBe(`http GET ${url}`)
  expect(await overHttp(get, url)).toBe(`http GET ${url}`)
})

test('after disposal nothing is intercepted', async () => {
  const server = http.createServer((_, response) => response.end('real')).listen(0)
  cleanups.push(() => server.close())
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`
  const { dispose } = open(() => ({
    answer: async () => said('ours'),
    yieldFirst: async () => false,
    dropped: () => {},
  }))
  expect([await overFetch(url), await overHttp(get, url)]).toEqual(['ours', 'ours'])
  dispose()
  expect([await overFetch(url), await overHttp(get, url)]).toEqual(['real', 'real'])
})

test('we stay first before, while and after a server of the user is open, twice over', async () => {
  answering(() => 'ours')
  const url = 'http://api.invalid/x'
  for (const round of [1, 2]) {
    let asked = 0
    const server = setupServer(
      mswHttp.get(url, () => {
        asked++
        return HttpResponse.text('theirs')
      }),
    )
    server.listen()
    expect([round, await overFetch(url), await overHttp(get, url)]).toEqual([round, 'ours', 'ours'])
    expect(asked).toBe(0)
    server.close()
    expect([round, await overFetch(url), await overHttp(get, url)]).toEqual([round, 'ours', 'ours'])
  }
})

test('a call we would carry is offered to the server of the user first', async () => {
  answering(() => 'ours', true)
  const server = setupServer(mswHttp.get('http://tool.invalid/known', () => HttpResponse.text('theirs')))
  server.listen({ onUnhandledRequest: 'bypass' })
  cleanups.push(() => server.close())
  for (const client of [overFetch, (url: string) => overHttp(get, url)]) {
    expect(await client('http://tool.invalid/known')).toBe('theirs')
    expect(await client('http://tool.invalid/other')).toBe('ours')
  }
})

test('cancelling our answer resolves while a server of the user listens for responses', async () => {
  answering(() => 'x'.repeat(1000))
  const server = setupServer()
  server.events.on('response:mocked', () => {})
  server.listen()
  cleanups.push(() => server.close())
  const response = await fetch('http://api.invalid/')
  await response.body?.cancel()
  expect(response.bodyUsed).toBe(true)
})

test('a fault is what each client knows: a TypeError with a cause, an error with a code', async () => {
  open(() => ({
    answer: async () => ({ kind: 'fault', error: Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' }) }),
    yieldFirst: async () => false,
    dropped: () => {},
  }))
  await expect(fetch('http://a.invalid/')).rejects.toMatchObject({
    name: 'TypeError',
    message: 'fetch failed',
    cause: { code: 'UND_ERR_SOCKET' },
  })
  await expect(overHttp(get, 'http://a.invalid/')).rejects.toMatchObject({
    code: 'ECONNRESET',
    message: 'socket hang up',
  })
})

test('bodies of GET requests over node:http are seen', async () => {
  const seen: (string | null)[] = []
  open((call) => ({
    answer: async () => {
      const body = await call.body()
      seen.push(body === null ? null : Buffer.from(body).toString())
      return said('')
    },
    yieldFirst: async () => false,
    dropped: () => {},
  }))
  await new Promise((resolve) => http.request('http://a.invalid/', (r) => r.resume().on('end', resolve)).end())
  await new Promise((resolve) =>
    http
      .request('http://a.invalid/', { headers: { 'content-length': 4 } }, (r) => r.resume().on('end', resolve))
      .end('body'),
  )
  await new Promise((resolve) =>
    http.request('http://a.invalid/', { method: 'POST' }, (r) => r.resume().on('end', resolve)).end('post'),
  )
  await new Promise((resolve) => {
    const patient = http.request('http://a.invalid/', { method: 'PUT', headers: { expect: '100-continue' } }, (r) =>
      r.resume().on('end', resolve),
    )
    patient.once('continue', () => patient.end('continued')).flushHeaders()
  })
  expect(seen).toEqual([null, 'body', 'post', 'continued'])
})

test('requests over a unix socket are not ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-pipe-'))
  const socketPath = join(folder, 's')
  const server = http.createServer((_, response) => response.end('piped')).listen(socketPath)
  cleanups.push(
    () => rmSync(folder, { recursive: true }),
    () => server.close(),
  )
  await new Promise((resolve) => server.once('listening', resolve))
  answering(() => 'ours')
  const text = await new Promise((resolve, reject) =>
    http
      .get({ socketPath, path: '/x' }, (response) => response.setEncoding('utf8').once('data', resolve))
      .on('error', reject),
  )
  expect(text).toBe('piped')
})

test('a request that a client addresses to its forward proxy is one to its target', async () => {
  answering((call) => `${call.method} ${call.url} ${call.headers.filter(([name]) => name.startsWith('proxy')).length}`)
  const target = 'http://api.example/v1/chat?x=1'
  vi.stubEnv('http_proxy', 'http://user:secret@127.0.0.1:9')
  vi.stubEnv('HTTP_PROXY', 'http://user:secret@127.0.0.1:9')
  vi.stubEnv('NO_PROXY', '')
  vi.stubEnv('no_proxy', '')
  cleanups.push(() => vi.unstubAllEnvs())
  expect((await axios.get(target)).data).toBe(`GET ${target} 0`)
  const raw = { host: '127.0.0.1', port: 9, path: 'https://api.example/v1', headers: { host: 'api.example' } }
  const answer = await new Promise<http.IncomingMessage>((resolve) => http.get(raw, resolve))
  expect((await answer.toArray()).join('')).toBe('GET https://api.example/v1 0')
})
