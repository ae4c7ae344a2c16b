import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import type { RunRecord } from '../../src/core/record/record.ts'
import type { CampaignReport } from '../../src/core/report/report.ts'
import { runKept } from './kept-process.ts'
import { Said } from './said.ts'

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const FIXTURES = join(REPOSITORY, 'test/fixtures')
/** Inside the repository, so that `vitest-campaign` resolves to it. */
const SCRATCH = process.env.VITEST_CAMPAIGN_TEST_SCRATCH ?? join(REPOSITORY, 'test/.scratch')
export const VITEST =
  process.env.VITEST_CAMPAIGN_TEST_VITEST ??
  join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const NODE = process.env.VITEST_CAMPAIGN_TEST_NODE ?? process.execPath

export interface VitestResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** stdout and stderr as they came, without ANSI codes. */
  readonly output: string
}

/** A copy of a fixture project, removed when the test is over. */
export async function project(fixture: string): Promise<string> {
  const root = await copyProject(fixture)
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

/** A copy of a fixture project for several tests; whoever makes it removes it. */
export async function copyProject(fixture: string): Promise<string> {
  await mkdir(SCRATCH, { recursive: true })
  const root = await mkdtemp(join(SCRATCH, `${fixture}-`))
  // Without the runs that somebody started in the fixture itself.
  const filter = (source: string): boolean => basename(source) !== '.evals'
  await cp(join(FIXTURES, fixture), root, { recursive: true, filter })
  return root
}

export interface VitestRun {
  readonly child: ChildProcess
  /** What was printed so far. */
  readonly printed: () => string
  readonly done: Promise<VitestResult>
}

/**
 * Starts Vitest on a project as a user would. `CI` is unset unless given: tests must not depend on where they run.
 *
 * @param before a command of the shell that starts it, for instance `ulimit -f 100`
 */
export function startVitest(
  root: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  command: 'run' | 'list' | 'watch' = 'run',
  before: string | null = null,
): VitestRun {
  const words = [NODE, VITEST, command, '--root', root, ...args]
  // exec: the child that is signalled is Vitest itself.
  return start(before === null ? words : ['sh', '-c', `${before} && exec "$@"`, 'sh', ...words], env)
}

/** Whether this machine has `script` of util-linux, which gives a child a terminal of its own. */
export const hasTerminals = process.platform === 'linux' && existsSync('/usr/bin/script')

/** As a user at a terminal: what is written to its input is typed, Ctrl-C included. */
export function startInTerminal(root: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): VitestRun {
  const quoted = [NODE, VITEST, 'run', '--root', root, ...args].map((word) => `'${word}'`).join(' ')
  return start(['/usr/bin/script', '-qefc', `exec ${quoted}`, '/dev/null'], { TERM: 'xterm', ...env }, 'pipe')
}

function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { CI: _ci, GITHUB_ACTIONS: _gha, VITEST: _vitest, NODE_OPTIONS: _options, ...inherited } = process.env
  for (const name of Object.keys(inherited)) if (/^(VITEST_|EVALS_|TINYPOOL)/.test(name)) delete inherited[name]
  return { ...inherited, NO_COLOR: '1', ...env }
}

function start(words: readonly string[], env: NodeJS.ProcessEnv, stdin: 'ignore' | 'pipe' = 'ignore'): VitestRun {
  const [program = '', ...rest] = words
  const child = spawn(program, rest, { env: environment(env), stdio: [stdin, 'pipe', 'pipe'] })
  const said = new Said()
  said.listen([child.stdout, child.stderr])
  const printed = (): string => stripVTControlCharacters(said.text)
  const done = new Promise<VitestResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, output: printed() }))
  })
  return { child, printed, done }
}

export function runVitest(
  root: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<VitestResult> {
  return startVitest(root, args, env).done
}

/**
 * The same in a process that may have run others of this test file before. For files with many runs that look at what
 * a run does, and not at how its process starts and ends. `VITEST_CAMPAIGN_TEST_FRESH=1` gives each its own again.
 */
export async function runKeptVitest(
  root: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<VitestResult> {
  if (process.env.VITEST_CAMPAIGN_TEST_FRESH === '1') return runVitest(root, args, env)
  const { output, ...ended } = await runKept(NODE, VITEST, ['--root', root, ...args], environment(env))
  return { ...ended, output: stripVTControlCharacters(output) }
}

/** Resolves when it is so; fails when the run ends before, however long that takes on a busy machine. */
export async function until(run: VitestRun, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  let over = false
  const end = run.done.then(() => {
    over = true
  })
  while (!(await holds())) {
    if (over) throw new Error(`the run ended before ${what}:\n${run.printed()}`)
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 20))])
  }
}

/** Resolves when the run has printed the text; fails when it ends without. */
export function printed(run: VitestRun, text: string): Promise<void> {
  return until(run, `it printed ${text}`, () => run.printed().includes(text))
}

/** Files of the newest run of a project. */
export async function newestRun(root: string): Promise<{
  readonly dir: string
  readonly records: readonly RunRecord[]
  readonly reports: { readonly [campaignId: string]: CampaignReport }
  readonly journal: readonly string[]
}> {
  const runId = (await readFile(join(root, '.evals/latest'), 'utf8')).trim()
  const dir = join(root, '.evals', runId)
  const reports: Record<string, CampaignReport> = {}
  for (const name of await readdir(join(dir, 'reports'))) {
    if (!name.endsWith('.json')) continue
    const report = JSON.parse(await readFile(join(dir, 'reports', name), 'utf8')) as CampaignReport
    reports[report.campaignId] = report
  }
  return {
    dir,
    records: (await lines(join(dir, 'records.jsonl'))).map((line) => JSON.parse(line) as RunRecord),
    reports,
    journal: await lines(join(dir, 'journal.jsonl')),
  }
}

async function lines(path: string): Promise<readonly string[]> {
  return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
}
