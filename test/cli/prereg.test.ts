import { execFileSync } from 'node:child_process'
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newestRun, project, runKeptVitest as runVitest } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

const FILE = 'registered.prereg.json'
const LEDGER = '__baselines__/registered.looks.jsonl'
const run = (root: string, env: Record<string, string> = {}, args: readonly string[] = []) =>
  runVitest(root, ['registered.eval.ts', ...args], env)

/** A repository of its own: the one around it must not answer for it. */
function git(root: string, ...args: string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...who, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, GIT_CEILING_DIRECTORIES: root },
  })
}

const looks = async (root: string): Promise<number> =>
  (await readFile(join(root, LEDGER), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').length

async function registered(root: string) {
  const { reports, dir } = await newestRun(root)
  const report = reports.registered
  if (report === undefined) throw new Error('no report')
  return { dir, report }
}

describe('a preregistered release', () => {
  it('is confirmed when the registration came first, and each new measurement is a look', async () => {
    const root = await project('gates')
    git(root, 'init', '-q')
    // A run that executes nothing has a plan.
    await run(root, {}, ['-t', '^$'])
    const written = await runHere(root, ['prereg', 'registered', '--claim', 'better is better by 10 points'])
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toContain(`registered registered: ${FILE}; commit it`)
    expect((await runHere(root, ['prereg', 'registered', '--claim', 'x'])).stderr).toContain('is not written over')
    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'register')

    const first = await run(root)
    expect(first.code, first.output).toBe(0)
    const { report, dir } = await registered(root)
    expect(report).toMatchObject({
      confirmatory: true,
      verdict: { word: 'PASS', outcome: 'ship' },
      prereg: {
        verified: true,
        order: 'before',
        source: FILE,
        deviations: [],
        commit: git(root, 'rev-parse', 'HEAD').trim(),
      },
      looks: { used: 1, allowed: 2, spent: 0.0125, exhausted: false },
    })
    expect(first.output.replace(/\s+/g, ' ')).toContain('look 1 of 2, alpha 0.0125 of 0.025 spent')
    expect(await looks(root)).toBe(1)
    // The journal alone gives it again, though the ledger goes on.
    const bytes = await readFile(join(dir, 'reports/registered.json'), 'utf8')

    await run(root)
    expect((await registered(root)).report.looks.used, 'the same answers are the same look').toBe(1)
    expect(await looks(root)).toBe(1)
    await run(root, { ANSWER: ' again' })
    expect((await registered(root)).report.looks.used).toBe(2)
    const third = await run(root, { ANSWER: ' once more' })
    expect(third.code).toBe(1)
    expect((await registered(root)).report).toMatchObject({
      looks: { used: 3, allowed: 2, exhausted: true },
      verdict: { exitCode: 3 },
    })
    expect(third.output.replace(/\s+/g, ' ')).toContain('holdout worn: look 3 of 2')
    expect(await looks(root)).toBe(3)

    await rm(join(dir, 'reports/registered.json'))
    expect((await runHere(root, ['report', dir])).code).toBe(0)
    expect(await readFile(join(dir, 'reports/registered.json'), 'utf8')).toBe(bytes)
  })

  it('is exploratory when it deviates, was changed after the commit, or came after the data', async () => {
    const root = await project('gates')
    git(root, 'init', '-q')
    await run(root, {}, ['-t', '^$'])
    await runHere(root, ['prereg', 'registered', '--claim', 'better is better'])
    const uncommitted = await run(root)
    expect(uncommitted.code).toBe(1)
    expect((await registered(root)).report).toMatchObject({
      confirmatory: false,
      prereg: { order: 'uncommitted', verified: false },
    })
    expect(uncommitted.output.replace(/\s+/g, ' ')).toContain('its file is not committed as it is')

    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'register')
    // Measured again with the same answers: what was looked at before the commit is no new data.
    await run(root, { MARGIN: '0.05' })
    expect((await registered(root)).report).toMatchObject({
      confirmatory: false,
      looks: { used: 1 },
      candidates: [{ outcome: 'hold', rule: '6' }],
      prereg: { order: 'after', verified: false, deviations: [{ field: 'minGain', planned: 0.1, actual: 0.05 }] },
    })

    const path = join(root, FILE)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"minGain": 0.1', '"minGain": 0.05'))
    await run(root, { MARGIN: '0.05' })
    expect((await registered(root)).report).toMatchObject({
      prereg: { order: 'uncommitted', verified: false, deviations: [] },
    })

    // Committed, but later than the run: a clock from the future stands for recordings from the past.
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-q', '-a', '-m', 'late'], {
      cwd: root,
      env: { ...process.env, GIT_COMMITTER_DATE: '2099-01-01T00:00:00Z' },
    })
    await run(root, { MARGIN: '0.05' })
    expect((await registered(root)).report).toMatchObject({ prereg: { order: 'after', verified: false } })
  })

  it('may stand in the gate, works without git, and is refused where it cannot be read', async () => {
    const root = await project('gates')
    // Ends the search for a repository here: this is one without commits that nobody can read.
    await writeFile(join(root, '.git'), 'gitdir: nowhere\n')
    await run(root, {}, ['-t', '^$'])
    await runHere(root, ['prereg', 'registered', '--claim', 'better is better'])
    await rename(join(root, FILE), join(root, 'hypothesis.json'))
    await run(root, { REGISTERED: 'hypothesis.json' })
    expect((await registered(root)).report.prereg).toMatchObject({
      source: 'registered.eval.ts',
      order: 'unknown',
      verified: false,
      deviations: [],
    })

    await writeFile(join(root, 'other.prereg.json'), '{ "campaign": "registered", "claim": ')
    const broken = await run(root)
    expect(broken.code).toBe(1)
    expect(broken.output).toContain('other.prereg.json is no JSON')
    expect((await newestRun(root)).records).toEqual([])
    await writeFile(join(root, 'other.prereg.json'), await readFile(join(root, 'hypothesis.json'), 'utf8'))
    const twice = await run(root, { REGISTERED: 'hypothesis.json' })
    expect(twice.output).toContain('it is registered twice, in registered.eval.ts and in other.prereg.json: keep one')

    await appendFile(join(root, LEDGER), 'hello\n')
    const ledger = await run(root)
    expect(ledger.code).toBe(1)
    expect(ledger.output).toContain(`${LEDGER}:2: this is no look: it has no checksum`)
    expect((await newestRun(root)).records).toEqual([])
  })
})
