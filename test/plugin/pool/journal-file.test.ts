import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAppender } from '../../../src/core/journal/append.ts'
import { encodeLine } from '../../../src/core/journal/line.ts'
import { readJournal } from '../../../src/core/journal/read.ts'
import { openJournalFile, reopenJournalFile } from '../../../src/plugin/pool/journal-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('what is appended can be read while the journal is open', async () => {
  const path = join(folder, 'journal.jsonl')
  const journal = createAppender(await openJournalFile(path), { name: path })
  await Promise.all(
    Array.from({ length: 500 }, (_, i) =>
      journal.append({ kind: 'problem', campaignId: null, code: 'x', text: `${i} ${'é'.repeat(2000)}` }),
    ),
  )
  const { entries, repaired } = readJournal(await readFile(path), path)
  expect(repaired).toBeNull()
  expect(entries.map((entry) => (entry.kind === 'problem' ? entry.text.split(' ')[0] : entry.kind))).toEqual(
    Array.from({ length: 500 }, (_, i) => `${i}`),
  )
  await journal.close()
})

test.skipIf(process.platform === 'win32')('the file is its owner’s alone', async () => {
  const path = join(folder, 'journal.jsonl')
  const file = await openJournalFile(path)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await file.close()
})

test('a journal that exists is never written over', async () => {
  const path = join(folder, 'journal.jsonl')
  await writeFile(path, 'kept')
  await expect(openJournalFile(path)).rejects.toThrow(path)
  expect(await readFile(path, 'utf8')).toBe('kept')
})

test('a missing folder is named', async () => {
  const path = join(folder, 'missing', 'journal.jsonl')
  await expect(openJournalFile(path)).rejects.toThrow(path)
})

test('a write after the file was closed fails the append, naming the journal', async () => {
  const path = join(folder, 'journal.jsonl')
  const file = await openJournalFile(path)
  const journal = createAppender(file, { name: path })
  await file.close()
  await expect(journal.append({ kind: 'end', reason: 'finished' })).rejects.toThrow(`cannot write the journal ${path}`)
})

test('an owner that was replaced writes nothing, and what it managed to write does not count', async () => {
  const path = join(folder, 'journal.jsonl')
  let replaced = false
  const allowed = () => {
    if (replaced) throw new Error('the folder was taken over')
  }
  const first = createAppender(await openJournalFile(path, allowed), { name: path })
  await first.append(problem('first'))
  // A stopped process that was about to write: it asked before, and writes after.
  const late = await openedForAppend(path)
  const { intactBytes, entries } = readJournal(await readFile(path), path)
  const file = await reopenJournalFile(path, intactBytes, () => {})
  const second = createAppender(file, { name: path, firstSeq: entries.length, fence: 2 })
  await second.append({ kind: 'fenced', by: 'later', campaignId: 'triage', at: '2026-01-02T03:04:05.000Z' })
  replaced = true
  await expect(first.append(problem('too late'))).rejects.toThrow('the folder was taken over')
  await late.write(encodeLine(1, problem('slipped through')))
  await late.close()
  await second.append(problem('second'))
  await second.close()
  const read = readJournal(await readFile(path), path)
  expect(read.entries.map((entry) => (entry.kind === 'problem' ? entry.text : entry.kind))).toEqual([
    'first',
    'fenced',
    'second',
  ])
  expect(read).toMatchObject({ fence: 2, fencedOff: 1, repaired: null })
})

test('scenario 50: a torn tail is cut before anybody writes on', async () => {
  const path = join(folder, 'journal.jsonl')
  const whole = encodeLine(0, problem('whole'))
  await writeFile(path, `${whole}${encodeLine(1, problem('torn')).slice(0, 40)}`)
  const { intactBytes } = readJournal(await readFile(path), path)
  const file = await reopenJournalFile(path, intactBytes, () => {})
  const journal = createAppender(file, { name: path, firstSeq: 1, fence: 3 })
  await journal.append(problem('next'))
  await journal.close()
  expect(readJournal(await readFile(path), path)).toMatchObject({
    entries: [problem('whole'), problem('next')],
    fence: 3,
    repaired: null,
  })
})

const problem = (text: string) => ({ kind: 'problem', campaignId: null, code: 'x', text }) as const
const openedForAppend = (path: string) => open(path, 'a')
