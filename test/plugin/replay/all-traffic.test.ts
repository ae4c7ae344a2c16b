import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { request as undiciRequest } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildRecord } from '../../../src/core/record/build.ts'
import { priceExchange } from '../../../src/core/record/cost.ts'
import type { Body, Exchange, HeaderList } from '../../../src/core/traffic/exchange.ts'
import { createRedactor } from '../../../src/core/traffic/redact.ts'
import { readExchange } from '../../../src/core/traffic/wire/read.ts'
import { facts } from '../../core/record/cell-facts.ts'
import { hasRecordedTraffic, type Recorded, recordedTraffic } from '../../core/traffic/recorded.ts'
import { project } from './harness.ts'

if (!hasRecordedTraffic) console.warn('real provider traffic is not beside this checkout: its round trip is skipped')

/** The exchanges are dealt out to so many cells at once. */
const CELLS = 24

/** What a client reads of an answer. */
interface Read {
  readonly status: number
  readonly headers: HeaderList
  readonly body: string
  /** Sizes of its pieces, where the client hands them on as they come. */
  readonly pieces: readonly number[] | null
}

type Ask = (url: string, method: string, headers: HeaderList, body: Buffer | undefined) => Promise<Read>

const pairs = (headers: NodeJS.Dict<string | string[]>): HeaderList =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const))

const clients: { readonly [name: string]: Ask } = {
  async fetch(url, method, headers, body) {
    const response = await fetch(url, { method, headers: headers as [string, string][], ...(body ? { body } : {}) })
    const chunks: Uint8Array[] = []
    for await (const chunk of response.body ?? []) chunks.push(chunk)
    return {
      status: response.status,
      headers: [...response.headers],
      body: Buffer.concat(chunks).toString('latin1'),
      pieces: chunks.map((chunk) => chunk.byteLength),
    }
  },
  http: (url, method, headers, body) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method, headers: Object.fromEntries(headers) }, (response) => {
        const { statusCode: status = 0, headers: received } = response
        buffer(response).then(
          (bytes) => resolve({ status, headers: pairs(received), body: bytes.toString('latin1'), pieces: null }),
          reject,
        )
      })
      sent.on('error', reject).end(body)
    }),
  async undici(url, method, headers, body) {
    const {
      statusCode,
      headers: received,
      body: read,
    } = await undiciRequest(url, {
      ...{ method: method as 'POST', headers: Object.fromEntries(headers), body: body ?? null },
    })
    const bytes = Buffer.from(await read.arrayBuffer())
    return { status: statusCode, headers: pairs(received), body: bytes.toString('latin1'), pieces: null }
  },
}

const bytesOf = (body: Body) =>
  body === null ? undefined : 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64')

/** Of one connection, of one encoding, or written by the client itself. */
const HOP = /^(?:host|connection|keep-alive|content-length|content-encoding|transfer-encoding|accept-encoding|date)$/
/** Replay tells SDKs to repeat at once. */
const matters = (headers: HeaderList) => headers.filter(([name]) => !HOP.test(name) && !/^retry-after/.test(name))

/** A proxy that answers every request as it was recorded, in pieces that end anywhere. */
async function asRecorded(all: readonly Recorded[]) {
  const server = createServer((request, response) => {
    void buffer(request).then(async () => {
      const { outcome } = (all[Number(request.headers['x-exchange'])] as Recorded).exchange
      if (outcome.kind === 'fault') return response.destroy()
      response.writeHead(outcome.status, outcome.headers.filter(([name]) => !HOP.test(name)).flat())
      const bytes = bytesOf(outcome.body) ?? Buffer.alloc(0)
      const size = Math.ceil(bytes.length / 3)
      for (let at = 0; at < bytes.length; at += size) {
        response.write(bytes.subarray(at, at + size))
        await turn()
      }
      return response.end()
    })
  })
  const sockets = new Set<Socket>()
  server.on('connect', (_, socket: Socket) => {
    sockets.add(socket)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    server.emit('connection', socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The record of a cell that made these exchanges, without what only time or the mode decide. */
function recordOf(exchanges: readonly Exchange[]) {
  const calls = exchanges.map((exchange) => {
    const reading = readExchange(exchange)
    const cost = reading === null ? null : priceExchange(reading, new Date(exchange.startedAt))
    return { ...exchange, reading, cost }
  })
  const { provenance, recordedAt, wallMs, ...rest } = buildRecord(facts({ calls }))
  return rest
}

describe.skipIf(!hasRecordedTraffic)('real traffic of every provider', () => {
  let all: Recorded[] = []
  let proxy: Awaited<ReturnType<typeof asRecorded>>
  beforeAll(async () => {
    all = hasRecordedTraffic ? [...recordedTraffic()] : []
    proxy = await asRecorded(all)
    // Under their own hosts, whose names decide provider, lane and price.
    vi.stubEnv('http_proxy', proxy.url)
    vi.stubEnv('no_proxy', '')
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    proxy.stop()
  })

  test.each(Object.entries(clients))(
    'recorded through %s, it replays the same, to the byte',
    async (_, client) => {
      expect(all.length).toBeGreaterThan(600)
      const { start } = project()
      async function through(policy: 'record' | 'replay') {
        const run = start(policy)
        const cells: { reads: readonly Read[]; exchanges: readonly Exchange[] }[] = []
        async function work(seed: number): Promise<void> {
          const { value, result } = await run.cell(
            async () => {
              const reads: Read[] = []
              for (let index = seed; index < all.length; index += CELLS) {
                const { request } = (all[index] as Recorded).exchange
                const headers = request.headers.filter(([name]) => !HOP.test(name))
                const url = request.url.replace(/^https:/, 'http:')
                const body = bytesOf(request.body)
                reads.push(
                  await client(url, request.method.toUpperCase(), [...headers, ['x-exchange', `${index}`]], body),
                )
              }
              return reads
            },
            {
              ...{ cellId: `c${seed}`, save: policy === 'record' },
              coordinates: { campaignId: 'traffic', variantId: 'v', scenarioId: 's', seed },
            },
          )
          expect(result).toMatchObject({ misses: [], unused: [] })
          cells[seed] = { reads: value, exchanges: result.exchanges }
        }
        await Promise.all(Array.from({ length: CELLS }, (_, seed) => work(seed)))
        expect(run.log.unattributed).toEqual([])
        run.end()
        return cells
      }
      const live = await through('record')
      const replayed = await through('replay')
      const { headers: redacted } = createRedactor({ env: {} })
      const seen = (read: Read | undefined) => read && { ...read, headers: matters(redacted(read.headers).headers) }
      for (const [index, { exchange, where }] of all.entries()) {
        const at = [index % CELLS, Math.floor(index / CELLS)] as const
        const before = live[at[0]]?.reads[at[1]]
        const { outcome } = exchange
        if (outcome.kind === 'fault') throw new Error(where)
        const said = (bytesOf(outcome.body) ?? Buffer.alloc(0)).toString('latin1')
        expect({ where, status: before?.status, body: before?.body }).toEqual({
          ...{ where, status: outcome.status, body: said },
        })
        expect({ where, ...seen(replayed[at[0]]?.reads[at[1]]) }).toEqual({ where, ...seen(before) })
      }
      for (const [index, { exchanges }] of live.entries()) {
        const again = replayed[index]?.exchanges ?? []
        expect(again).toEqual(exchanges.map((one) => ({ ...one, source: 'replayed' })))
        expect(recordOf(again)).toEqual(recordOf(exchanges))
      }
    },
    120_000,
  )
})
