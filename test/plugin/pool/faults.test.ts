import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readJournal } from '../../../src/core/journal/read.ts'
import { expectCleanOutput } from '../../harness/inspect.ts'
import { newestRun, project, runVitest, startVitest, type VitestRun } from '../../harness/run-vitest.ts'
import { type Answer, type Provider, startProvider } from '../modes/provider.ts'

const live = ({ env }: Provider): NodeJS.ProcessEnv => ({ ...env, EVALS_MODE: 'live' })

const runsOf = async (root: string): Promise<string[]> =>
  (await readdir(join(root, '.evals'), { withFileTypes: true })).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )

/** Answers only when it is told to, so that a run stands still meanwhile. */
function gate(): { readonly answer: Answer; open(): void; readonly asked: Promise<void> } {
  const waiting: (() => void)[] = []
  let opened = false
  let onAsked = (): void => {}
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve
  })
  return {
    asked,
    answer: (call, response) => {
      onAsked()
      const go = () => {
        const { model } = JSON.parse(call.body) as { model: string }
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            model,
            choices: [{ index: 0, message: { role: 'assistant', content: 'answer' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
          }),
        )
      }
      if (opened) go()
      else waiting.push(go)
      return true
    },
    open() {
      opened = true
      for (const go of waiting) go()
    },
  }
}

/** Resolves when the provider was asked; fails when the run ends before. */
const underWay = (run: VitestRun, asked: Promise<void>): Promise<void> =>
  Promise.race([
    asked,
    run.done.then(({ output }) => {
      throw new Error(`the run ended before it asked anything:\n${output}`)
    }),
  ])

test('two runs at once have two folders and two whole journals', async () => {
  const held = gate()
  const provider = await startProvider(held.answer)
  const root = await project('durable')
  const runs = [startVitest(root, [], live(provider)), startVitest(root, [], live(provider))]
  await Promise.all(runs.map((run) => underWay(run, held.asked)))
  held.open()
  for (const run of runs) {
    const { code, output } = await run.done
    expect(code, output).toBe(0)
    expectCleanOutput(output)
  }
  const ids = await runsOf(root)
  expect(ids).toHaveLength(2)
  for (const id of ids) {
    const path = join(root, '.evals', id, 'journal.jsonl')
    const { entries, repaired } = readJournal(await readFile(path), path)
    expect(repaired).toBeNull()
    expect(entries.filter(({ kind }) => kind === 'settled')).toHaveLength(20)
    expect(entries.at(-1)).toEqual({ kind: 'end', reason: 'finished' })
    expect(entries[0]).toMatchObject({ kind: 'run', runId: id })
  }
  // Both were fresh: a run that goes on is nobody's to continue.
  expect(provider.calls).toHaveLength(40)
})

test('a folder deleted under a run stops it, red, with the reason', async () => {
  const held = gate()
  const provider = await startProvider(held.answer)
  const root = await project('durable')
  const run = startVitest(root, [], live(provider))
  await underWay(run, held.asked)
  const [id = ''] = await runsOf(root)
  await rm(join(root, '.evals', id), { recursive: true })
  held.open()
  const { code, output } = await run.done
  expect(code, output).toBe(1)
  expect(output.replace(/\s+/g, ' ')).toContain(
    `${join(root, '.evals', id)} is gone: it was deleted while the run went on. Nothing after this is recorded. It has no record`,
  )
  // Nothing more was bought than what was in flight.
  expect(provider.calls.length).toBeLessThanOrEqual(8)
  expect(await runsOf(root)).toEqual([])
})

test('where no folder can be made nothing is started', async () => {
  const provider = await startProvider()
  const root = await project('durable')
  await writeFile(join(root, '.evals'), 'in the way')
  const { code, output } = await runVitest(root, [], live(provider))
  expect(code, output).toBe(1)
  expect(output).toContain(`no run folder could be made in ${join(root, '.evals')}: E`)
  expect(output).toContain('Nothing was started; free the disk or its rights')
  expect(provider.calls).toEqual([])
})

/** A user who may write everywhere sees a mount that nobody may write to, anybody else a folder that is not theirs. */
const isRoot = process.getuid?.() === 0
const canMount =
  isRoot && spawnSync('sh', ['-c', "unshare -m sh -c 'mount --bind . . && mount -o remount,bind,ro .'"]).status === 0

test.skipIf(process.platform === 'win32' || (isRoot && !canMount))(
  'where the project may only be read nothing is started',
  async () => {
    const provider = await startProvider()
    const root = await project('durable')
    const mounted = `exec unshare -m sh -c 'mount --bind ${root} ${root} && mount -o remount,bind,ro ${root} && exec "$@"' sh "$@"`
    if (!isRoot) await chmod(root, 0o555)
    onTestFinished(() => chmod(root, 0o755))
    const { code, output } = await startVitest(root, [], live(provider), 'run', isRoot ? mounted : null).done
    expect(code, output).toBe(1)
    expect(output).toMatch(/no run folder could be made in \S+\.evals: E(ROFS|ACCES)/)
    expect(output).toContain('Nothing was started; free the disk or its rights')
    expect(provider.calls).toEqual([])
    expect(existsSync(join(root, '.evals'))).toBe(false)
  },
)

test.each(['record', 'auto'])('where no recording could be kept nothing is bought for one: %s', async (mode) => {
  const provider = await startProvider()
  const root = await project('durable')
  await writeFile(join(root, '__recordings__'), 'in the way')
  const { code, output } = await runVitest(root, [], { ...live(provider), EVALS_MODE: mode })
  expect(code, output).toBe(1)
  expect(output).toContain(`${join(root, '__recordings__')} is no folder, and one belongs there. Move it away.`)
  expect(output).toContain('Nothing of it was started')
  expect(provider.calls).toEqual([])
})

test('on a slow disk nothing is sent or acknowledged before it is durable, and nothing runs out of time', async () => {
  const root = await project('durable')
  const synced = join(root, 'synced')
  let path: string | null = null
  /** What was durable, of the newest run, when this was asked. */
  const durable = (): ReturnType<typeof readJournal>['entries'] => {
    path ??= join(root, '.evals', readFileSync(join(root, '.evals/latest'), 'utf8').trim(), 'journal.jsonl')
    return readJournal(readFileSync(path).subarray(0, Number(readFileSync(synced, 'utf8'))), path).entries
  }
  const early: string[] = []
  let calls = 0
  const provider = await startProvider(() => {
    calls++
    // One call a cell.
    const admitted = durable().filter(({ kind }) => kind === 'admitted').length
    if (admitted < calls) early.push(`call ${calls} with ${admitted} admitted`)
    return false
  })
  const preload = new URL('slow-disk.mjs', import.meta.url)
  const { code, output } = await runVitest(root, ['--reporter=verbose'], {
    ...live(provider),
    ...{ SCENARIOS: '4', CELLS: '8', SYNCED: synced, NODE_OPTIONS: `--import=${preload}` },
  })
  expect(code, output).toBe(0)
  expectCleanOutput(output)
  expect(early).toEqual([])
  expect(calls).toBe(8)
  const entries = durable()
  expect(entries.at(-1)).toEqual({ kind: 'end', reason: 'finished' })
  expect(entries.filter((entry) => entry.kind === 'settled' && entry.record.status === 'scored')).toHaveLength(8)
})

test.skipIf(process.platform === 'win32')('a full disk stops the run; what was acknowledged is there', async () => {
  const provider = await startProvider()
  const root = await project('durable')
  // Files may have so many bytes and no more, as if the disk were full: the journal is the largest of them.
  const run = startVitest(root, [], { ...live(provider), SCENARIOS: '60' }, 'run', 'ulimit -f 200')
  const { code, output } = await run.done
  expect(code, output).toBe(1)
  expect(output.replace(/\s+/g, ' ')).toMatch(
    /the run was stopped, because it could not be recorded: cannot write the journal .*EFBIG.*What was acknowledged before is safe/,
  )
  const [id = ''] = await runsOf(root)
  const path = join(root, '.evals', id, 'journal.jsonl')
  const { entries } = readJournal(await readFile(path), path)
  const settled = entries.filter(({ kind }) => kind === 'settled')
  expect(settled.length).toBeGreaterThan(10)
  expect(settled.length).toBeLessThan(120)
  // Cells that were in flight when it was full, and no others.
  expect(provider.calls.length - settled.length).toBeLessThanOrEqual(8 + 8)
  expect(readdirSync(join(root, '.evals', id)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  const next = await runVitest(root, [], { ...live(provider), SCENARIOS: '60' })
  expect(next.code, next.output).toBe(0)
  expect((await newestRun(root)).records).toHaveLength(120)
})
