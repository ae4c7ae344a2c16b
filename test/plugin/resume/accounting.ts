import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { EarlierSpend, JournalEntry } from '../../../src/core/journal/entry.ts'
import { readJournal } from '../../../src/core/journal/read.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import type { CountingProvider } from './provider.ts'
import { microUsd } from './provider.ts'

export async function journalOf(dir: string): Promise<readonly JournalEntry[]> {
  const path = join(dir, 'journal.jsonl')
  return readJournal(await readFile(path), path).entries
}

/** The newest run's folder, whatever became of it. */
export async function newestDir(root: string): Promise<string> {
  return join(root, '.evals', (await readFile(join(root, '.evals/latest'), 'utf8')).trim())
}

export const settledIn = (entries: readonly JournalEntry[]): RunRecord[] =>
  entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.record] : []))

export const spendsIn = (entries: readonly JournalEntry[]): EarlierSpend[] =>
  entries.flatMap((entry) => (entry.kind === 'resumed' ? entry.spends : []))

/** All that the provider charged stands in the run: in its records, or as spent without a result, or as unknown. */
export function expectAccounted(entries: readonly JournalEntry[], provider: CountingProvider): void {
  const spends = spendsIn(entries)
  const known =
    settledIn(entries).reduce((sum, { cost }) => sum + microUsd(cost.usd), 0) +
    spends.reduce((sum, spend) => sum + spend.microUsd, 0)
  const unknown = spends.reduce((sum, spend) => sum + spend.unknownCalls, 0)
  const bound = spends.reduce((sum, spend) => sum + (spend.boundMicroUsd ?? Number.NaN), 0)
  const charged = provider.charged()
  expect(charged, 'less was paid than the run says').toBeGreaterThanOrEqual(known)
  expect(charged, 'more was paid than the run knows of').toBeLessThanOrEqual(known + bound)
  if (unknown === 0) expect(charged).toBe(known)
}

/** A record without what a cut changes. */
export function lasting({ runId: _r, startedAt: _s, queueMs: _q, wallMs: _w, providerMs: _p, ...rest }: RunRecord) {
  return { ...rest, attempts: null, provenance: null }
}

export const byCell = (records: readonly RunRecord[]): RunRecord[] =>
  records.toSorted((a, b) => (a.cellId < b.cellId ? -1 : 1))
