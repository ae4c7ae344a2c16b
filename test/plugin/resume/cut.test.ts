import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/core/journal/entry.ts'
import { encodeLine } from '../../../src/core/journal/line.ts'
import { readJournal } from '../../../src/core/journal/read.ts'
import { journalOf, lasting, settledIn, spendsIn } from './accounting.ts'
import { charged, type Driven, died, drive, type Ledger } from './driven.ts'

let folder: string
let whole: Driven
let journal: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cut-'))
  whole = await drive(join(folder, 'whole'), { calls: [] })
  journal = await readFile(join(whole.dir, 'journal.jsonl'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const microUsd = (usd: number | null): number => (usd === null ? Number.NaN : Math.round(usd * 1_000_000))
const byCell = (records: Driven['records']) => records.toSorted((a, b) => (a.cellId < b.cellId ? -1 : 1))

/** Cuts the run off, goes on with it, and checks what must hold however it was cut. */
async function goOn(bytes: number, lost: (cellId: string) => boolean): Promise<void> {
  const root = join(folder, 'cut')
  const ledger: Ledger = await died(whole, root, bytes, lost)
  const before = readJournal(journal.subarray(0, bytes), 'journal.jsonl').entries
  const settled = new Set(settledIn(before).map(({ cellId }) => cellId))
  const calledBefore = ledger.calls.length
  const next = await drive(root, ledger)
  expect(next.refused).toBeNull()
  // Nothing is lost, nothing that was settled is done again, and no output is bought twice.
  expect(byCell(next.records).map(lasting)).toEqual(byCell(whole.records).map(lasting))
  const now = ledger.calls.slice(calledBefore)
  expect(now.filter(({ cellId }) => settled.has(cellId))).toEqual([])
  const kept = new Set(before.flatMap((entry) => (entry.kind === 'subject-settled' ? [entry.cellId] : [])))
  expect(now.filter(({ cellId, role }) => role === 'subject' && kept.has(cellId))).toEqual([])
  // What was charged stands in the records, beside them, or is unknown within its bound.
  const entries = await journalOf(next.dir)
  const spends = spendsIn(entries)
  const known =
    settledIn(entries).reduce((sum, { cost }) => sum + microUsd(cost.usd), 0) +
    spends.reduce((sum, spend) => sum + spend.microUsd, 0)
  const bound = spends.reduce((sum, spend) => sum + (spend.boundMicroUsd ?? Number.NaN), 0)
  expect(charged(ledger)).toBeGreaterThanOrEqual(known)
  expect(charged(ledger)).toBeLessThanOrEqual(known + bound)
}

test('scenarios 43 to 50: cut after any line of its journal, a run goes on to the same records and the same money', async () => {
  expect(whole.records).toHaveLength(12)
  let lines = 0
  for (let end = journal.indexOf(10); end !== -1; end = journal.indexOf(10, end + 1)) {
    lines++
    // The plan comes second: before it nothing is to be gone on with.
    if (lines === 1 || end === journal.length - 1) continue
    await goOn(end + 1, (cellId) => (Number.parseInt(cellId.slice(-1), 16) + lines) % 2 === 0)
  }
  expect(lines).toBeGreaterThanOrEqual(40)
})

test('under a budget, cut after any line, all that was ever paid is the budget’s, and more money ends it', async () => {
  // Enough for most: while a cell is in flight 18 are held for it.
  const limit = 45
  let lines = 0
  let refused = 0
  const tight = await drive(join(folder, 'tight'), { calls: [] }, limit)
  const bytes = await readFile(join(tight.dir, 'journal.jsonl'))
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, end + 1)) {
    if (++lines % 2 === 1 || end > bytes.indexOf('"kind":"verdict"') - 60) continue
    const root = join(folder, 'cut-tight')
    const ledger = await died(tight, root, end + 1, (cellId) => (Number.parseInt(cellId.slice(-1), 16) + lines) % 4 < 2)
    const next = await drive(root, ledger, limit)
    expect(next.refused).toBeNull()
    const of = (entries: Awaited<ReturnType<typeof journalOf>>) =>
      entries.flatMap((entry) => (entry.kind === 'budget' ? [entry] : []))[0]
    const budget = of(await journalOf(next.dir))
    const { chargedMicroUsd = 0, unknownMicroUsd = 0 } = budget ?? {}
    expect(budget, `after line ${lines}`).toMatchObject({ heldMicroUsd: 0, limitMicroUsd: limit })
    expect(charged(ledger)).toBeGreaterThanOrEqual(chargedMicroUsd)
    expect(charged(ledger), `after line ${lines}`).toBeLessThanOrEqual(chargedMicroUsd + unknownMicroUsd)
    expect(chargedMicroUsd + unknownMicroUsd).toBeLessThanOrEqual(limit)
    expect(next.records).toHaveLength(12)
    const unrun = next.records.filter(({ status }) => status !== 'scored')
    refused += unrun.length
    expect(unrun.every(({ status, reason }) => status === 'not_run' && reason === 'budget')).toBe(true)
    if (unrun.length === 0 || lines % 8 !== 0) continue
    const calls = ledger.calls.length
    const last = await drive(root, ledger, 1_000)
    expect(byCell(last.records).map(lasting)).toEqual(byCell(whole.records).map(lasting))
    // What was refused, and no subject whose output was journalled.
    expect(ledger.calls.length - calls).toBeLessThanOrEqual(2 * unrun.length)
  }
  expect(lines).toBeGreaterThanOrEqual(30)
  expect(refused).toBeGreaterThan(0)
})

test('cut inside its last lines, a run goes on from what stands before the cut', async () => {
  const ends = [...journal.entries()].flatMap(([at, byte]) => (byte === 10 ? [at] : []))
  // The last lines say verdict and end; those before them are of cells.
  for (const last of ends.slice(-5, -2)) {
    const start = (ends[ends.indexOf(last) - 1] ?? 0) + 1
    for (let bytes = start + 1; bytes < last; bytes += Math.ceil((last - start) / 5)) {
      await goOn(bytes, () => true)
    }
  }
})

test('a flipped bit anywhere stops the next run before it spends, or was in a line that never counted', async () => {
  const cut = journal.subarray(0, journal.lastIndexOf('"kind":"end"') - 60)
  const root = join(folder, 'flipped')
  for (let at = 30; at < cut.length; at += Math.ceil(cut.length / 25)) {
    const ledger = await died(whole, root, cut.length, () => false)
    const path = join(root, '.evals', basename(whole.dir), 'journal.jsonl')
    const flipped = Buffer.from(cut)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
    await writeFile(path, flipped)
    const before = ledger.calls.length
    const next = await drive(root, ledger)
    if (at > cut.lastIndexOf('\n')) continue
    expect(next.refused, `byte ${at}`).toContain('cannot be continued')
    expect(ledger.calls).toHaveLength(before)
  }
})

test('of two runs that find the same one unfinished, one goes on with it, and the other pays for its own', async () => {
  const root = join(folder, 'twice')
  const middle = journal.indexOf(10, Math.floor(journal.length / 2))
  const ledger = await died(whole, root, middle + 1, () => false)
  const ledgers: [Ledger, Ledger] = [{ calls: [] }, { calls: [] }]
  const runs = await Promise.all([drive(root, ledgers[0]), drive(root, ledgers[1])])
  const goesOn = runs.filter(({ said }) => said.some((line) => line.includes('goes on from run')))
  expect(goesOn).toHaveLength(1)
  for (const [at, { records }] of runs.entries()) {
    expect(records).toHaveLength(12)
    const carried = records.filter(({ provenance }) => provenance === 'carried').length
    if (runs[at] !== goesOn[0]) expect([carried, ledgers[at]?.calls.length]).toEqual([0, whole.records.length + 6])
  }
  expect(ledger.calls.length).toBeGreaterThan(0)
})

test('a clock that went back does not hide the run that went on', async () => {
  const root = join(folder, 'back')
  const firstSettled = journal.indexOf('"kind":"settled"')
  const ledger = await died(whole, root, journal.indexOf(10, firstSettled) + 1, () => false)
  const first = await drive(root, ledger)
  expect(first.said[0]).toContain('goes on from run')
  // The run that was gone on with has the later name, and the one that went on died before its end.
  await rename(join(root, '.evals', basename(whole.dir)), join(root, '.evals', '29990101T000000Z-ffffff'))
  const text = await readFile(join(first.dir, 'journal.jsonl'), 'utf8')
  await writeFile(join(first.dir, 'journal.jsonl'), `${text.split('\n').slice(0, -2).join('\n')}\n`)
  await rm(join(first.dir, 'manifest.json'))
  const before = ledger.calls.length
  const second = await drive(root, ledger)
  expect(second.said[0]).toContain(`goes on from run ${basename(first.dir)}`)
  expect(second.records).toHaveLength(12)
  expect(ledger.calls).toHaveLength(before)
})

test('a run that died before it had taken over what another left unfinished hides nothing of it', async () => {
  const root = join(folder, 'first-moments')
  const last = journal.lastIndexOf('"kind":"settled"')
  const ledger = await died(whole, root, journal.lastIndexOf(10, last) + 1, () => false)
  // Came to its end, with a cell that has no result.
  const first = join(root, '.evals', basename(whole.dir))
  const kept = await readFile(join(first, 'journal.jsonl'), 'utf8')
  const end: JournalEntry = { kind: 'end', reason: 'finished' }
  await writeFile(join(first, 'journal.jsonl'), kept + encodeLine(kept.split('\n').length - 1, end))
  const second = await drive(root, ledger)
  expect(second.said[0]).toContain(`goes on from run ${basename(whole.dir)}`)
  // It took the folder, and was killed before its plan line.
  const text = await readFile(join(second.dir, 'journal.jsonl'), 'utf8')
  const lines = text.split('\n')
  const plan = lines.findIndex((line) => line.includes('"kind":"plan"'))
  await writeFile(
    join(second.dir, 'journal.jsonl'),
    lines
      .slice(0, plan)
      .map((line) => `${line}\n`)
      .join(''),
  )
  await rm(join(second.dir, 'manifest.json'))
  const before = ledger.calls.length
  const third = await drive(root, ledger)
  expect(third.said[0]).toContain(`goes on from run ${basename(whole.dir)}`)
  expect(third.records.map(({ provenance }) => provenance)).toEqual(whole.records.map(() => 'carried'))
  // The judge of the cell that had none.
  expect(ledger.calls.slice(before).map(({ role }) => role)).toEqual(['judge'])
})
