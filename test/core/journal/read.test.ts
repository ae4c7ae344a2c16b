import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/core/journal/entry.ts'
import { encodeLine, JOURNAL_SCHEMA } from '../../../src/core/journal/line.ts'
import { JournalDamagedError, readJournal } from '../../../src/core/journal/read.ts'
import { anyEntry, planOf, recordOf, someDigest } from './samples.ts'

const fileOf = (entries: readonly JournalEntry[]): Buffer =>
  Buffer.from(entries.map((entry, seq) => encodeLine(seq, entry)).join(''))

const at = '2026-01-02T03:04:05.000Z'
const entries: readonly JournalEntry[] = [
  {
    kind: 'run',
    runId: 'r',
    project: 'evals',
    policy: 'live',
    policyReason: 'EVALS_MODE=live',
    commit: { sha: null, dirty: true },
    versions: { node: '20.20.2' },
    startedAt: at,
  },
  {
    kind: 'plan',
    plan: planOf('triage', ['a', 'b'], ['refund'], 1),
    fingerprint: someDigest,
    selection: 'all',
    skipped: false,
  },
  { kind: 'admitted', cellId: '0123456789abcdef', attempt: 1, lane: null, at },
  { kind: 'settled', record: recordOf('triage', 'a', 'refund', 0) },
  {
    kind: 'settled',
    record: recordOf('triage', 'b', 'refund', 0, { output: { digest: someDigest, preview: 'zürich 💶\u2028' } }),
  },
  { kind: 'end', reason: 'finished' },
]

const whole = { repaired: null, fence: 1, fencedOff: 0 }

function damageOf(bytes: Buffer): JournalDamagedError {
  try {
    readJournal(bytes, '.evals/r/journal.jsonl')
  } catch (error) {
    if (error instanceof JournalDamagedError) return error
    throw error
  }
  throw new Error('the damage went unseen')
}

test('every entry of every kind comes back as it was written', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 8 }), (written) => {
      const bytes = fileOf(written)
      expect(readJournal(bytes, 'j')).toEqual({ entries: written, intactBytes: bytes.length, ...whole })
    }),
    { numRuns: 300 },
  )
})

test('an output keeps keys that mean something to JavaScript', () => {
  const output = JSON.parse('{"__proto__":{"a":1},"constructor":null}')
  const entry: JournalEntry = { kind: 'subject-settled', cellId: '0123456789abcdef', attempt: 1, output, at }
  const [read] = readJournal(fileOf([entry]), 'j').entries
  expect(JSON.stringify(read)).toBe(JSON.stringify(entry))
})

test('an empty file is a journal without entries', () => {
  expect(readJournal(new Uint8Array(), 'j')).toEqual({ entries: [], intactBytes: 0, ...whole })
})

test('cut at any byte of its last three lines the rest is read and the loss reported', () => {
  const bytes = fileOf(entries)
  const ends = entries.map((_, last) => fileOf(entries.slice(0, last + 1)).length)
  for (let length = ends[2] ?? 0; length <= bytes.length; length++) {
    const ended = ends.filter((end) => end <= length)
    const intactBytes = ended.at(-1) ?? 0
    expect(readJournal(bytes.subarray(0, length), 'j')).toEqual({
      ...whole,
      entries: entries.slice(0, ended.length),
      intactBytes,
      repaired: length === intactBytes ? null : { bytesDropped: length - intactBytes },
    })
  }
})

test('a repaired journal goes on where it was cut', () => {
  const bytes = fileOf(entries)
  const torn = readJournal(bytes.subarray(0, bytes.length - 5), 'j')
  const more = encodeLine(torn.entries.length, { kind: 'end', reason: 'interrupted' })
  const again = readJournal(Buffer.concat([bytes.subarray(0, torn.intactBytes), Buffer.from(more)]), 'j')
  expect(again.entries.at(-1)).toEqual({ kind: 'end', reason: 'interrupted' })
  expect(again.repaired).toBeNull()
})

test('any flipped bit before the last line is found, with its line', () => {
  const bytes = fileOf(entries)
  const lastLine = fileOf(entries.slice(0, -1)).length
  let line = 1
  for (let at = 0; at < lastLine; at++) {
    const value = bytes[at] ?? 0
    // All eight bits at the places where structure is, one bit elsewhere: the sweep stays short.
    const bits = at % 7 === 0 || value === 0x0a ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8]
    for (const bit of bits) {
      bytes[at] = value ^ (1 << bit)
      expect(damageOf(bytes).line).toBe(line)
    }
    bytes[at] = value
    if (value === 0x0a) line++
  }
  expect(line).toBe(entries.length)
})

test('damage says file, line and what stands before it', () => {
  const bytes = fileOf(entries)
  const start = fileOf(entries.slice(0, 4)).length
  bytes[start + 100] = 0
  const error = damageOf(bytes)
  expect(error.message).toBe(
    '.evals/r/journal.jsonl:5: the line is damaged: its checksum does not match. Before it 4 entries with 1 cell ' +
      `records are intact; the first ${start} bytes of the file keep them`,
  )
  expect(error.intact).toEqual({ entries: 4, records: 1, bytes: start })
  expect(readJournal(bytes.subarray(0, error.intact.bytes), 'j').entries).toEqual(entries.slice(0, 4))
})

test.each<[string, (lines: string[]) => string[], number, RegExp]>([
  ['a missing line', (lines) => lines.toSpliced(2, 1), 3, /it has number 3 where 2 is due/],
  ['a line twice', (lines) => lines.toSpliced(2, 0, lines[2] ?? ''), 4, /it has number 2 where 3 is due/],
  [
    'swapped lines',
    (lines) => [lines[1] ?? '', lines[0] ?? '', ...lines.slice(2)],
    1,
    /it has number 1 where 0 is due/,
  ],
  ['an empty line', (lines) => lines.toSpliced(1, 0, '\n'), 2, /it has no checksum/],
  [
    'foreign text',
    (lines) => lines.toSpliced(1, 1, '{"hello":"world, this is not a journal line"}\n'),
    2,
    /it has no checksum/,
  ],
])('%s is damage', (_, change, line, why) => {
  const lines = entries.map((entry, seq) => encodeLine(seq, entry))
  const error = damageOf(Buffer.from(change(lines).join('')))
  expect(error.line).toBe(line)
  expect(error.message).toMatch(why)
})

test('an entry of the wrong shape is named by its path, even in the last line', () => {
  const record = { ...recordOf('triage', 'a', 'refund', 0), status: 'fine' }
  const wrong = JSON.parse(JSON.stringify({ kind: 'settled', record }))
  expect(damageOf(fileOf([wrong])).message).toMatch(/^\.evals\/r\/journal\.jsonl:1: .*not valid at record\.status: /)
  const unknown = JSON.parse('{"kind":"rumour"}')
  expect(damageOf(fileOf([unknown])).message).toMatch(/not valid at kind: /)
})

test('a line says its schema, and one of another schema is refused by name', async () => {
  const line = encodeLine(0, { kind: 'end', reason: 'finished' })
  expect(JSON.parse(line)).toEqual({
    schema: JOURNAL_SCHEMA,
    seq: 0,
    entry: { kind: 'end', reason: 'finished' },
    crc: expect.stringMatching(/^[0-9a-f]{8}$/),
  })
  const { crc32 } = await import('node:zlib')
  const body = '{"schema":"vitest-campaign/journal@2","seq":0,"entry":{}'
  const newer = `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`
  expect(damageOf(Buffer.from(newer)).message).toMatch(
    'it has schema "vitest-campaign/journal@2", and this version reads vitest-campaign/journal@1',
  )
})
