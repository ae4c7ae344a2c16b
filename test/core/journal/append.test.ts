import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAppender, type JournalFile, JournalWriteError } from '../../../src/core/journal/append.ts'
import type { JournalEntry } from '../../../src/core/journal/entry.ts'
import { readJournal } from '../../../src/core/journal/read.ts'

const problem = (text: string): JournalEntry => ({ kind: 'problem', campaignId: null, code: 'x', text })

/** A file in memory whose syncs end when the test says so. */
class FakeFile implements JournalFile {
  readonly calls: string[] = []
  data = Buffer.alloc(0)
  /** What is safe on the "disk". */
  synced = Buffer.alloc(0)
  held: (() => void)[] | null = null
  failWrite: Error | null = null
  failSync: Error | null = null
  failClose: Error | null = null

  hold(): void {
    this.held = []
  }

  letGo(): void {
    const held = this.held ?? []
    this.held = null
    for (const go of held) go()
  }

  async write(data: Buffer): Promise<void> {
    this.calls.push('write')
    if (this.failWrite !== null) throw this.failWrite
    this.data = Buffer.concat([this.data, data])
  }

  async sync(): Promise<void> {
    this.calls.push('sync')
    const upTo = this.data
    await new Promise<void>((resolve) => (this.held === null ? resolve() : this.held.push(resolve)))
    if (this.failSync !== null) throw this.failSync
    this.synced = upTo
  }

  async close(): Promise<void> {
    this.calls.push('close')
    if (this.failClose !== null) throw this.failClose
  }

  texts(bytes = this.data): string[] {
    return readJournal(bytes, 'j').entries.map((entry) => (entry.kind === 'problem' ? entry.text : entry.kind))
  }
}

/** Lets everything that can happen without the file's help happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an append resolves only when its line is on the disk', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  file.hold()
  let durable = false
  const append = journal.append(problem('a')).then(() => {
    durable = true
  })
  await settle()
  expect(file.calls).toEqual(['write', 'sync'])
  expect(durable).toBe(false)
  file.letGo()
  await append
  expect(file.texts(file.synced)).toEqual(['a'])
})

test('appends of one turn share a batch, and those that come during a sync share the next', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  file.hold()
  const first = [journal.append(problem('a')), journal.append(problem('b'))]
  await settle()
  const second = ['c', 'd', 'e'].map((text) => journal.append(problem(text)))
  await settle()
  expect(file.texts()).toEqual(['a', 'b'])
  expect(file.calls).toEqual(['write', 'sync'])
  file.letGo()
  await Promise.all([...first, ...second])
  expect(file.calls).toEqual(['write', 'sync', 'write', 'sync'])
  expect(file.texts(file.synced)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('entries stand in the order of the calls, whatever waits for what', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('append', 'lazy', 'turn', 'await'), { maxLength: 40 }), async (steps) => {
      const file = new FakeFile()
      const journal = createAppender(file, { name: 'j' })
      const expected: string[] = []
      const waiting: Promise<void>[] = []
      for (const [index, step] of steps.entries()) {
        if (step === 'turn') await settle()
        else if (step === 'await') {
          await Promise.all(waiting)
          const lastDurable = expected.findLastIndex((text) => text.startsWith('append'))
          expect(file.texts(file.synced).slice(0, lastDurable + 1)).toEqual(expected.slice(0, lastDurable + 1))
        } else {
          expected.push(`${step} ${index}`)
          if (step === 'append') waiting.push(journal.append(problem(`append ${index}`)))
          else journal.appendLazy(problem(`lazy ${index}`))
        }
      }
      await journal.close()
      await Promise.all(waiting)
      expect(file.texts(file.synced)).toEqual(expected)
    }),
    { numRuns: 60 },
  )
})

test('a lazy entry is written without a sync of its own, and the next append or close makes it durable', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  journal.appendLazy(problem('a'))
  await settle()
  expect(file.calls).toEqual(['write'])
  await journal.append(problem('b'))
  expect(file.texts(file.synced)).toEqual(['a', 'b'])
  journal.appendLazy(problem('c'))
  await journal.close()
  expect(file.texts(file.synced)).toEqual(['a', 'b', 'c'])
  expect(file.calls).toEqual(['write', 'write', 'sync', 'write', 'sync', 'close'])
})

test.each(['write', 'sync'] as const)('a failed %s rejects all who wait and all who come later', async (what) => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: '.evals/r/journal.jsonl' })
  await journal.append(problem('safe'))
  file.hold()
  const first = what === 'sync' ? [journal.append(problem('a')), journal.append(problem('b'))] : []
  await settle()
  const cause = new Error('ENOSPC: no space left on device')
  if (what === 'sync') file.failSync = cause
  else file.failWrite = cause
  const all = [...first, journal.append(problem('c')), journal.append(problem('d'))]
  journal.appendLazy(problem('e'))
  const outcomes = Promise.allSettled(all)
  file.letGo()
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'JournalWriteError', cause } })
  }
  const calls = file.calls.length
  file.failSync = null
  file.failWrite = null
  const message = `cannot ${what} the journal .evals/r/journal.jsonl: ENOSPC: no space left on device. `
  await expect(journal.append(problem('late'))).rejects.toThrow(message)
  expect(() => journal.appendLazy(problem('late'))).toThrow(JournalWriteError)
  await expect(journal.close()).rejects.toThrow(message)
  expect(file.calls.slice(calls)).toEqual(['close'])
})

test('the failure of a lazy entry shows in the next append and in close', async () => {
  const file = new FakeFile()
  file.failWrite = new Error('EIO')
  const journal = createAppender(file, { name: 'j' })
  journal.appendLazy(problem('a'))
  await settle()
  await expect(journal.append(problem('b'))).rejects.toThrow('cannot write the journal j: EIO')
  await expect(journal.close()).rejects.toThrow('cannot write the journal j: EIO')
})

test('close waits for what is under way, closes once and lets nothing in afterwards', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  file.hold()
  const append = journal.append(problem('a'))
  await settle()
  const more = journal.append(problem('b'))
  const closed = Promise.all([journal.close(), journal.close()])
  await settle()
  expect(file.calls).not.toContain('close')
  await expect(journal.append(problem('late'))).rejects.toThrow(
    'the journal j is closed: a problem entry came too late',
  )
  file.letGo()
  await Promise.all([append, more, closed])
  expect(file.calls.filter((call) => call === 'close')).toHaveLength(1)
  expect(file.texts(file.synced)).toEqual(['a', 'b'])
})

test('a file that cannot be closed is said', async () => {
  const file = new FakeFile()
  file.failClose = new Error('EBADF')
  const journal = createAppender(file, { name: 'j' })
  await journal.append(problem('a'))
  await expect(journal.close()).rejects.toThrow('cannot close the journal j: EBADF')
})

test('an entry that JSON cannot say is refused and leaves no gap', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  const loop: { self?: unknown } = {}
  loop.self = loop
  const bad = { kind: 'problem', campaignId: null, code: 'x', text: loop } as unknown as JournalEntry
  await expect(journal.append(bad)).rejects.toThrow(TypeError)
  await journal.append(problem('a'))
  await journal.close()
  expect(file.texts()).toEqual(['a'])
})

test('a journal that goes on continues its numbers', async () => {
  const file = new FakeFile()
  const first = createAppender(file, { name: 'j' })
  await first.append(problem('a'))
  await first.close()
  const second = createAppender(file, { name: 'j', firstSeq: readJournal(file.data, 'j').entries.length })
  await second.append(problem('b'))
  expect(file.texts()).toEqual(['a', 'b'])
})

test('20,000 appends by 200 writers need a sync per round, not per append', async () => {
  const file: JournalFile & { syncs: number; pieces: Buffer[] } = {
    syncs: 0,
    pieces: [],
    async write(data) {
      this.pieces.push(data)
    },
    async sync() {
      this.syncs++
      await settle()
    },
    async close() {},
  }
  const journal = createAppender(file, { name: 'j' })
  await Promise.all(
    Array.from({ length: 200 }, async (_, writer) => {
      for (let i = 0; i < 100; i++) await journal.append(problem(`${writer}.${i}`))
    }),
  )
  await journal.close()
  expect(file.syncs).toBeLessThanOrEqual(200)
  const { entries } = readJournal(Buffer.concat(file.pieces), 'j')
  expect(entries).toHaveLength(20_000)
})

test('a huge batch goes out in pieces with one sync', async () => {
  const file = new FakeFile()
  const journal = createAppender(file, { name: 'j' })
  const big = 'x'.repeat(300_000)
  await Promise.all(Array.from({ length: 10 }, () => journal.append(problem(big))))
  expect(file.calls.filter((call) => call === 'write').length).toBeGreaterThan(1)
  expect(file.calls.filter((call) => call === 'sync')).toHaveLength(1)
  expect(file.texts()).toHaveLength(10)
})
