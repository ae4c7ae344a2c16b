import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { reapOrphans } from '../../../src/plugin/pool/orphans.ts'
import { claimFolder } from '../../../src/plugin/pool/owner.ts'
import {
  type ProcessIdentity,
  ps,
  psToken,
  systemProcesses,
  thisMachine,
  thisProcess,
} from '../../../src/plugin/process-identity.ts'
import { noteRunning, type RunningCommand } from '../../../src/plugin/worker/command/running.ts'
import { inspectRun } from '../../harness/inspect.ts'
import { project, startVitest } from '../../harness/run-vitest.ts'
import { newestDir } from '../resume/accounting.ts'
import { countingProvider } from '../resume/provider.ts'

// No process has a number as large.
const DEAD: ProcessIdentity = { ...thisProcess(), pid: 2 ** 30 }
const STUBBORN = "process.on('SIGTERM', () => {});setInterval(() => {}, 1000);"
const NOTE = { schema: 'vitest-campaign/running@1', cellId: 'c0ffee', program: 'npm', ...thisMachine() } as const

const isAlive = (pid: number | undefined): boolean => {
  const token = systemProcesses.startToken(pid ?? 0)
  return token !== null && token !== 'over'
}

/** A run folder of a process that is dead, or of this one. */
async function runFolder(owner: ProcessIdentity = DEAD): Promise<{ root: string; dir: string; running: string }> {
  const root = await mkdtemp(join(tmpdir(), 'vitest-campaign-orphans-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const dir = join(root, '.evals/20260102T030405Z-abcdef')
  const running = join(dir, 'running')
  await mkdir(running, { recursive: true })
  await claimFolder({ dir, here: owner, now: () => new Date() })
  return { root, dir, running }
}

/** A process that leads a group, ready, with a child that is stubborn too; both are gone after the test. */
async function group(script = STUBBORN): Promise<{ leader: ChildProcess; child: number }> {
  const fork = `const c=require('child_process').spawn(process.execPath,['-e',${JSON.stringify(`${STUBBORN}console.log('ready')`)}],{stdio:['ignore','pipe','ignore']});c.stdout.once('data',()=>console.log(c.pid));`
  const leader = spawn(process.execPath, ['-e', script + fork], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => {
    try {
      process.kill(-(leader.pid ?? 0), 'SIGKILL')
    } catch {
      // It is gone.
    }
  })
  const [ready] = (await once(leader.stdout, 'data')) as [Buffer]
  return { leader, child: Number(ready.toString()) }
}

const write = (running: string, name: string, note: Partial<RunningCommand>): Promise<void> =>
  writeFile(join(running, name), JSON.stringify({ ...NOTE, pid: null, startToken: null, ...note }))

describe.skipIf(process.platform === 'win32')('scenario 53: a command that a killed run left running', () => {
  test('ends with its group before the next run starts, though it ignores TERM', async () => {
    const { root, dir, running } = await runFolder()
    const { leader, child } = await group()
    noteRunning(dir, 'c0ffee', 'npm').started(leader.pid ?? 0)
    await mkdir(join(dir, 'scratch/command-x'), { recursive: true })
    expect(await reapOrphans(root)).toEqual([
      `ended "npm", a command that run 20260102T030405Z-abcdef left running for cell c0ffee (process ${leader.pid})`,
    ])
    expect([leader.pid, child].map(isAlive)).toEqual([false, false])
    expect(await readdir(running)).toEqual([])
    expect(existsSync(join(dir, 'scratch'))).toBe(false)
    // Once and for all.
    expect(await reapOrphans(root)).toEqual([])
  })

  test('ends with what its leader, which heeds TERM, leaves in the group', async () => {
    const { root, dir } = await runFolder()
    const { leader, child } = await group('setInterval(() => {}, 1000);')
    noteRunning(dir, 'c0ffee', 'npm').started(leader.pid ?? 0)
    expect(await reapOrphans(root)).toHaveLength(1)
    expect([leader.pid, child].map(isAlive)).toEqual([false, false])
  })

  test('is not looked for in a run that goes on', async () => {
    const { root, dir, running } = await runFolder(thisProcess())
    const { leader } = await group()
    noteRunning(dir, 'c0ffee', 'npm').started(leader.pid ?? 0)
    expect(await reapOrphans(root)).toEqual([])
    expect(isAlive(leader.pid)).toBe(true)
    expect(await readdir(running)).toHaveLength(1)
  })

  test('is never taken for the process that has its number now, nor for one that nothing tells from it', async () => {
    const { root, running } = await runFolder()
    const { leader } = await group()
    const pid = leader.pid ?? 0
    await write(running, 'reused.json', { pid, startToken: '1' })
    await write(running, 'unsupported.json', { pid, startToken: null })
    await write(running, 'over.json', { pid: 2 ** 30, startToken: '1' })
    await write(running, 'about-to-start.json', {})
    const said = await reapOrphans(root)
    expect(isAlive(pid)).toBe(true)
    expect(said.map((text) => text.replace(/^.*, may/, 'may')).sort()).toEqual([
      `may still run as process ${pid}: this system does not say whether that is still the same process`,
      'may still run: it was about to start when its run was killed',
    ])
    expect(await readdir(running)).toEqual([])
  })

  test('is left to its own machine, and is gone where that was started again', async () => {
    const { root, running } = await runFolder()
    const { leader } = await group()
    const of = { pid: leader.pid ?? 0, startToken: thisProcess().startToken }
    await write(running, 'elsewhere.json', { ...of, host: 'another', bootId: 'another' })
    await write(running, 'before.json', { ...of, bootId: NOTE.bootId === null ? null : 'the boot before' })
    await writeFile(join(running, 'damaged.json'), '{"pid":')
    await writeFile(join(running, 'torn.json.tmp'), '')
    await writeFile(join(root, 'note'), JSON.stringify({ ...NOTE, ...of }))
    await symlink(join(root, 'note'), join(running, 'link.json'))
    expect(await reapOrphans(root)).toEqual([])
    expect(isAlive(leader.pid)).toBe(true)
    expect((await readdir(running)).sort()).toEqual(['damaged.json', 'elsewhere.json', 'link.json', 'torn.json.tmp'])
  })
})

test.skipIf(process.platform === 'win32')('what ps says tells two processes of one number apart', () => {
  const token = psToken(ps(process.pid))
  expect(token).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
  expect(psToken(ps(process.pid))).toBe(token)
  expect(psToken('Z+   Mon Nov 30 03:42:01 2026\n')).toBe('over')
  expect(psToken('')).toBeNull()
  expect(psToken(null)).toBeNull()
})

test('scenario 53: of a killed Vitest the next run ends the commands, and scores by its own', async () => {
  const provider = await countingProvider()
  const root = await project('durable')
  const marks = join(root, 'marks')
  const env = { ...provider.env, FILES: 'lasting.eval.ts', MARKS: marks }
  const run = startVitest(root, [], env)
  const started = async () => (await readFile(marks, 'utf8').catch(() => '')).trim().split('\n').filter(Boolean)
  await vi.waitUntil(async () => (await started()).length === 2, { timeout: 300_000, interval: 100 })
  const dir = await newestDir(root)
  expect((await readdir(join(dir, 'running'))).filter((name) => name.endsWith('.json'))).toHaveLength(2)
  run.child.kill('SIGKILL')
  await run.done
  const pids = (await started()).map(Number)
  expect(pids.map(isAlive)).toEqual([true, true])
  const next = startVitest(root, [], { ...env, ENDS: '1' })
  const { code, output } = await next.done
  expect(code, output).toBe(0)
  expect(pids.map(isAlive)).toEqual([false, false])
  for (const pid of pids) expect(output.replace(/\s+/g, ' ')).toContain(`(process ${pid})`)
  expect(await readdir(join(dir, 'running'))).toEqual([])
  expect(existsSync(join(dir, 'scratch'))).toBe(false)
  const { dir: now, records } = await inspectRun(root)
  expect(records.map(({ status, scores }) => [status, scores.built?.pass])).toEqual([
    ['scored', true],
    ['scored', true],
  ])
  expect(await readdir(join(now, 'running'))).toEqual([])
  // The outputs were journalled: scored again, not bought again.
  expect(provider.asked).toHaveLength(2)
})
