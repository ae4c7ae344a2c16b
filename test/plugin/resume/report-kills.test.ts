import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectRun } from '../../harness/inspect.ts'
import { project, startVitest, type VitestRun } from '../../harness/run-vitest.ts'
import { byCell, expectAccounted, journalOf, lasting, newestDir, settledIn } from './accounting.ts'
import { countingProvider } from './provider.ts'

/** Kills in all; `VITEST_CAMPAIGN_TEST_KILLS=10` for ten in each mode. */
const KILLS = Number(process.env.VITEST_CAMPAIGN_TEST_KILLS ?? 1)
const SCENARIOS = 6

/** How often the journal of the newest run says so; 0 where there is none. */
function lines(root: string, kind: string): number {
  try {
    const run = readFileSync(join(root, '.evals/latest'), 'utf8').trim()
    return readFileSync(join(root, '.evals', run, 'journal.jsonl'), 'utf8').split(`"kind":"${kind}"`).length - 1
  } catch {
    return 0
  }
}

/** Kills when the last cell has settled and so many milliseconds have passed; false when the run was over before. */
async function killInReport(root: string, before: string, run: VitestRun, ms: number): Promise<boolean> {
  let ended = false
  const end = run.done.then(() => {
    ended = true
  })
  const isOwn = (): boolean => existsSync(join(root, '.evals/latest')) && latest(root) !== before
  while (!ended && !(isOwn() && lines(root, 'settled') >= SCENARIOS)) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.race([end, new Promise((resolve) => setTimeout(resolve, ms))])
  if (ended) return false
  run.child.kill('SIGKILL')
  return (await run.done).signal === 'SIGKILL'
}

function latest(root: string): string {
  try {
    return readFileSync(join(root, '.evals/latest'), 'utf8').trim()
  } catch {
    return ''
  }
}

test.each([
  ['live', { EVALS_MODE: 'live' }, []],
  ['auto', { EVALS_MODE: '' }, []],
  ['-u', { EVALS_MODE: '' }, ['-u']],
] as const)(
  'killed in its report phase, a run of mode %s is carried over whole and nothing is bought again',
  async (_, mode, args) => {
    let kills = 0
    let moments = ''
    while (kills < KILLS) {
      const provider = await countingProvider()
      const root = await project('durable')
      const options = mode.EVALS_MODE === '' ? { mode: 'auto' } : {}
      const env = {
        ...provider.env,
        ...mode,
        FILES: 'judged.eval.ts',
        SCENARIOS: String(SCENARIOS),
        OPTIONS: JSON.stringify(options),
      }
      const words = ['--project', 'evals', ...args]
      let first: ReturnType<typeof lasting>[] | null = null
      let bought = 0
      for (let over = false; !over; ) {
        const before = latest(root)
        const run = startVitest(root, words, env)
        const killed = kills < KILLS && (await killInReport(root, before, run, 5 + (kills % 10) * 12))
        const { code, signal, output } = await run.done
        const entries = await journalOf(await newestDir(root))
        const isEnded = entries.some(({ kind }) => kind === 'end')
        if (killed && !isEnded) {
          kills++
          moments += ` ${entries.at(-1)?.kind}`
        }
        over = signal === null || isEnded
        if (over && signal === null) expect(code, output).toBe(0)
        const records = byCell(settledIn(entries)).map(lasting)
        expect(records).toHaveLength(SCENARIOS)
        if (first === null) {
          first = records
          bought = provider.asked.length
          expect(bought).toBe(SCENARIOS * 3)
        } else if (signal === null || entries.some(({ kind }) => kind === 'resumed')) {
          expect(records).toEqual(first)
          expect(provider.asked.length, output).toBe(bought)
        }
      }
      expectAccounted(await journalOf(await newestDir(root)), provider)
      if (mode.EVALS_MODE === '') {
        // What was bought is recorded, whichever run the kills left it to.
        const { code, output } = await startVitest(root, ['--project', 'evals'], { ...env, CI: '1' }).done
        expect(code, output).toBe(0)
        const { records } = await inspectRun(root)
        expect(records.map(({ provenance, status }) => `${provenance} ${status}`)).toEqual(
          Array(SCENARIOS).fill('replayed scored'),
        )
        expect(provider.asked.length).toBe(bought)
      }
    }
    if (process.env.VITEST_CAMPAIGN_TEST_KILLS !== undefined) console.log(moments)
  },
  1_200_000,
)
