import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, startVitest } from '../../harness/run-vitest.ts'
import { byCell, expectAccounted, journalOf, lasting, newestDir, settledIn } from './accounting.ts'
import { type CountingProvider, countingProvider, type Reply } from './provider.ts'

/** Kills in all; `VITEST_CAMPAIGN_TEST_KILLS=100 npx vitest run test/plugin/resume/kills` takes a quarter of an hour. */
const KILLS = Number(process.env.VITEST_CAMPAIGN_TEST_KILLS ?? 10)
const SCENARIOS = 16

/** The same moments for the same seed, as far as two machines can be the same. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const scenarioOf = (content: string): string => /s\d+/.exec(content)?.[0] ?? ''
const asked = (provider: CountingProvider): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const { content } of provider.asked) {
    counts.set(scenarioOf(content), (counts.get(scenarioOf(content)) ?? 0) + 1)
  }
  return counts
}

test(`killed at ${KILLS} moments, runs go on until they are done, and every record and every cent is there`, async () => {
  const random = numbers(20_261_129)
  let kills = 0
  let campaigns = 0
  while (kills < KILLS) {
    campaigns++
    const provider = await countingProvider(async (): Promise<Reply> => {
      await new Promise((resolve) => setTimeout(resolve, 5 + random() * 30))
      return 'answer'
    })
    const root = await project('durable')
    const env = { ...provider.env, FILES: 'judged.eval.ts', SCENARIOS: String(SCENARIOS), CELLS: '3' }
    /** What a later life must not change: records, and how often their cells were asked. */
    const settled = new Map<string, { readonly record: ReturnType<typeof lasting>; readonly asked: number }>()
    for (let over = false; !over; ) {
      const run = startVitest(root, [], env)
      if (kills < KILLS && (await killAtRandom(run, provider, random))) kills++
      const { code, signal, output } = await run.done
      over = signal === null
      if (over) {
        expect(code, output).toBe(0)
        break
      }
      if (!existsSync(join(root, '.evals/latest'))) continue
      const counts = asked(provider)
      for (const record of settledIn(await journalOf(await newestDir(root)))) {
        if (settled.has(record.scenarioId)) continue
        settled.set(record.scenarioId, { record: lasting(record), asked: counts.get(record.scenarioId) ?? 0 })
      }
    }
    const { dir, records } = await inspectRun(root)
    expect(records).toHaveLength(SCENARIOS)
    expect(records.every(({ status }) => status === 'scored')).toBe(true)
    const counts = asked(provider)
    for (const record of byCell(records)) {
      const before = settled.get(record.scenarioId)
      if (before === undefined) continue
      expect(lasting(record)).toEqual(before.record)
      expect(counts.get(record.scenarioId), `${record.scenarioId} was settled and asked again`).toBe(before.asked)
    }
    // A finished run's outputs were bought once: its judges alone may have been asked again.
    expectAccounted(await journalOf(dir), provider)
  }
  expect(campaigns).toBeLessThanOrEqual(KILLS)
}, 3_600_000)

/** Kills a run in its start, while it carries over, or between calls; false when it was over before. */
async function killAtRandom(
  run: ReturnType<typeof startVitest>,
  provider: CountingProvider,
  random: () => number,
): Promise<boolean> {
  let ended = false
  const end = run.done.then(() => {
    ended = true
  })
  const calls = Math.floor(random() * 14)
  const moment = random() * 25
  const late = new Promise((resolve) => setTimeout(resolve, moment * 100))
  await Promise.race([end, calls === 0 ? late : provider.reached(provider.asked.length + calls)])
  await Promise.race([end, new Promise((resolve) => setTimeout(resolve, moment))])
  if (ended) return false
  run.child.kill('SIGKILL')
  return (await run.done).signal === 'SIGKILL'
}
