import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { TestModule, TestRunEndReason, Vitest } from 'vitest/node'
import type { RunSource } from '../../src/core/report/run-source.ts'
import CampaignReporter from '../../src/reporter/index.ts'
import { unicodeTerminal, wantsColor } from '../../src/reporter/terminal/abilities.ts'
import { planOf, recordsOf } from '../core/report/records.ts'
import { finishedRun, sourceOf } from './fixture/sources.ts'
import { HOLD } from './reports.ts'

const root = fileURLToPath(new URL('./fixture', import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const dirs: string[] = []

interface Ended {
  readonly code: number
  readonly out: string
  readonly dir: string
  readonly calls: string[]
}

/** Vitest itself on the fixture project, with the reporter in its configuration. */
function vitestRun(fixture: string): Promise<Ended> {
  const dir = mkdtempSync(join(tmpdir(), 'reporter-'))
  dirs.push(dir)
  const { VITEST: _, VITEST_MODE: __, ...clean } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, 'run', '--root', root],
      { env: { ...clean, NO_COLOR: '1', FIXTURE: fixture, FIXTURE_DIR: dir }, timeout: 600_000 },
      (error, stdout, stderr) => {
        const calls = readdirSync(dir).includes('calls.txt')
          ? readFileSync(join(dir, 'calls.txt'), 'utf8').trim().split('\n')
          : []
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr, dir, calls })
      },
    )
  })
}

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

describe('the reporter in a Vitest run', () => {
  test.concurrent('prints the report after the summary, writes it as Markdown, and stays green', async () => {
    const { code, out, dir, calls } = await vitestRun('green')
    expect(out).toContain('PASS  no loss of concise against current')
    expect(out.indexOf('PASS  no loss')).toBeGreaterThan(out.indexOf('Test Files'))
    expect(out).toContain('note: no eval file matched')
    expect(out).not.toContain('\u001b')
    expect(code).toBe(0)
    expect(calls).toEqual(['finish passed cells.fixture.ts||0', 'closed'])
    expect(readFileSync(join(dir, 'triage.md'), 'utf8')).toMatch(/^### PASS: /)
    expect(statSync(join(dir, 'triage.md')).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir).filter((file) => file.endsWith('.tmp'))).toEqual([])
  })

  test.concurrent('a red verdict ends in exit code 1 although every test passed', async () => {
    const { code, out } = await vitestRun('red')
    expect(out).toMatch(/Tests\s+1 passed/)
    expect(out).toContain('FAIL  (replayed, recorded 2026-11-02 to 2026-11-05)')
    expect(code).toBe(1)
  })

  test.concurrent('a run that cannot be finished is red and says why, harmlessly', async () => {
    const { code, out, calls } = await vitestRun('died')
    expect(out).toContain('FAIL  the run could not be reported: Error: the journal is gone')
    expect(out).not.toContain('\u001b[2J')
    expect(out).not.toMatch(/^\s*::error/m)
    expect(code).toBe(1)
    expect(calls.at(-1)).toBe('closed')
  })
})

/** The reporter without Vitest around it; standard output and standard error as text. */
async function reported(options: {
  source?: RunSource
  others?: string[]
  modules?: TestModule[]
  reason?: TestRunEndReason
}) {
  let out = ''
  let err = ''
  const stream = (write: (text: string) => void): Writable =>
    new Writable({
      write(chunk, _, done) {
        write(String(chunk))
        done()
      },
    })
  const vitest = {
    config: { reporters: (options.others ?? ['default']).map((name) => [name, {}]) },
    logger: {
      outputStream: stream((text) => {
        out += text
      }),
      errorStream: stream((text) => {
        err += text
      }),
    },
  } as unknown as Vitest
  const reporter = new CampaignReporter(options.source === undefined ? {} : { source: options.source })
  const before = process.exitCode
  process.exitCode = undefined
  try {
    reporter.onInit(vitest)
    reporter.onTestRunStart()
    await reporter.onTestRunEnd(options.modules ?? [], [], options.reason ?? 'passed')
    return { out, err, code: process.exitCode }
  } finally {
    process.exitCode = before
  }
}

/** A module as Vitest hands it over, as far as the reporter reads it. */
function moduleOf(...metas: object[]): TestModule {
  return {
    moduleId: '/project/evals/a.eval.ts',
    project: { name: 'evals', config: { root: '/project' } },
    errors: () => [{ message: 'did not load' }],
    children: { allTests: () => metas.map((meta) => ({ meta: () => meta })) },
  } as unknown as TestModule
}

describe('the reporter', () => {
  const plan = planOf({ scenarios: 2, variants: ['current'] })
  const records = recordsOf(plan, (_, { scenario }) => (scenario === 0 ? 0.5 : { status: 'infra_error' }))

  test('names modules by their path in the project, with what kept them from loading', async () => {
    const calls: string[] = []
    const source = sourceOf(
      async () => ({ runs: [], red: true, notes: [] }),
      (line) => calls.push(line),
    )
    const { code } = await reported({ source, modules: [moduleOf()], reason: 'interrupted' })
    expect(calls).toEqual(['finish interrupted evals/a.eval.ts|evals|1', 'closed'])
    expect(code).toBe(1)
  })

  test('a report that cannot be written is said, and the verdict stands', async () => {
    const missing = join(tmpdir(), 'reporter-that-is-not-there')
    const { out, code } = await reported({ source: sourceOf(async () => finishedRun(HOLD, missing)) })
    expect(out).toContain('PASS  no loss')
    expect(out).toMatch(/the Markdown report was not written: .*ENOENT/)
    expect(out).not.toContain('\nreport: ')
    expect(code).toBeUndefined()
  })

  test.each(['json', 'junit', 'tap', 'tap-flat'])('keeps out of standard output under %s', async (name) => {
    const { out, err } = await reported({
      source: sourceOf(async () => ({ runs: [], red: false, notes: ['a note'] })),
      others: ['default', name],
    })
    expect(out).toBe('')
    expect(err).toContain('note: a note')
  })

  test('without a run it lists the cells and decides nothing', async () => {
    const { out, code } = await reported({
      modules: [moduleOf(...records.map((record) => ({ campaign: { record } })), {})],
    })
    expect(out).toContain('NO VERDICT  triage: its cells as recorded')
    expect(out).toMatch(/current\s+2\s+0\.500\s+\$0\.000800\s+1 scored, 1 infra_error/)
    expect(out).toContain('note: no verdict is computed here')
    expect(code).toBeUndefined()
  })

  test.each([[{ record: { schema: 'other' } }], [{}], [null]])(
    'a record it cannot read is red: %j',
    async (campaign) => {
      const { out, code } = await reported({ modules: [moduleOf({ campaign })] })
      expect(out).toContain('1 record could not be read')
      expect(code).toBe(1)
    },
  )

  test('says nothing in a project without campaigns', async () => {
    expect(await reported({ modules: [moduleOf({})] })).toEqual({ out: '', err: '', code: undefined })
  })
})

describe('what a terminal can do', () => {
  const colors = { isTTY: true, hasColors: () => true }

  test.each<[object, object, boolean]>([
    [colors, {}, true],
    [colors, { NO_COLOR: '' }, true],
    [colors, { NO_COLOR: '0' }, false],
    [{ ...colors, isTTY: false }, {}, false],
    [{ isTTY: true }, {}, false],
    [{ isTTY: true, hasColors: () => false }, {}, false],
  ])('colour: %j %j', (stream, env, wanted) => {
    expect(wantsColor(stream, { ...env })).toBe(wanted)
  })

  test.each<[NodeJS.Platform, { [name: string]: string }, boolean]>([
    ['linux', {}, true],
    ['linux', { LANG: 'C' }, false],
    ['linux', { LANG: 'C', CI: 'true' }, true],
    ['linux', { LANG: 'de_DE.ISO-8859-1' }, false],
    ['linux', { LANG: 'C', LC_ALL: 'en_US.UTF-8' }, true],
    ['linux', { TERM: 'dumb', LANG: 'en_US.UTF-8' }, false],
    ['win32', {}, false],
    ['win32', { WT_SESSION: 'x' }, true],
  ])('Unicode: %s %j', (platform, env, able) => {
    expect(unicodeTerminal(platform, env)).toBe(able)
  })
})
