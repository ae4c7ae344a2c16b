import { setupServer } from 'msw/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { project } from '../harness.ts'
import { type Client, clients } from './clients.ts'
import { modelHost } from './model-host.ts'

/** What a program sees of a call: the answer, or the name and status of the error. */
async function outcome(client: Client, url: string, model: string, stream: boolean): Promise<string> {
  const controller = new AbortController()
  const behaviour = model.split('-', 1)[0]
  const ask = () =>
    client.ask({
      ...{ url, model, stream, tools: behaviour === 'tool', signal: controller.signal },
      onText: () => behaviour === 'stall' && controller.abort(),
    })
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Error)) return String(error)
    const cause = error.name === 'AI_RetryError' ? (Reflect.get(error, 'lastError') as Error) : error
    const status =
      Reflect.get(cause, 'status') ??
      Reflect.get(cause, 'statusCode') ??
      Reflect.get(cause, '$metadata')?.httpStatusCode
    return controller.signal.aborted ? 'aborted' : `${cause.name} ${status}`
  }
}

async function everything(client: Client, url: string): Promise<readonly string[]> {
  const seen: string[] = []
  for (const stream of [false, true]) {
    for (const behaviour of ['plain', 'tool', 'error', 'busy'])
      seen.push(`${behaviour}: ${await outcome(client, url, `${behaviour}-model`, stream)}`)
  }
  seen.push(`stall: ${await outcome(client, url, 'stall-model', true)}`)
  return seen
}

// What capture does to a client's sockets is no business of the user's terminal.
const warnings: string[] = []
const onWarning = ({ name }: Error) => void warnings.push(name)
beforeAll(() => void process.on('warning', onWarning))
afterAll(() => {
  process.off('warning', onWarning)
  expect(warnings).not.toContain('MaxListenersExceededWarning')
})

describe.each(clients.map((client) => [client.name, client] as const))('%s', (_, client) => {
  test('records and replays answers, tools, errors, repeats and aborts, whole and streamed', async () => {
    const host = await modelHost()
    const { start } = project()
    const live = start('record')
    const first = await live.cell(() => everything(client, host.url), { save: true })
    const [plain, tool, error, busy, streamed, streamedTool, streamedError, streamedBusy, stall] = first.value
    expect(plain).toBe('plain: answer of plain-model')
    expect(streamed).toBe('plain: answer of Zürich plain-model')
    for (const asked of [tool, streamedTool])
      expect(asked).toMatch(/^tool: \{"id":900719925474099\d,"city":"Zürich"\}$/)
    for (const failed of [error, streamedError]) expect(failed).toMatch(/^error: \w+ 400$/)
    expect(busy).toBe('busy: answer of busy-model')
    expect(streamedBusy).toBe('busy: answer of Zürich busy-model')
    // The SDKs of OpenAI and Anthropic end their iterators without a word.
    expect(stall).toMatch(/^stall: (?:aborted|answer(?: of )?)$/)
    const { exchanges } = first.result
    expect(exchanges).toHaveLength(9)
    expect(exchanges.map(({ outcome: of }) => (of.kind === 'response' ? of.status : of.code))).toEqual([
      ...[200, 200, 400, 200, 200, 200, 400, 200, 200],
    ])
    expect(exchanges.map(({ retried }) => retried)).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0])
    expect(exchanges.at(-1)?.outcome).toMatchObject({ end: { kind: 'client-abort' } })
    expect(host.calls()).toBe(11)
    await expect.poll(host.left).toBe(1)
    expect(live.log.unattributed).toEqual([])
    live.end()
    host.stop()

    const replaying = start('replay')
    const second = await replaying.cell(() => everything(client, host.url))
    expect(second.value).toEqual(first.value)
    expect(second.result).toMatchObject({ misses: [], unused: [], open: [] })
    expect(second.result.exchanges).toEqual(exchanges.map((exchange) => ({ ...exchange, source: 'replayed' })))
    expect([replaying.log.unattributed, replaying.log.admitted]).toEqual([[], []])
  })
})

test('50 cells at once get their own calls back, through every client', async () => {
  const host = await modelHost()
  const { start } = project()
  const live = start('record')
  const cell = (run: typeof live, seed: number) =>
    run.cell(
      () =>
        Promise.all(
          halfOf(seed).map((client) => outcome(client, host.url, `plain-${seed}-${client.name.length}`, seed % 4 < 2)),
        ),
      {
        ...{ cellId: `c${seed}`, save: run === live },
        coordinates: { campaignId: 'triage', variantId: 'v', scenarioId: 's', seed },
      },
    )
  const halfOf = (seed: number) => clients.filter((_, index) => index % 2 === seed % 2)
  const seeds = Array.from({ length: 50 }, (_, seed) => seed)
  const recorded = await Promise.all(seeds.map((seed) => cell(live, seed)))
  for (const [seed, { value, result }] of recorded.entries()) {
    const said = halfOf(seed).map(({ name }) => `plain-${seed}-${name.length}`)
    expect(value.map((text) => text.replace(/^answer of (?:Zürich )?/, ''))).toEqual(said)
    const own = result.exchanges.map(({ request: { url, body } }) => `${url}${JSON.stringify(body)}`)
    expect(own).toHaveLength(said.length)
    for (const text of own) expect(text).toContain(`plain-${seed}-`)
  }
  expect(live.log.unattributed).toEqual([])
  live.end()
  host.stop()
  const replaying = start('replay')
  const replayed = await Promise.all(seeds.map((seed) => cell(replaying, seed)))
  expect(replayed.map(({ value }) => value)).toEqual(recorded.map(({ value }) => value))
  expect(replayed.flatMap(({ result }) => [...result.misses, ...result.unused])).toEqual([])
})

test("a server of the user's own, opened and closed while cells run, takes no call and displaces nothing", async () => {
  const host = await modelHost()
  const { start } = project()
  const live = start('record')
  const body = async () => {
    const seen: string[] = []
    for (const client of clients) {
      const server = setupServer()
      server.listen({ onUnhandledRequest: 'bypass' })
      try {
        seen.push(await outcome(client, host.url, `busy-${client.name.length}-${seen.length}`, true))
      } finally {
        server.close()
      }
      seen.push(await outcome(client, host.url, `plain-${seen.length}`, false))
    }
    return seen
  }
  const first = await live.cell(body, { save: true })
  expect(first.result.exchanges).toHaveLength(2 * clients.length)
  live.end()
  host.stop()
  const again = await start('replay').cell(body)
  expect(again.value).toEqual(first.value)
  expect(again.result.misses).toEqual([])
})
