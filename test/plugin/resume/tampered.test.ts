import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { journalOf, spendsIn } from './accounting.ts'
import { type Driven, died, drive, type Ledger } from './driven.ts'

let folder: string
let root: string
/** Of the run that died with some cells settled and some in flight. */
let dir: string
let whole: Driven
let ledger: Ledger

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tampered-'))
  whole = await drive(join(folder, 'whole'), { calls: [] })
})
beforeEach(async () => {
  root = join(folder, 'died')
  const journal = await readFile(join(whole.dir, 'journal.jsonl'))
  const settled = journal.indexOf('"kind":"settled"')
  ledger = await died(whole, root, journal.indexOf(10, settled) + 1, () => true)
  dir = join(root, '.evals', basename(whole.dir))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const spends = async (run: Driven) => spendsIn(await journalOf(run.dir))

test('without the folder of its captures nobody knows what its attempts cost', async () => {
  await rm(join(dir, 'raw'), { recursive: true })
  const next = await drive(root, ledger)
  expect(next.refused).toBeNull()
  const unknown = await spends(next)
  expect(unknown.length).toBeGreaterThan(5)
  for (const spend of unknown) expect(spend).toMatchObject({ unknownCalls: 1, boundMicroUsd: null })
})

test('where the captures of settled cells are gone, those of others may be too', async () => {
  for (const name of await readdir(join(dir, 'raw'))) await rm(join(dir, 'raw', name))
  const unknown = await spends(await drive(root, ledger))
  expect(unknown.length).toBeGreaterThan(5)
  for (const spend of unknown) expect(spend).toMatchObject({ unknownCalls: 1, boundMicroUsd: null })
})

test('a capture that was begun and shows nothing is of a call whose charge is unknown', async () => {
  const before = await spends(await drive(root, ledger))
  await rm(root, { recursive: true })
  const journal = await readFile(join(whole.dir, 'journal.jsonl'))
  await died(whole, root, journal.indexOf(10, journal.indexOf('"kind":"settled"')) + 1, () => true)
  const cut = before.find(({ part }) => part === 'all')
  if (cut === undefined) throw new Error('no subject was cut off')
  await writeFile(join(dir, 'raw', `${cut.cellId}.${cut.attempt}.jsonl`), '')
  const after = (await spends(await drive(root, ledger))).find(({ cellId }) => cellId === cut.cellId)
  expect(after).toMatchObject({ calls: 1, microUsd: 0, unknownCalls: 1, boundMicroUsd: null })
})

test('a damaged capture stops the campaign, and what the message says lets it go on', async () => {
  const before = ledger.calls.length
  const raw = await readdir(join(dir, 'raw'))
  for (const name of raw) await writeFile(join(dir, 'raw', name), 'nonsense\nmore of it\n')
  const { refused } = await drive(root, ledger)
  expect(refused).toMatch(/cannot be continued: \S+raw\S+:1 is damaged\. Empty the file to go on/)
  expect(refused).toContain('EVALS_RESUME=0')
  expect(refused).not.toContain('-u')
  expect(ledger.calls).toHaveLength(before)
  for (const name of raw) await writeFile(join(dir, 'raw', name), '')
  const next = await drive(root, ledger)
  expect(next.refused).toBeNull()
  expect(next.records).toHaveLength(12)
})

test.each([
  ['is empty', (path: string) => writeFile(path, '')],
  ['is gone', (path: string) => rm(path)],
])('a journal that %s is told, because nobody knows what its run paid', async (why, tamper) => {
  const manifest = JSON.parse(await readFile(join(whole.dir, 'manifest.json'), 'utf8')) as object
  await writeFile(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, end: null, campaigns: [] }))
  await tamper(join(dir, 'journal.jsonl'))
  const { said, records } = await drive(root, ledger)
  expect(said).toEqual([
    expect.stringContaining(
      `campaign triage starts afresh: the journal of run ${basename(dir)} ${why}, so that nobody knows`,
    ),
  ])
  expect(records).toHaveLength(12)
  expect((await drive(root, ledger)).said, 'the next one measures afresh').toEqual([])
})

test('folders that somebody made among its files do not stop it', async () => {
  const settled = whole.records.map(({ cellId }) => cellId)
  for (const cellId of settled) await mkdir(join(dir, 'artifacts', cellId, 'mine'), { recursive: true })
  await mkdir(join(dir, 'commands/mine'), { recursive: true })
  await mkdir(join(dir, 'raw/mine'))
  const next = await drive(root, ledger)
  expect(next.refused).toBeNull()
  expect(next.records).toHaveLength(12)
})
