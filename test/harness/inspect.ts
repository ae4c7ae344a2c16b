import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type DerivedRun, deriveRun } from '../../src/core/journal/derive.ts'
import type { EntryOf, JournalEntry } from '../../src/core/journal/entry.ts'
import { readJournal } from '../../src/core/journal/read.ts'
import type { RunRecord } from '../../src/core/record/record.ts'
import { newestRun } from './run-vitest.ts'

export interface Inspected {
  readonly dir: string
  readonly records: readonly RunRecord[]
  readonly reports: Awaited<ReturnType<typeof newestRun>>['reports']
  readonly derived: DerivedRun
  readonly entries: readonly JournalEntry[]
  /** Records of one campaign. */
  of(campaignId: string): readonly RunRecord[]
  /** The only record of a campaign's cell. */
  cell(campaignId: string, scenarioId: string): RunRecord
}

/**
 * The newest run of a project, after checking what holds for every run: the journal is readable, each cell that was to
 * run has exactly one settled line, and records.jsonl is what derives from it.
 */
export async function inspectRun(root: string): Promise<Inspected> {
  const { dir, records, reports } = await newestRun(root)
  const path = join(dir, 'journal.jsonl')
  const { entries, repaired } = readJournal(await readFile(path), path)
  expect(repaired).toBeNull()
  const derived = deriveRun(entries)
  const settled = entries.filter((entry): entry is EntryOf<'settled'> => entry.kind === 'settled')
  const ids = settled.map(({ record }) => record.cellId)
  expect(new Set(ids).size, 'a cell was settled twice').toBe(ids.length)
  const campaigns = [...derived.campaigns.values()]
  const due = campaigns.map(({ plan, selection, skipped }) => {
    if (skipped) return 0
    return selection === 'all' ? plan.variants.length * plan.scenarios.length * plan.seeds.length : selection.length
  })
  expect(campaigns.map((campaign) => campaign.records.length)).toEqual(due)
  expect(campaigns.flatMap((campaign) => campaign.unsettled)).toEqual([])
  expect(byId(campaigns.flatMap((campaign) => campaign.records))).toEqual(byId(records))
  expect(derived.strays.records).toEqual([])
  expect(derived.end).not.toBeNull()
  return {
    dir,
    records,
    reports,
    derived,
    entries,
    of: (campaignId) => records.filter((record) => record.campaignId === campaignId),
    cell(campaignId, scenarioId) {
      const found = records.filter((record) => record.campaignId === campaignId && record.scenarioId === scenarioId)
      expect(found, `records of ${campaignId} > ${scenarioId}`).toHaveLength(1)
      return found[0] as RunRecord
    },
  }
}

const byId = (records: readonly RunRecord[]) => records.toSorted((a, b) => (a.cellId < b.cellId ? -1 : 1))

/** What no run may print: frames of this package, and values that somebody forgot. */
export function expectCleanOutput(output: string): void {
  const bad = output
    .split('\n')
    .filter((line) => /\bdist\/(core|plugin|reporter)\/|\bundefined\b|\[object Object\]|\bNaN ms\b/.test(line))
  expect(bad).toEqual([])
}

/** States of tests by full name, from the output of `--reporter=json`. */
export function jsonStates(json: string): Readonly<Record<string, string>> {
  const { testResults } = JSON.parse(json) as {
    testResults: { assertionResults: { ancestorTitles: string[]; title: string; status: string }[] }[]
  }
  return Object.fromEntries(
    testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ ancestorTitles, title, status }) => [[...ancestorTitles, title].join(' > '), status]),
    ),
  )
}
