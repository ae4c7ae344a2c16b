import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import got from 'got'
import OpenAI, { APIConnectionError } from 'openai'
import { fetch as undiciFetch, request as undiciRequest } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { segmentOf } from '../../../src/core/campaign/segment.ts'
import { readExchange } from '../../../src/core/traffic/wire/read.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { completion, project, serve } from './harness.ts'

const coordinates = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }

describe('a recording that somebody changed', () => {
  /** Two calls with one key, one with another; their lines go through `edit`. */
  async function edited(edit: (lines: string[]) => string[] | string) {
    let calls = 0
    const { url } = await serve((_, response) => response.end(`answer ${++calls}`))
    const { evalFile, start } = project()
    const ask = async () => {
      const said: string[] = []
      for (const path of ['/a', '/a', '/b']) said.push(await (await fetch(url + path)).text())
      return said
    }
    const live = start('record')
    await live.cell(ask, { save: true })
    live.end()
    const path = recordingPath(evalFile, coordinates)
    const lines = edit(readFileSync(path, 'utf8').trimEnd().split('\n'))
    writeFileSync(path, typeof lines === 'string' ? lines : `${lines.join('\n')}\n`)
    const run = start('replay')
    return { run, ask, path }
  }
  const swap = <T>(list: readonly T[], a: number, b: number) =>
    list.map((item, index) => list[index === a ? b : index === b ? a : index] ?? item)

  test('in the order of its lines serves as recorded: the ordinal decides', async () => {
    const { run, ask } = await edited((lines) => swap(swap(lines, 1, 3), 2, 3))
    expect((await run.cell(ask)).value).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  test('by a line that stands twice serves each once more, and tells what nobody asked for', async () => {
    const { run, ask } = await edited((lines) => [...lines, lines[3] ?? ''])
    const { value, result } = await run.cell(ask)
    expect([value[2], result.unused.length, result.misses]).toEqual(['answer 3', 1, []])
  })

  test('in the text of an answer serves the new one', async () => {
    const { run, ask } = await edited((lines) => lines.map((line) => line.replace('answer 1', 'edited')))
    expect((await run.cell(ask)).value[0]).toBe('edited')
  })

  test.each<[string, (lines: string[]) => string[] | string, RegExp]>([
    ['the last line is torn', (lines) => lines.join('\n').slice(0, -20), /0\.jsonl:4: the last line is torn.*-u/],
    [
      'a line in the middle is torn',
      (lines) => lines.map((line, at) => (at === 2 ? line.slice(0, 50) : line)),
      /0\.jsonl:3: not a JSON line/,
    ],
    ['a member is missing', (lines) => lines.map((line) => line.replace('"ordinal":1,', '')), /0\.jsonl:3: ordinal/],
    [
      'a status is text',
      (lines) => lines.map((line) => line.replace('"status":200', '"status":"200"')),
      /0\.jsonl:2: outcome\.status/,
    ],
    [
      'the schema is newer',
      (lines) => lines.map((line) => line.replace('recording@1', 'recording@2')),
      /0\.jsonl:1: written by a newer/,
    ],
    ['the header is gone', (lines) => lines.slice(1), /0\.jsonl:1: no recording/],
    ['it is empty', () => '', /0\.jsonl:1: the recording is empty/],
    [
      'it is of another cell',
      (lines) => lines.map((line) => line.replace('"refund"', '"other"')),
      /0\.jsonl:1: .*scenarioId/,
    ],
    [
      'a shared body names a path',
      (lines) => lines.map((line) => line.replace('{"text":"answer 1"}', '{"shared":"../../x.txt"}')),
      /0\.jsonl:2: outcome\.body/,
    ],
    [
      'it has a conflict',
      (lines) => [lines[0] ?? '', '<<<<<<< ours', ...lines.slice(1)],
      /0\.jsonl:2: an unresolved merge/,
    ],
  ])('so that %s is refused with its place', async (_, edit, message) => {
    const { run } = await edited(edit)
    await expect(run.open()).rejects.toThrow(message)
  })

  test.each(['../../escape', '..', '/etc/passwd', 'a/../../b', 'C:\\x', 'nul', '\u202e'])(
    'no id leaves the folder: %j',
    async (id) => {
      expect(segmentOf(id)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)
      const { url } = await serve((_, response) => response.end('x'))
      const { root, evalFile, start } = project()
      const odd = { campaignId: id, variantId: id, scenarioId: id, seed: 0 }
      const live = start('record')
      await live.cell(async () => (await fetch(url)).text(), { coordinates: odd, save: true })
      live.end()
      expect(recordingPath(evalFile, odd).startsWith(`${root}/__recordings__/`)).toBe(true)
      expect((await start('replay').cell(async () => (await fetch(url)).text(), { coordinates: odd })).value).toBe('x')
    },
  )

  test('where a folder stands in its place, is refused', async () => {
    const { evalFile, start } = project()
    const path = recordingPath(evalFile, coordinates)
    mkdirSync(path, { recursive: true })
    await expect(start('replay').open()).rejects.toThrow(/is no file/)
    expect(dirname(path)).toContain('__recordings__')
  })
})

describe('a provider', () => {
  const ask = (url: string) => async () => {
    const client = new OpenAI({ apiKey: 'sk-of-the-test-0123456789', baseURL: `${url}/v1`, maxRetries: 1 })
    try {
      const answer = await client.chat.completions.create({ model: 'm', messages: [] })
      return typeof answer === 'string' ? `text ${answer}` : String(answer.choices?.[0]?.message.content)
    } catch (error) {
      return error instanceof APIConnectionError ? 'no connection' : (error as Error).message
    }
  }
  const stream = (url: string) => async () => {
    const client = new OpenAI({ apiKey: 'sk-of-the-test-0123456789', baseURL: `${url}/v1`, maxRetries: 0 })
    let said = ''
    for await (const { choices } of await client.chat.completions.create({ model: 'm', messages: [], stream: true })) {
      said += choices[0]?.delta.content ?? ''
    }
    return `"${said}"`
  }

  async function both(body: () => Promise<unknown>) {
    const { start } = project()
    const live = start('record')
    const first = await live.cell(body, { save: true })
    live.end()
    const replaying = start('replay')
    const second = await replaying.cell(body)
    expect(second.value).toEqual(first.value)
    expect(second.result.misses).toEqual([])
    return { value: first.value, exchanges: first.result.exchanges }
  }

  test('that answers HTML is recorded as it is, and has no usage', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>Bad gateway</h1></html>')
    })
    const { value, exchanges } = await both(ask(url))
    expect(value).toContain('502')
    // We made it again three times; the SDK was told to leave it at that.
    expect(exchanges.map(({ retried }) => retried)).toEqual([3])
    const [first] = exchanges
    expect(first && readExchange(first)).toMatchObject({ usage: null, error: { kind: 'server' } })
  })

  test('that answers HTML with status 200 is unreadable, not free', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    })
    const { exchanges } = await both(ask(url))
    const [first] = exchanges
    expect(first && readExchange(first)).toMatchObject({ usage: null, usageMissing: 'unreadable', complete: false })
  })

  test('that streams nothing is no whole answer', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    })
    const { value, exchanges } = await both(stream(url))
    expect(value).toBe('""')
    const [first] = exchanges
    expect(first && readExchange(first)).toMatchObject({ usage: null, complete: false })
  })

  test('that sends what is no UTF-8 is kept byte for byte', async () => {
    const bytes = Buffer.concat([
      Buffer.from('data: {"x":"'),
      Buffer.from([0xc3, 0x28, 0xff, 0x80]),
      Buffer.from('"}\n\n'),
    ])
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes)
    })
    const { value } = await both(async () => Buffer.from(await (await fetch(url)).arrayBuffer()).toString('hex'))
    expect(value).toBe(bytes.toString('hex'))
  })

  test('whose redirects lead in a circle ends as in the platform, every hop recorded', async () => {
    const { url } = await serve((request, response) => {
      response.writeHead(307, { location: request.url === '/a' ? '/b' : '/a' }).end()
    })
    const { value, exchanges } = await both(async () =>
      fetch(`${url}/a`).catch((error: Error) => [error.message, (error.cause as Error).message]),
    )
    expect(value).toEqual(['fetch failed', 'redirect count exceeded'])
    expect(exchanges).toHaveLength(21)
  })

  const everyClient = (url: string) => async () => {
    const asked = [
      () => fetch(`${url}/fetch`).then((response) => response.text()),
      () => undiciRequest(`${url}/request`).then(({ body }) => body.text()),
      () => undiciFetch(`${url}/undici`).then((response) => response.text()),
      () => got(`${url}/got`, { retry: { limit: 0 } }).text(),
    ]
    const said = (error: Error) => `${error.message}: ${(error.cause as Error | undefined)?.message}`
    return Promise.all(asked.map((ask) => ask().catch(said)))
  }

  test('that breaks before its first byte fails every client, live and replayed', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
      setImmediate(() => response.destroy())
    })
    const { value } = await both(everyClient(url))
    expect(value).toEqual([
      'terminated: other side closed',
      'other side closed: undefined',
      'terminated: other side closed',
      expect.stringMatching(/aborted|hang up/),
    ])
  })

  test('that encodes its body as nobody asked for says so to every client, and nowhere else', async () => {
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onTestFinished(() => void process.off('uncaughtException', uncaught))
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'compress' }).end('x'.repeat(100_000))
    })
    const { value } = await both(everyClient(url))
    expect(value).toHaveLength(4)
    for (const said of value as string[]) expect(said).toContain('the response is encoded with "compress"')
    expect(uncaught).not.toHaveBeenCalled()
  })

  test('that sends more than its content-length is what the length says, for every client', async () => {
    const text = JSON.stringify(completion('hi'))
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}and more`,
        ),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    const result = (body: Promise<string>) => body.catch((error: Error) => `error ${error.name}`)
    const { value } = await both(async () => [
      await result(fetch(`${url}/fetch`).then((response) => response.text())),
      await result(undiciRequest(`${url}/undici`).then(({ body }) => body.text())),
      await result(
        new Promise<string>((resolve, reject) => {
          get(`${url}/http`, (response) => buffer(response).then((bytes) => resolve(bytes.toString()), reject)).on(
            'error',
            reject,
          )
        }),
      ),
    ])
    expect(value).toEqual([text, text, text])
  })
})
