import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import type { Exchange } from '../../../src/core/traffic/exchange.ts'
import { project, serve } from './harness.ts'

const SSE = { 'content-type': 'text/event-stream' }

/** Chunks of a body as its reader saw them. */
async function chunksOf(response: Response): Promise<string[]> {
  const chunks: string[] = []
  const reader = response.body?.getReader()
  for (;;) {
    const read = await reader?.read()
    if (read === undefined || read.done) return chunks
    chunks.push(Buffer.from(read.value).toString('latin1'))
  }
}

function endOf(exchange: Exchange | undefined) {
  return exchange?.outcome.kind === 'response' ? exchange.outcome.end.kind : exchange?.outcome.kind
}

test('a stream arrives chunk by chunk while it streams, and replays in the same chunks', async () => {
  // An event split across writes, and a character split across writes.
  const writes = [
    Buffer.from('data: {"a"'),
    Buffer.from(':1}\n\ndata: "\xf0\x9f', 'latin1'),
    Buffer.from('\x99\x82"\n\n', 'latin1'),
  ]
  let sent = 0
  let proceed = () => {}
  const { url } = await serve(async (_, response) => {
    response.writeHead(200, SSE)
    for (const write of writes) {
      response.write(write)
      sent++
      await new Promise<void>((resolve) => {
        proceed = resolve
      })
    }
    response.end()
  })
  const { start } = project()
  const run = start('record')
  const { value: live, result } = await run.cell(
    async () => {
      const response = await fetch(url)
      const chunks: string[] = []
      const reader = response.body?.getReader()
      for (;;) {
        const read = await reader?.read()
        if (read === undefined || read.done) return chunks
        chunks.push(Buffer.from(read.value).toString('latin1'))
        // The server writes the next one only after this one was read here.
        expect(sent).toBe(chunks.length)
        proceed()
      }
    },
    { save: true },
  )
  expect(live).toEqual(writes.map((write) => write.toString('latin1')))
  const outcome = result.exchanges[0]?.outcome
  expect(outcome?.kind === 'response' && outcome.cuts.map(([bytes]) => bytes)).toEqual(
    writes.map((write) => write.length),
  )
  run.end()
  const replaying = start('replay')
  for (const client of ['fetch', 'direct'] as const) {
    const replayed = await replaying.cell(async (cell) =>
      chunksOf(await (client === 'fetch' ? fetch : cell.fetch)(url)),
    )
    expect(replayed.value).toEqual(live)
  }
})

test('an SDK stream is whole when the SDK stops at its last event', async () => {
  const events = ['one', 'two'].map(
    (content) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`,
  )
  const { url } = await serve((_, response) => {
    response.writeHead(200, SSE)
    response.end(`${events.join('')}data: [DONE]\n\n`)
  })
  const ask = async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1` })
    const stream = await client.chat.completions.create({ model: 'm', messages: [], stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    return text
  }
  const { start } = project()
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(ask, { save: true })
    expect(value).toBe('onetwo')
    expect(endOf(result.exchanges[0])).toBe('complete')
    run.end()
  }
})

test('a gzip stream is decoded as it comes', async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' })
    response.write(gzipSync('data: first\n\n'))
    // Never ended: the reader has the event before the stream is over.
  })
  const { start } = project()
  const run = start('live')
  const { value } = await run.cell(async () => {
    const response = await fetch(url)
    const reader = response.body?.getReader()
    const read = await reader?.read()
    await reader?.cancel()
    return Buffer.from(read?.value ?? []).toString()
  })
  expect(value).toBe('data: first\n\n')
})

async function endless() {
  let closed: () => void = () => {}
  const whenClosed = new Promise<void>((resolve) => {
    closed = resolve
  })
  const { url } = await serve((_, response) => {
    response.writeHead(200, SSE)
    response.write('data: 1\n\n')
    response.on('close', closed)
  })
  return { url, whenClosed }
}

test.each(['abort', 'cancel'] as const)(
  '%s by the client closes the upstream and gives the permit back',
  async (how) => {
    const { url, whenClosed } = await endless()
    const { start } = project()
    const run = start('live')
    const { value, result } = await run.cell(async () => {
      const controller = new AbortController()
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [], stream: true }),
        signal: controller.signal,
      })
      const reader = response.body?.getReader()
      await reader?.read()
      if (how === 'cancel') return reader?.cancel()
      controller.abort()
      return reader?.read().catch((error: Error) => error.name)
    })
    await whenClosed
    expect(value).toBe(how === 'abort' ? 'AbortError' : undefined)
    expect(result.exchanges.map(endOf)).toEqual(['client-abort'])
    expect(run.log.permits).toHaveLength(1)
    expect(run.log.done).toEqual([0])
  },
)

test('a client that aborts a replayed stream sees its own abort', async () => {
  const { url } = await serve(async (_, response) => {
    response.writeHead(200, SSE)
    for (let n = 0; n < 3; n++) {
      response.write(`data: ${n}\n\n`)
      await sleep(5)
    }
    response.end()
  })
  const { start } = project()
  const first = start('record')
  await first.cell(
    async (cell) => {
      for (const client of [fetch, cell.fetch]) await (await client(url)).text()
    },
    { save: true },
  )
  first.end()
  const run = start('replay')
  const { value, result } = await run.cell(async (cell) => {
    const seen: unknown[] = []
    for (const client of [fetch, cell.fetch]) {
      const controller = new AbortController()
      const reader = (await client(url, { signal: controller.signal })).body?.getReader()
      await reader?.read()
      controller.abort()
      seen.push(await reader?.read().catch((error: Error) => error.name))
    }
    return seen
  })
  expect(value).toEqual(['AbortError', 'AbortError'])
  expect(result.exchanges.map(endOf)).toEqual(['complete', 'complete'])
})

test('node:http: destroying the request closes the upstream', async () => {
  const { url, whenClosed } = await endless()
  const { start } = project()
  const run = start('live')
  const { result } = await run.cell(
    () =>
      new Promise<void>((resolve) => {
        const sent = request(url, (response) => {
          response.once('data', () => {
            sent.destroy()
            resolve()
          })
        })
        sent.on('error', () => {}).end()
      }),
  )
  await whenClosed
  expect(result.exchanges.map(endOf)).toEqual(['client-abort'])
})

test('a body that breaks is an error to the client, live and replayed', async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, SSE)
    response.write('data: 1\n\n')
    setTimeout(() => response.destroy(), 10)
  })
  const { start } = project()
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(
      async (cell) => {
        const seen: unknown[] = []
        for (const client of [fetch, cell.fetch]) {
          const reader = (await client(url)).body?.getReader()
          seen.push(Buffer.from((await reader?.read())?.value ?? []).toString())
          seen.push(
            await reader?.read().then(
              () => 'ended',
              (error: Error) => [error.message, Reflect.get(Object(error.cause), 'code')],
            ),
          )
        }
        return seen
      },
      { save: true },
    )
    const broken = ['terminated', 'UND_ERR_SOCKET']
    expect([policy, ...value]).toEqual([policy, 'data: 1\n\n', broken, 'data: 1\n\n', broken])
    expect(result.exchanges.map(endOf)).toEqual(['broken', 'broken'])
    run.end()
  }
})

test('a large body read slowly is not gathered in memory first', async () => {
  const size = 8 * 1024 * 1024
  let written = 0
  const { url } = await serve(async (_, response) => {
    const block = Buffer.alloc(64 * 1024)
    for (; written < size; written += block.length) {
      if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve))
    }
    response.end()
  })
  const { start } = project()
  const run = start('live')
  await run.cell(async () => {
    const response = await fetch(url)
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await sleep(50)
    expect(written).toBeLessThan(size)
    let read = first?.value?.byteLength ?? 0
    for (;;) {
      const chunk = await reader?.read()
      if (chunk === undefined || chunk.done) break
      read += chunk.value.byteLength
    }
    expect(read).toBe(size)
  })
})

test('bodies in flight are waited for at close, then cut and reported as open', async () => {
  const { url, whenClosed } = await endless()
  const { start } = project()
  const run = start('live')
  const cell = await run.open()
  await run.traffic.run(cell, 'subject', () => fetch(url))
  const result = await cell.close(20)
  await whenClosed
  expect(result.open).toEqual([{ role: 'subject', method: 'GET', url: `${url}/` }])
  expect(result.exchanges.map(endOf)).toEqual(['client-abort'])
})
