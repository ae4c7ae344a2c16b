import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { encodeRecording } from '../../../src/core/traffic/format.ts'
import { matchKey } from '../../../src/core/traffic/match.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { REPOSITORY } from '../../harness/run-vitest.ts'
import { project, serve } from './harness.ts'

test('cases 3 and 4: a client that took fetch, and a connection, before us is captured all the same', async () => {
  let calls = 0
  const { url } = await serve((_, response) => response.end(`call ${++calls}`))
  // What an SDK's constructor keeps, warm.
  const early = globalThis.fetch
  await (await early(url)).text()
  const { start } = project()
  const live = start('record')
  const first = await live.cell(async () => (await early(url)).text(), { save: true })
  expect([first.value, first.result.exchanges.length, live.log.unattributed]).toEqual(['call 2', 1, []])
  live.end()
  const second = await start('replay').cell(async () => [await (await early(url)).text(), (await early(url)).status])
  expect([second.value, calls]).toEqual([['call 2', 424], 2])
})

test('case 6: a server that closes idle connections costs no call', async () => {
  const { url, server } = await serve((request, response) => void request.pipe(response))
  server.keepAliveTimeout = 1
  const { start } = project()
  const { value } = await start('record').cell(async () => {
    const seen: string[] = []
    for (const body of ['one', 'two', 'three']) {
      seen.push(await (await fetch(url, { method: 'POST', body })).text())
      server.closeIdleConnections()
      await sleep(5)
    }
    return seen
  })
  expect(value).toEqual(['one', 'two', 'three'])
})

test('case 9: the heap is flat over 10,000 replayed calls', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const url = 'http://api.example/v1/x'
  const request = { method: 'GET', url, headers: [], body: null }
  const exchanges = Array.from({ length: 100 }, (_, ordinal) => ({
    ...{ role: 'subject' as const, key: matchKey(request).key, ordinal, request, source: 'live' as const },
    outcome: {
      ...{ kind: 'response' as const, status: 200, statusText: 'OK', headers: [], body: { text: 'x'.repeat(1000) } },
      ...{ cuts: [], end: { kind: 'complete' as const } },
    },
    ...{ startedAt: '2026-01-01T00:00:00.000Z', ttfbMs: 1, totalMs: 1, redactions: [], retried: 0 },
  }))
  const { evalFile, start } = project()
  const at = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }
  const path = recordingPath(evalFile, at)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, encodeRecording({ ...at, recordedAt: '2026-01-01T00:00:00.000Z', exchanges }))
  const run = start('replay')
  async function hundreds(times: number): Promise<void> {
    for (let cell = 0; cell < times; cell++) {
      const { result } = await run.cell(async ({ fetch: direct }) => {
        for (let call = 0; call < 100; call++) await (await (call % 4 === 0 ? fetch : direct)(url)).text()
      })
      expect(result.misses).toEqual([])
    }
  }
  const used = async () => {
    for (let pass = 0; pass < 3; pass++) {
      await sleep(5)
      gc()
    }
    return process.memoryUsage().heapUsed
  }
  await hundreds(20)
  const before = await used()
  await hundreds(100)
  // 100 bytes a call that stayed would be a megabyte.
  expect((await used()) - before).toBeLessThan(2 * 1024 * 1024)
})

test('case 11: a process ends though nobody reads the rest of a replayed stream', async () => {
  const { root } = project()
  const request = { method: 'GET', url: 'http://api.example/v1/x', headers: [], body: null }
  const at = { campaignId: 'c', variantId: 'v', scenarioId: 's', seed: 0, recordedAt: '2026-01-01T00:00:00.000Z' }
  const exchange = {
    ...{ role: 'subject' as const, key: matchKey(request).key, ordinal: 0, request, source: 'live' as const },
    outcome: {
      ...{ kind: 'response' as const, status: 200, statusText: 'OK', headers: [], body: { text: 'abcdef' } },
      ...{ cuts: [2, 2, 2].map((size) => [size, 1] as const), end: { kind: 'complete' as const } },
    },
    ...{ startedAt: at.recordedAt, ttfbMs: 1, totalMs: 1, redactions: [], retried: 0 },
  }
  const path = join(root, 'tape.jsonl')
  writeFileSync(path, encodeRecording({ ...at, exchanges: [exchange] }))
  const script = join(root, 'reads-one.mjs')
  const dist = pathToFileURL(join(REPOSITORY, 'dist/plugin/replay/replay-fetch.js')).href
  writeFileSync(
    script,
    `import { createReplayFetch } from ${JSON.stringify(dist)}
const response = await createReplayFetch(${JSON.stringify(path)})('http://api.example/v1/x')
const { value } = await response.body.getReader().read()
console.log(Buffer.from(value).toString())`,
  )
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'], timeout: 300_000 })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const [code] = await new Promise<[number | null]>((resolve) => child.once('close', (...end) => resolve([end[0]])))
  expect([code, said]).toEqual([0, 'ab\n'])
})

test('case 15: a request that waits for its socket to connect before it ends is sent', async () => {
  const { url } = await serve((request, response) => void request.pipe(response))
  const { start } = project()
  const run = start('record')
  const { value } = await run.cell(
    () =>
      new Promise<string>((resolve, reject) => {
        const request = http.request(
          url,
          { method: 'POST', agent: new http.Agent({ keepAlive: true }) },
          (response) => {
            let text = ''
            response.on('data', (chunk: Buffer) => {
              text += chunk.toString()
            })
            response.on('end', () => resolve(text))
          },
        )
        request.on('error', reject)
        request.flushHeaders()
        request.on('socket', (socket) => {
          const send = () => request.end('late')
          if (socket.connecting) socket.once('connect', send)
          else send()
          setTimeout(() => resolve('never connected'), 60_000).unref()
        })
      }),
  )
  expect(value).toBe('late')
})
