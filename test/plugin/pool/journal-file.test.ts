import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAppender } from '../../../src/core/journal/append.ts'
import { readJournal } from '../../../src/core/journal/read.ts'
import { openJournalFile } from '../../../src/plugin/pool/journal-file.ts'

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
