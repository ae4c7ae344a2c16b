import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { expectCleanOutput, inspectRun } from '../../harness/inspect.ts'
import { project, runKeptVitest as runVitest, startVitest, until, type VitestRun } from '../../harness/run-vitest.ts'
import { byCell, expectAccounted, journalOf, lasting, newestDir, settledIn, spendsIn } from './accounting.ts'
import { type CountingProvider, countingProvider } from './provider.ts'

/** Runs a project until the provider was asked so often, and kills the run. */
async function killed(root: string, provider: CountingProvider, calls: number, env: NodeJS.ProcessEnv = {}) {
  const run = startVitest(root, [], { ...provider.env, ...env })
  await Promise.race([
    provider.reached(provider.asked.length + calls),
    run.done.then(({ output }) => {
      throw new Error(`the run ended before it was killed:\n${output}`)
    }),
  ])
  run.child.kill('SIGKILL')
  expect((await run.done).signal).toBe('SIGKILL')
  const dir = await newestDir(root)
  return { dir, settled: settledIn(await journalOf(dir)) }
}

const flat = (output: string): string => output.replace(/\s+/g, ' ')

test('a killed run goes on: what it settled is carried over, and the provider is asked for the rest alone', async () => {
  let held = false
  const provider = await countingProvider((_, count) => (held && count > 12 ? 'hold' : 'answer'))
  held = true
  const root = await project('durable')
  const { dir, settled } = await killed(root, provider, 14, { CELLS: '4' })
  held = false
  expect(settled.length).toBeGreaterThan(5)
  provider.fresh()
  const { code, output } = await runVitest(root, [], { ...provider.env, CELLS: '4' })
  expect(code, output).toBe(0)
  expectCleanOutput(output)
  const run = await inspectRun(root)
  expect(run.dir).not.toBe(dir)
  expect(run.records).toHaveLength(20)
  expect(run.records.every(({ status }) => status === 'scored')).toBe(true)
  // Nothing that was settled was asked again.
  expect(provider.fresh()).toHaveLength(20 - settled.length)
  const carried = run.records.filter(({ provenance }) => provenance === 'carried')
  expect(byCell(carried).map(lasting)).toEqual(byCell(settled).map(lasting))
  const again = run.records.filter(({ attempts }) => attempts === 2)
  expect(again.length).toBeGreaterThan(0)
  expectAccounted(await journalOf(run.dir), provider)
  const said = flat(output)
  expect(said).toMatch(/vitest-campaign: campaign asks goes on from run \S+ \(.* UTC\); EVALS_RESUME=0 starts afresh/)
  expect(said).toContain(`${settled.length} of 20 cells are carried over from an earlier run`)
  expect(said).toContain(`${again.length} of 20 cells run again: an earlier run was cut off in them`)
  expect(run.reports.asks?.evidence).toMatchObject({ carried: settled.length, live: 20 - settled.length })
  expect(run.reports.asks?.warnings.map(({ code: kind }) => kind)).toEqual(
    expect.arrayContaining(['carried', 'again_unknown_effect', 'earlier_spend']),
  )
  // The capture of what was carried lies in the new folder: that folder alone is complete.
  const raw = await readdir(join(run.dir, 'raw'))
  for (const { cellId } of run.records) expect(raw.some((name) => name.startsWith(cellId))).toBe(true)
  await rm(dir, { recursive: true })
  const replayed = await runVitest(root, [], {
    ...provider.env,
    EVALS_MODE: '',
    EVALS_REPLAY: 'latest',
  })
  expect(replayed.code, replayed.output).toBe(0)
  expect((await inspectRun(root)).records.map(({ status, score }) => [status, score])).toEqual(
    run.records.map(({ status, score }) => [status, score]),
  )
  // It is finished: the next run measures afresh.
  provider.fresh()
  expect((await runVitest(root, [], provider.env)).code).toBe(0)
  expect(provider.fresh()).toHaveLength(20)
})

describe('a judge', () => {
  test('that was cut off is asked again, and the subject is not', async () => {
    let hold = true
    const provider = await countingProvider(({ model, content }) =>
      hold && model === 'gpt-5' && content.startsWith('terse') ? 'hold' : 'answer',
    )
    const root = await project('durable')
    const env = { FILES: 'judged.eval.ts' }
    await killed(root, provider, 12, env)
    hold = false
    provider.fresh()
    const { code, output } = await runVitest(root, [], { ...provider.env, ...env })
    expect(code, output).toBe(0)
    expect(flat(output)).toContain('4 of 4 cells are scored on the output that an earlier run journalled')
    expect(provider.fresh().map(({ model }) => model)).toEqual(Array.from({ length: 8 }, () => 'gpt-5'))
    const run = await inspectRun(root)
    for (const record of run.records) {
      expect(record).toMatchObject({ status: 'scored', attempts: 1, provenance: 'carried', score: 1 })
      expect(record.calls).toMatchObject({ subject: 1, judge: 2 })
      expect(record).toMatchObject({ metrics: { length: 8 }, tags: { asked: record.scenarioId } })
      expect(record.integrity.issues.filter(({ severity }) => severity === 'error')).toEqual([])
    }
    const entries = await journalOf(run.dir)
    // The judge that answered before the kill was paid too, and the one that did not may have been.
    expect(spendsIn(entries)).toHaveLength(4)
    for (const spend of spendsIn(entries)) {
      expect(spend).toMatchObject({ part: 'judges', calls: 2 })
      // An answer that was on its way when the kill came is as unknown as one that was held.
      expect([1, 2]).toContain(spend.unknownCalls)
    }
    expectAccounted(entries, provider)
    // The same as if nothing had happened.
    await rm(join(root, '.evals'), { recursive: true })
    await runVitest(root, [], { ...provider.env, ...env })
    expect(byCell(run.records).map(lasting)).toEqual(byCell((await inspectRun(root)).records).map(lasting))
  })

  test('that is asked again does not make a finished command run again', async () => {
    let hold = true
    const provider = await countingProvider(({ model }) => (hold && model === 'gpt-5' ? 'hold' : 'answer'))
    const root = await project('durable')
    const marks = join(root, 'marks')
    await writeFile(marks, '')
    const env = { ...provider.env, FILES: 'commanded.eval.ts', MARKS: marks }
    const run = startVitest(root, [], env)
    const finished = async () =>
      (await readdir(join(await newestDir(root), 'commands'))).filter((name) => name.endsWith('.json')).length
    await vi.waitUntil(async () => (await finished().catch(() => 0)) === 3, { timeout: 300_000, interval: 100 })
    run.child.kill('SIGKILL')
    await run.done
    hold = false
    const { code, output } = await runVitest(root, [], env)
    expect(code, output).toBe(0)
    const { records } = await inspectRun(root)
    expect(records.map(({ scores }) => [scores.built?.pass, scores.polite?.pass])).toEqual(Array(3).fill([true, true]))
    expect(await readFile(marks, 'utf8')).toBe('...')
  })

  test('that failed is asked again by the next run, on outputs of any size', async () => {
    let down = true
    const provider = await countingProvider(({ model }) => (down && model === 'gpt-5' ? 'fail' : 'answer'))
    const root = await project('durable')
    const env = { FILES: 'judged.eval.ts', LONG: '100000' }
    await runVitest(root, [], { ...provider.env, ...env })
    const before = await inspectRun(root)
    expect(before.records.map(({ status }) => status)).toEqual([
      'judge_error',
      'judge_error',
      'judge_error',
      'judge_error',
    ])
    expect(before.derived.end).toBe('finished')
    down = false
    provider.fresh()
    const { code, output } = await runVitest(root, [], { ...provider.env, ...env })
    expect(code, output).toBe(0)
    expect(provider.fresh().every(({ model }) => model === 'gpt-5')).toBe(true)
    const run = await inspectRun(root)
    expect(run.records.map(({ status, attempts, score }) => [status, attempts, score])).toEqual(
      Array.from({ length: 4 }, () => ['scored', 1, 1]),
    )
    expect(run.records.map(({ output: given }) => given?.digest)).toEqual(
      before.records.map(({ output: given }) => given?.digest),
    )
    expectAccounted(await journalOf(run.dir), provider)
  })

  test('does not judge an output that was changed on the disk', async () => {
    let down = true
    const provider = await countingProvider(({ model }) => (down && model === 'gpt-5' ? 'fail' : 'answer'))
    const root = await project('durable')
    const env = { FILES: 'judged.eval.ts', LONG: '100000', SCENARIOS: '1' }
    await runVitest(root, [], { ...provider.env, ...env })
    const { dir } = await inspectRun(root)
    const [name = ''] = await readdir(join(dir, 'outputs'))
    await appendFile(join(dir, 'outputs', name), ' ')
    down = false
    provider.fresh()
    const { code, output } = await runVitest(root, [], { ...provider.env, ...env })
    expect(code, output).toBe(0)
    expect(provider.fresh().map(({ model }) => model)).toEqual(['gpt-5-mini', 'gpt-5', 'gpt-5'])
    expect((await inspectRun(root)).records[0]).toMatchObject({ status: 'scored', attempts: 2, provenance: 'live' })
  })
})

test('cells with side effects wait for somebody who has looked', async () => {
  let hold = true
  const provider = await countingProvider(({ content }) => (hold && content.endsWith('s1') ? 'hold' : 'answer'))
  const root = await project('durable')
  const env = { FILES: 'effects.eval.ts' }
  const sent = async () => (await readFile(join(root, 'sent.txt'), 'utf8')).trim().split('\n').sort()
  const run = startVitest(root, [], { ...provider.env, ...env })
  await provider.reached(3)
  await untilSettled(run, root, 2)
  run.child.kill('SIGKILL')
  await run.done
  hold = false
  provider.fresh()
  const waits = await runVitest(root, [], { ...provider.env, ...env })
  expect(provider.fresh()).toEqual([])
  expect(await sent()).toEqual(['s0', 's1', 's2'])
  expect(flat(waits.output)).toContain('1 of 3 cells wait: an earlier run was cut off in them')
  const held = await inspectRun(root)
  expect(held.cell('effects', 's1')).toMatchObject({ status: 'not_run', reason: 'unknown-effect', attempts: 1 })
  const goes = await runVitest(root, [], { ...provider.env, ...env, EVALS_RECONCILE: '1' })
  expect(goes.code, goes.output).toBe(0)
  expect(provider.fresh().map(({ content }) => content)).toEqual(['effects s1'])
  expect(await sent()).toEqual(['s0', 's1', 's1', 's2'])
  const reconciled = await inspectRun(root)
  expect(reconciled.cell('effects', 's1')).toMatchObject({ status: 'scored', attempts: 2 })
  expectAccounted(await journalOf(reconciled.dir), provider)
})

/** Waits until the newest run has so many records; fails when it ends before. */
async function untilSettled(run: VitestRun, root: string, count: number): Promise<void> {
  await until(
    run,
    `it had ${count} records`,
    async () => settledIn(await journalOf(await newestDir(root))).length >= count,
  )
}

/** What was asked since, however often it was asked again. */
const questions = (provider: CountingProvider): string[] => [...new Set(provider.fresh().map(({ content }) => content))]

test('what is another campaign now, or is asked to, starts afresh, and says why', async () => {
  const provider = await countingProvider(({ content }) => (content === 'a s3 0' ? 'down' : 'answer'))
  const root = await project('durable')
  const env = { ...provider.env, SCENARIOS: '5' }
  await runVitest(root, [], env)
  expect((await inspectRun(root)).records.filter(({ status }) => status === 'infra_error')).toHaveLength(1)
  provider.fresh()

  // A part of a campaign is run because somebody wants to see it, and nothing goes on from it.
  await runVitest(root, ['-t', 'a > s1 '], env)
  expect(provider.fresh()).toHaveLength(1)

  const asked = await runVitest(root, [], { ...env, EVALS_RESUME: '0' })
  expect(questions(provider)).toHaveLength(10)
  expect(asked.output).not.toContain('goes on from')

  const seeds = await runVitest(root, [], { ...env, SEEDS: '2' })
  expect(flat(seeds.output)).toMatch(
    /campaign asks starts afresh: run \S+ is unfinished, but the campaign is another one since: the seeds/,
  )
  expect(questions(provider)).toHaveLength(20)

  await appendFile(join(root, 'ask.ts'), '// changed\n')
  const code = await runVitest(root, [], { ...env, SEEDS: '2', SCENARIOS: '6' })
  expect(flat(code.output)).toContain('the campaign is another one since: scenario s5 added, file ask.ts changed')
  provider.fresh()

  // What failed is run again, and what did not is not.
  const again = await runVitest(root, [], { ...env, SEEDS: '2', SCENARIOS: '6' })
  expect(flat(again.output)).toContain('1 of 24 cells')
  expect(questions(provider)).toEqual(['a s3 0'])

  const other = await runVitest(root, [], { ...env, SEEDS: '2', SCENARIOS: '6', EVALS_MODE: 'record' })
  expect(flat(other.output)).toContain('is unfinished, but answered calls otherwise (live)')
  expect(questions(provider)).toHaveLength(24)

  const wrong = await runVitest(root, [], { ...env, EVALS_RESUME: 'no' })
  expect(wrong.output).toContain('EVALS_RESUME="no" is neither 0 nor 1')
})

test('a watched run that starts again runs what Vitest selects, and goes on from nothing', async () => {
  const provider = await countingProvider(({ content }) => (content === 'a s3 0' ? 'down' : 'answer'))
  const root = await project('durable')
  const run = startVitest(root, [], { ...provider.env, SCENARIOS: '5' }, 'watch')
  const waits = (times: number) =>
    until(run, `it waited for the ${times}. time`, () => run.printed().split('for file changes').length > times)
  try {
    await waits(1)
    expect(questions(provider)).toHaveLength(10)
    // The same bytes once more: the same fingerprint, and a run before it that left a cell undone.
    const path = join(root, 'asks.eval.ts')
    await writeFile(path, await readFile(path))
    await waits(2)
    expect(questions(provider)).toHaveLength(10)
    expect(run.printed()).not.toContain('goes on from')
  } finally {
    run.child.kill('SIGKILL')
    await run.done
  }
})

test('a run that cannot be read stops before anything is paid again', async () => {
  let hold = true
  const provider = await countingProvider((_, count) => (hold && count > 8 ? 'hold' : 'answer'))
  const root = await project('durable')
  const { dir } = await killed(root, provider, 10, { CELLS: '2' })
  hold = false
  const path = join(dir, 'journal.jsonl')
  const bytes = await readFile(path)
  bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
  await writeFile(path, bytes)
  provider.fresh()
  const { code, output } = await runVitest(root, [], provider.env)
  expect(code, output).toBe(1)
  expect(provider.fresh()).toEqual([])
  const said = flat(output)
  expect(said).toContain('cannot be continued')
  const intact = Number(/Cut journal\.jsonl there after (\d+) bytes/.exec(said)?.[1])
  await writeFile(path, bytes.subarray(0, intact))
  const cut = await runVitest(root, [], provider.env)
  expect(cut.code, cut.output).toBe(0)
  expect(flat(cut.output)).toContain('goes on from')
})
