import { setupServer } from 'msw/node'
import OpenAI from 'openai'
import { expect, onTestFinished, test, vi } from 'vitest'
import { replayHandlers } from '../../../src/plugin/replay/handlers.ts'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { createReplayFetch } from '../../../src/plugin/replay/replay-fetch.ts'
import { completion, project, serve } from './harness.ts'

const coordinates = { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 }

async function recorded() {
  const { url } = await serve((request, response) => {
    if (request.url === '/reset') request.socket.resetAndDestroy()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(completion('hi')))
  })
  const { start, evalFile } = project()
  const run = start('record')
  const client = (fetchOption?: typeof fetch) =>
    new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, ...(fetchOption === undefined ? {} : { fetch: fetchOption }) })
  const ask = async (fetchOption?: typeof fetch) =>
    (await client(fetchOption).chat.completions.create({ model: 'm', messages: [] })).choices[0]?.message.content
  await run.cell(
    async () => {
      await ask()
      await fetch(`${url}/reset`).catch(() => {})
    },
    { save: true },
  )
  run.end()
  return { url, ask, path: recordingPath(evalFile, coordinates) }
}

test('createReplayFetch answers an SDK from the file of a recording', async () => {
  const { url, ask, path } = await recorded()
  const replayFetch = createReplayFetch(path)
  expect(await ask(replayFetch)).toBe('hi')
  await expect(ask(replayFetch)).rejects.toThrow(/424.*served as often/)
  await expect(replayFetch(`${url}/reset`)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
  expect((await replayFetch(`${url}/other`)).status).toBe(424)
})

test('replayHandlers answer in any setupServer, and leave the rest to others', async () => {
  const { url, ask, path } = await recorded()
  const server = setupServer(...replayHandlers(path))
  server.listen({ onUnhandledRequest: 'error' })
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  onTestFinished(() => server.close())
  expect(await ask()).toBe('hi')
  await expect(fetch(`${url}/reset`)).rejects.toThrow()
  await expect(fetch(`${url}/v1/models`)).rejects.toThrow()
  expect(printed).toHaveBeenCalledOnce()
})
