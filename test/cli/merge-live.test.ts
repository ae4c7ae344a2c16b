import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newestRun, project, runVitest } from '../harness/run-vitest.ts'
import { countingProvider } from '../plugin/resume/provider.ts'
import { runHere } from './run-here.ts'

test('of lanes that shards asked, merged blobs say what merged run folders say: that only the shards know', async () => {
  const provider = await countingProvider()
  const root = await project('durable')
  const env = { ...provider.env, SCENARIOS: '6' }
  const shards: string[] = []
  for (const shard of ['1/2', '2/2']) {
    await runVitest(root, [`--shard=${shard}`, '--reporter=blob'], env)
    shards.push((await newestRun(root)).dir)
  }
  expect(provider.asked).toHaveLength(12)
  expect((await runHere(root, ['merge', ...shards])).code).toBe(0)
  const folders = (await newestRun(root)).reports.asks
  const { output } = await runVitest(root, [`--merge-reports=${join(root, '.vitest-reports')}`], env)
  const blobs = JSON.parse(await readFile(join(root, '.evals/merged/reports/asks.json'), 'utf8'))
  expect(folders?.capacity).toEqual({ lanes: null, refused: 'merged', failovers: [] })
  expect(blobs.capacity, output).toEqual(folders?.capacity)
  expect(blobs).toEqual(folders)
  expect(provider.asked).toHaveLength(12)
})
