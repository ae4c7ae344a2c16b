import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newestRun, REPOSITORY, runVitest } from '../harness/run-vitest.ts'

/** A copy beside the original, so that the run folders of the user are left alone. */
async function example(name: string): Promise<string> {
  const scratch = join(REPOSITORY, 'test/.scratch')
  await mkdir(scratch, { recursive: true })
  const root = await mkdtemp(join(scratch, `example-${name}-`))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await cp(join(REPOSITORY, 'examples', name), root, {
    recursive: true,
    filter: (path) => !path.split(/[\\/]/).includes('.evals'),
  })
  return root
}

describe('triage', () => {
  test('replays its recordings: one variant ships, one is undecided, the run is green', async () => {
    const root = await example('triage')
    const { code, output } = await runVitest(root, ['--project', 'evals'])
    expect(code, output).toBe(0)

    const { reports, records } = await newestRun(root)
    expect(records).toHaveLength(24 * 3 * 3)
    expect(new Set(records.map(({ status }) => status))).toEqual(new Set(['scored']))
    expect(new Set(records.map(({ provenance }) => provenance))).toEqual(new Set(['replayed']))
    expect(records.filter(({ integrity }) => integrity.issues.length > 0)).toEqual([])
    // Read off the recorded wire: nothing in the example says what a token costs.
    expect(records.every(({ cost, tokens }) => (cost.usd ?? 0) > 0 && tokens.known)).toBe(true)

    const triage = reports.triage
    expect(triage?.verdict.red).toBe(false)
    const outcomes = triage?.candidates.map(({ id, outcome }) => [id, outcome])
    expect(Object.fromEntries(outcomes ?? [])).toEqual({ concise: 'ship', haiku: 'underpowered' })
  })

  test('buys nothing: a prompt without a recording is a miss, also where new cells would be recorded', async () => {
    const root = await example('triage')
    await rm(join(root, '__recordings__/triage/haiku/vat-id'), { recursive: true })
    const { code, output } = await runVitest(root, ['--project', 'evals', '-t', 'vat-id'])
    expect(code).toBe(1)
    expect(output).toContain('replay_miss')
  })
})

test('red-gate: a shown regression makes the run red', async () => {
  const root = await example('red-gate')
  const { code, output } = await runVitest(root, ['--project', 'evals'])
  expect(code, output).toBe(1)
  const { verdict, candidates } = (await newestRun(root)).reports['red-gate'] ?? {}
  expect(verdict, output).toMatchObject({ word: 'FAIL', red: true, outcome: 'regress' })
  expect(candidates?.map(({ id, outcome }) => [id, outcome])).toEqual([['broken', 'regress']])
})
