import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JournalEntry } from '../../src/core/journal/entry.ts'
import { encodeLine } from '../../src/core/journal/line.ts'
import { readJournal } from '../../src/core/journal/read.ts'
import type { CampaignReport } from '../../src/core/report/report.ts'
import { copyProject, runKeptVitest as runVitest } from '../harness/run-vitest.ts'
import { runHere } from './run-here.ts'

let root = ''
/** Run ids: of the whole run, and of the shards in their order. */
let whole = ''
const shards: string[] = []
const outputs: string[] = []

const newest = async () => (await readFile(join(root, '.evals/latest'), 'utf8')).trim()
const reportOf = async (run: string, campaign = 'labels') =>
  JSON.parse(await readFile(join(root, '.evals', run, 'reports', `${campaign}.json`), 'utf8')) as CampaignReport

/** Without what a clock says: no two runs take the same time. */
function untimed(report: CampaignReport) {
  const text = JSON.stringify(report, (key, value) => (/^latency/.test(key) ? null : value))
  return { ...(JSON.parse(text) as CampaignReport), fingerprint: { ...report.fingerprint, report: null } }
}

beforeAll(async () => {
  root = await copyProject('shards')
  await runVitest(root, ['--project', 'evals'], { LATE: '1', OPTIONS: '{"test":{"maxWorkers":2}}' })
  whole = await newest()
  // Both ways to say it: Vitest's, beside which the files of other projects are divided, and ours.
  for (const [args, env] of [
    [['--shard', '1/3'], {}],
    [['--shard', '2/3'], {}],
    [['--project', 'evals'], { EVALS_SHARD: '3/3' }],
  ] as const) {
    const { code, output } = await runVitest(root, [...args, '--reporter=default', '--reporter=blob'], {
      EVALS_MODE: 'replay',
      ...env,
    })
    expect(code, output).toBe(0)
    outputs.push(output)
    shards.push(await newest())
  }
})
afterAll(() => rm(root, { recursive: true, force: true }))

test('a shard runs its part of the cells of every file, and of the files of other projects its own', async () => {
  const cells = await Promise.all(
    shards.map(async (run) => {
      const lines = (await readFile(join(root, '.evals', run, 'records.jsonl'), 'utf8')).trimEnd().split('\n')
      return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { cellId: string }).cellId)
    }),
  )
  expect(cells.flat()).toHaveLength(97)
  expect(new Set(cells.flat()).size).toBe(97)
  for (const own of cells) expect(own.length).toBeGreaterThan(15)
  expect(outputs.map((output) => output.match(/unit\/\w\.test/g)?.length ?? 0)).toEqual([2, 1, 0])
  for (const [at, output] of outputs.entries()) {
    expect(output).toContain(`(shard ${at + 1} of 3: \`npx vitest-campaign merge <run folders>\` puts them together)`)
    expect(output).toMatch(/campaign labels: \d+ of 96 cells selected: no verdict on a part of a campaign/)
  }
})

test('together they are the run that was not divided', async () => {
  const { code, stdout, stderr } = await runHere(root, ['merge', ...shards])
  expect([code, stderr]).toEqual([0, ''])
  const merged = await newest()
  expect(shards).not.toContain(merged)
  for (const campaign of ['labels', 'single']) {
    expect(untimed(await reportOf(merged, campaign))).toEqual(untimed(await reportOf(whole, campaign)))
  }
  expect(stdout).toContain((await reportOf(whole)).verdict.headline.slice(0, 30))
  const gates = await Promise.all([whole, merged].map((run) => runHere(root, ['gate', run])))
  expect(gates[1]).toEqual(gates[0])
  // The order in which they are named is nobody's business, and folders do as well as ids.
  await runHere(root, ['merge', ...[2, 0, 1].map((at) => join(root, '.evals', shards[at] ?? ''))])
  expect(untimed(await reportOf(await newest()))).toEqual(untimed(await reportOf(whole)))
})

test('the blob reports of the shards merge into the same verdict', async () => {
  const { code, output } = await runVitest(root, [`--merge-reports=${join(root, '.vitest-reports')}`])
  const { headline } = (await reportOf(whole)).verdict
  expect([code, output.replaceAll(/\s+/g, ' ')]).toEqual([0, expect.stringContaining(headline.slice(0, 60))])
  expect(output).toMatch(/COVERAGE {2}96 planned: 96 scored/)
  // And into the same files as `merge` writes, but for what no blob holds: a journal, and the exchanges.
  await runHere(root, ['merge', ...shards])
  const merged = await newest()
  const filesOf = async (run: string) => (await readdir(join(root, '.evals', run, 'reports'))).sort()
  const reports = ['labels', 'single'].flatMap((name) => ['html', 'json', 'md'].map((ext) => `${name}.${ext}`))
  expect([await filesOf('merged'), await filesOf(merged)]).toEqual([reports, reports])
  for (const file of ['comment.md', 'junit.xml', ...reports.map((name) => `reports/${name}`)]) {
    const [blobs, folders] = await Promise.all(
      ['merged', merged].map(async (run) =>
        (await readFile(join(root, '.evals', run, file), 'utf8'))
          .replaceAll(run, 'the run')
          .replaceAll(/No exchange was captured\.|its exchanges are in the folder of its shard&#39;s run/g, ''),
      ),
    )
    expect(blobs, file).toBe(folders)
  }
  await rm(join(root, '.vitest-reports/blob-1-3.json'))
  const without = await runVitest(root, [`--merge-reports=${join(root, '.vitest-reports')}`])
  expect(without.output).toMatch(/COVERAGE {2}96 planned: .*not_run/)
  expect(without.output).toContain('FAIL')
  expect(without.code).toBe(1)
})

test('of a shard that is missing the cells are not run', async () => {
  const { code, stderr } = await runHere(root, ['merge', ...shards.slice(0, 2)])
  expect([code, stderr]).toEqual([0, expect.stringContaining('of shard 3 there is no run: its cells are not_run')])
  const { planned, counts } = (await reportOf(await newest())).coverage
  expect(counts.not_run).toBeGreaterThan(15)
  expect([planned, counts.scored + counts.not_run]).toEqual([96, 96])
  expect((await runHere(root, ['gate'])).code).not.toBe(0)
})

describe('what does not fit together', () => {
  /** A copy of a shard, as another run, with other lines in its journal. */
  async function changed(
    from: string,
    edit: (text: string) => string | null,
    more: readonly JournalEntry[] = [],
  ): Promise<string> {
    const id = `changed-${Math.random().toString(36).slice(2)}`
    await cp(join(root, '.evals', from), join(root, '.evals', id), { recursive: true })
    const path = join(root, '.evals', id, 'journal.jsonl')
    const { entries } = readJournal(await readFile(path), path)
    const kept = entries.flatMap((entry) => {
      const text = edit(JSON.stringify(entry).replaceAll(from, id))
      return text === null ? [] : [JSON.parse(text)]
    })
    await writeFile(path, [...kept, ...more].map((entry, seq) => encodeLine(seq, entry)).join(''))
    return id
  }
  const [one, two, three] = [() => shards[0] ?? '', () => shards[1] ?? '', () => shards[2] ?? '']

  const withBudget = (text: string) => text.replace('"kind":"run",', '"kind":"run","budgetMicroUsd":1000,')

  test.each<[string, () => Promise<readonly string[]>, RegExp]>([
    ['nothing', async () => [], /<run>\.\.\. is missing/],
    ['a run that was not divided', async () => [whole, one()], /is no shard: it was run whole/],
    ['one shard named twice', async () => [one(), two(), one()], /was named twice/],
    [
      'shards of other numbers',
      async () => [one(), await changed(two(), (text) => text.replace('"count":3', '"count":4'))],
      /no shards of one run: the number of shards is 3 in the one and 4 in the other/,
    ],
    [
      'another version of the campaign',
      async () => [
        one(),
        await changed(two(), (text) =>
          text.replace(/"fingerprint":"sha256-jcs:..../, '"fingerprint":"sha256-jcs:0000'),
        ),
      ],
      /ran different versions of campaign "(labels|single)"/,
    ],
    [
      'another commit',
      async () => [
        one(),
        await changed(two(), (text) => text.replace(/"commit":\{"sha":[^,]*/, '"commit":{"sha":"abc"')),
      ],
      /the commit is .* in the one and abc in the other/,
    ],
    [
      'another budget',
      async () => [one(), await changed(two(), withBudget)],
      /its share of the budget is null micro-USD in the one and 1000 micro-USD in the other/,
    ],
    [
      'a filtered shard',
      async () => [
        one(),
        await changed(two(), (text) => text.replace(/"selection":\["[0-9a-f]{16}",/, '"selection":[')),
      ],
      /1 cells were filtered out/,
    ],
    ['a run that is none', async () => [one(), 'nobody'], /there is no run "nobody"/],
  ])('%s is refused, and nothing is written', async (_, runs, message) => {
    const given = await runs()
    const before = await newest()
    const { code, stderr } = await runHere(root, ['merge', ...given])
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
    expect(await newest()).toBe(before)
  })

  test('the budget of the whole is that of all shards, and a bill settled by hand stays settled', async () => {
    const bill = { kind: 'reconciled', cellId: '0123456789abcdef', attempt: 1, microUsd: 7 } as const
    const parts = [
      await changed(one(), withBudget, [{ ...bill, at: '2026-01-01T00:00:00.000Z' }]),
      await changed(two(), withBudget),
      await changed(three(), withBudget),
    ]
    expect(await runHere(root, ['merge', ...parts])).toMatchObject({ code: 0 })
    const path = join(root, '.evals', await newest(), 'journal.jsonl')
    const { entries } = readJournal(await readFile(path), path)
    expect(entries[0]).toMatchObject({ kind: 'run', budgetMicroUsd: 3000 })
    expect(entries.filter(({ kind }) => kind === 'reconciled')).toMatchObject([bill])
  })

  test('a cell that two of them ran makes its campaign invalid', async () => {
    const again = await changed(three(), (text) => text)
    await runHere(root, ['merge', ...shards, again])
    const report = await reportOf(await newest())
    expect(report.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid' })
    expect(JSON.stringify(report.verdict)).toContain('more than one of the shards')
    expect((await runHere(root, ['gate'])).code).toBe(2)
  })

  test('a cell that belongs to another shard makes its campaign invalid', async () => {
    const path = join(root, '.evals', two(), 'journal.jsonl')
    const { entries } = readJournal(await readFile(path), path)
    const taken = await changed(one(), (text) => text, entries.filter(({ kind }) => kind === 'settled').slice(0, 2))
    await runHere(root, ['merge', taken])
    const report = await reportOf(await newest())
    expect(JSON.stringify(report.verdict)).toContain('belong to another shard')
  })

  test('a shard that was cut off makes the whole one that was', async () => {
    let left = 6
    const killed = await changed(three(), (text) =>
      text.includes('"kind":"end"') || (text.includes('"kind":"settled"') && left-- > 0) ? null : text,
    )
    await runHere(root, ['merge', one(), two(), killed])
    const report = await reportOf(await newest())
    expect(JSON.stringify(report.verdict)).toMatch(/the run was interrupted: \d+ of 96 cells have no result/)
    expect((await runHere(root, ['gate'])).code).toBe(2)
  })
})

test.each([
  [{ EVALS_SHARD: '4/3' }, /EVALS_SHARD is "4\/3": write <index>\/<count>/],
  [{ EVALS_SHARD: 'x' }, /EVALS_SHARD is "x"/],
  [
    { EVALS_SHARD: '1/9', OPTIONS: '{"capacity":{"lanes":[{"match":"*","concurrency":4}]}}' },
    /capacity\.lanes\[0\]\.concurrency is 4, which 9 shards cannot share: run at most 4 shards/,
  ],
])('%j is refused before anything runs', async (env, message) => {
  const { code, output } = await runVitest(root, ['--project', 'evals'], env)
  expect([code, output]).toEqual([1, expect.stringMatching(message)])
})
