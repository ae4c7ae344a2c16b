import { type AddressInfo, createServer } from 'node:net'
import axios from 'axios'
import { expect, test } from 'vitest'
import { project, serve } from './harness.ts'

const codes = (client: typeof fetch, url: string) =>
  client(url).then(
    () => 'answered',
    (error: Error) => [error.name, error.message, Reflect.get(Object(error.cause), 'code')],
  )
const axiosCode = (url: string) =>
  axios.get(url).then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  )

async function faults(url: string) {
  const { start } = project()
  const seen: { value: unknown; phases: unknown }[] = []
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(
      async (cell) => [await codes(fetch, url), await codes(cell.fetch, url), await axiosCode(url)],
      { save: true },
    )
    expect(result.misses).toEqual([])
    seen.push({ value, phases: result.exchanges.map(({ outcome }) => outcome.kind === 'fault' && outcome.phase) })
    run.end()
  }
  expect(seen[1]).toEqual(seen[0])
  return seen[0]
}

test('a connection reset before the response replays as that error', async () => {
  const { url } = await serve((request) => request.socket.resetAndDestroy())
  expect(await faults(url)).toEqual({
    value: [['TypeError', 'fetch failed', 'ECONNRESET'], ['TypeError', 'fetch failed', 'ECONNRESET'], 'ECONNRESET'],
    phases: ['headers', 'headers', 'headers'],
  })
})

test('a connection closed before the response is what each client calls it', async () => {
  const { url } = await serve((request) => request.socket.destroy())
  expect(await faults(url)).toEqual({
    value: [
      ['TypeError', 'fetch failed', 'UND_ERR_SOCKET'],
      ['TypeError', 'fetch failed', 'UND_ERR_SOCKET'],
      'ECONNRESET',
    ],
    phases: ['headers', 'headers', 'headers'],
  })
})

test('a refused connection, and a name that does not exist', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  expect(await faults(`http://127.0.0.1:${port}/`)).toMatchObject({
    value: [['TypeError', 'fetch failed', 'ECONNREFUSED'], expect.anything(), 'ECONNREFUSED'],
    phases: ['connect', 'connect', 'connect'],
  })
})

test('a client that gives up before the response sees its own abort, and the exchange says so', async () => {
  let arrived: () => void = () => {}
  const { url } = await serve(() => arrived())
  const { start } = project()
  const run = start('live')
  const { value, result } = await run.cell(async (cell) => {
    const seen: unknown[] = []
    for (const client of [fetch, cell.fetch]) {
      const controller = new AbortController()
      arrived = () => controller.abort()
      seen.push(await client(url, { signal: controller.signal }).catch((error: Error) => error.name))
    }
    return seen
  })
  expect(value).toEqual(['AbortError', 'AbortError'])
  expect(result.exchanges.map(({ outcome }) => outcome)).toMatchObject([
    { kind: 'fault', phase: 'aborted' },
    { kind: 'fault', phase: 'aborted' },
  ])
})

test('redirects are followed hop by hop, with the body where it is kept', async () => {
  const { url } = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const path = request.url ?? ''
      if (path.startsWith('/to')) response.writeHead(Number(path.slice(3)), { location: '/end' }).end('moved')
      else response.end(`${request.method} ${body}`)
    })
  })
  const { start } = project()
  for (const policy of ['record', 'replay'] as const) {
    const run = start(policy)
    const { value, result } = await run.cell(
      async (cell) => {
        const seen: unknown[] = []
        for (const client of [fetch, cell.fetch]) {
          for (const status of [302, 303, 307]) {
            const response = await client(`${url}/to${status}`, { method: 'POST', body: 'kept' })
            seen.push([response.url === `${url}/end` && response.redirected, await response.text()])
          }
          const manual = await client(`${url}/to302`, { redirect: 'manual' })
          seen.push([manual.redirected || manual.status, await manual.text()])
          seen.push(await client(`${url}/to302`, { redirect: 'error' }).catch((error: Error) => error.message))
        }
        return seen
      },
      { save: true },
    )
    const once = [[true, 'GET '], [true, 'GET '], [true, 'POST kept'], [302, 'moved'], 'fetch failed']
    expect(value).toEqual([...once, ...once])
    expect(result.exchanges).toHaveLength(16)
    run.end()
  }
})
