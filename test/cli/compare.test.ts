import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyProject, newestRun, runKeptVitest as runVitest } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

describe('vitest-campaign compare', () => {
  let root = ''
  /** Ids of the runs, by what is special about them. */
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    root = await copyProject('gates')
    const runs: [string, Record<string, string>][] = [
      ['first', {}],
      ['worse', { ANSWER: 'no', CHANGED: 's01', SCENARIOS: '13' }],
      ['scored', { SCORER: 'b' }],
    ]
    for (const [name, env] of runs) {
      await runVitest(root, ['accepted.eval.ts'], env)
      ids[name] = (await newestRun(root)).dir
    }
    await runVitest(root, ['pr.eval.ts'])
    ids.other = (await newestRun(root)).dir
    expect((await runHere(root, ['accept', 'accepted', '--run', ids.first ?? ''])).code).toBe(0)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))
  const compare = (a: string, b: string, ...more: string[]) =>
    runHere(root, ['compare', ids[a] ?? a, ids[b] ?? b, ...more])

  it('says what became worse, and what else differs', async () => {
    const before = await readFile(join(ids.worse ?? '', 'reports/accepted.json'), 'utf8')
    const { code, stdout, stderr } = await compare('first', 'worse')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`FAIL  current is worse than current (run ${basename(ids.first ?? '')})`)
    expect(stdout).toContain('  fingerprint: the definition differs')
    expect(stdout).toContain('  variant current: its contents differ')
    expect(stdout).toContain('  scenarios: 1 changed (s01)')
    expect(stdout).toContain('  scenarios: 1 only in the second (s13)')
    expect(stdout).not.toContain('variant concise:')
    expect(await readFile(join(ids.worse ?? '', 'reports/accepted.json'), 'utf8'), 'nothing is written').toBe(before)
  })

  it('says the same of accepted records, by the word or by their file', async () => {
    const [word, file] = [await compare('accepted', 'worse'), await compare('__baselines__/accepted.jsonl', 'worse')]
    expect(word.stdout).toContain('FAIL  current is worse than current (accepted)')
    expect(word.stdout).toContain('fingerprint: definition or code differ')
    expect(file).toEqual(word)
  })

  it('finds nothing between a run and itself', async () => {
    const { code, stdout } = await compare('first', 'first')
    expect(code).toBe(0)
    expect(stdout).toContain('PASS  ')
    expect(stdout).toMatch(/what differs from .*:\n {2}fingerprint: the same definition and code\n\n$/)
  })

  it.each([
    ['first', 'scored', 'they were scored by different scorers'],
    ['first', 'other', 'has no campaign "pr": it has accepted'],
    ['first', 'accepted', 'accepted records are no run: vitest-campaign compare accepted <run> takes them'],
    ['accepted', 'other', 'campaign pr has no accepted records: pr.jsonl is not there'],
    ['__baselines__/accepted.jsonl', 'other', 'holds records of campaign "accepted", not of "pr"'],
    ['first', 'no-such-run', 'there is no run "no-such-run"'],
    ['first', 'worse --campaign x', 'there is no run'],
  ])('refuses %s and %s', async (a, b, message) => {
    const { code, stdout, stderr } = await compare(a, b)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect((await readdir(join(root, '.evals'))).length).toBeGreaterThan(4)
  })
})
