import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { recordingPath } from '../../../src/plugin/replay/path.ts'
import { createReplayFetch } from '../../../src/plugin/replay/replay-fetch.ts'
import { MAX_KEPT_BYTES } from '../../../src/plugin/replay/stream.ts'
import { project, serve } from './harness.ts'

const at = (seed: number) => ({ campaignId: 'triage', variantId: 'v', scenarioId: 's', seed })

test('large bodies lie once, by their content, and are served from there', async () => {
  const text = 'Zürich '.repeat(12_000)
  const binary = Buffer.alloc(70_000, 0xff)
  const { url } = await serve((request, response) => response.end(request.url === '/text' ? text : binary))
  const { root, evalFile, start } = project()
  const ask = async () => [
    await (await fetch(`${url}/text`)).text(),
    Buffer.from(await (await fetch(`${url}/binary`)).arrayBuffer()).toString('hex'),
  ]
  const bodies = join(root, '__recordings__/_bodies')
  const live = start('record')
  for (const seed of [0, 1]) await live.cell(ask, { coordinates: at(seed), save: true })
  const path = recordingPath(evalFile, at(1))
  const state = () => [
    ...readdirSync(bodies),
    ...readdirSync(bodies).map((name) => statSync(join(bodies, name)).mtimeMs),
  ]
  const [files, before, written] = [readdirSync(bodies).sort(), readFileSync(path), state()]
  expect(files.map((name) => name.slice(64)).sort()).toEqual(['.bin', '.txt'])
  expect(before.byteLength).toBeLessThan(3000)
  for (const name of files) expect(before.toString()).toContain(name)
  await live.cell(ask, { coordinates: at(1), save: true })
  expect([readFileSync(path), state()]).toEqual([before, written])
  live.end()

  const replaying = start('replay')
  const { value, result } = await replaying.cell(ask, { coordinates: at(1) })
  expect([value, result.misses]).toEqual([[text, binary.toString('hex')], []])
  expect(await (await createReplayFetch(path)(`${url}/text`)).text()).toBe(text)

  const [bin = '', txt = ''] = files.sort((a, b) => (a.slice(64) < b.slice(64) ? -1 : 1))
  const line = /1\.jsonl:[23]: its body [0-9a-f]{64}\.\w+/
  writeFileSync(join(bodies, txt), 'edited')
  await expect(replaying.open({ coordinates: at(1) })).rejects.toThrow(/was changed: restore _bodies/)
  await expect(replaying.open({ coordinates: at(1) })).rejects.toThrow(line)
  rmSync(join(bodies, txt))
  await expect(replaying.open({ coordinates: at(1) })).rejects.toThrow(/is not there: restore _bodies/)
  symlinkSync(join(bodies, bin), join(bodies, txt))
  await expect(replaying.open({ coordinates: at(1) })).rejects.toThrow(/symbolic link/)
})

test('of a 200 MB body a bounded part is kept, and the cut is told', async () => {
  const piece = Buffer.from(Array.from({ length: 16_384 }, (_, index) => `line ${index}\n`).join(''))
  const total = 200 * 1024 * 1024
  const { url } = await serve((_, response) => {
    void (async () => {
      for (let sent = 0; sent < total && !response.destroyed; sent += piece.length) {
        const part = piece.subarray(0, Math.min(piece.length, total - sent))
        if (!response.write(part)) await new Promise((resolve) => response.once('drain', resolve))
        await turn()
      }
      response.end()
    })()
  })
  const { start } = project()
  const live = start('record')
  const base = process.memoryUsage().arrayBuffers
  let peak = 0
  const first = await live.cell(
    async () => {
      let read = 0
      for await (const chunk of (await fetch(url)).body ?? []) {
        read += chunk.byteLength
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - base)
      }
      return read
    },
    { save: true },
  )
  expect(first.value).toBe(total)
  // What is kept, and what the garbage collector had no time for yet.
  expect(peak).toBeLessThan(4 * MAX_KEPT_BYTES)
  expect(first.result.exchanges[0]?.outcome).toMatchObject({ end: { kind: 'cut', bytes: total } })
  live.end()
  const second = await start('replay').cell(async () => {
    let read = 0
    try {
      for await (const chunk of (await fetch(url)).body ?? []) read += chunk.byteLength
      return [read, null]
    } catch (error) {
      return [read, (error as { cause: { code: string; message: string } }).cause]
    }
  })
  expect(second.value[0]).toBe(MAX_KEPT_BYTES)
  expect(second.value[1]).toMatchObject({
    code: 'ERR_CAMPAIGN_BODY_CUT',
    message: expect.stringContaining(`had ${total} bytes`),
  })
})
