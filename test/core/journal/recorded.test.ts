import { expect, test } from 'vitest'
import type { JournalEntry } from '../../../src/core/journal/entry.ts'
import { encodeLine } from '../../../src/core/journal/line.ts'
import { journalLines } from '../../../src/core/journal/read.ts'
import { recordedRun } from '../../../src/core/journal/recorded.ts'
import { runEntry } from './crashing.ts'
import { planOf, someDigest } from './samples.ts'

const recorded = (entries: readonly JournalEntry[]) => {
  const bytes = Buffer.from(entries.map((entry, seq) => encodeLine(seq, entry)).join(''))
  return recordedRun(journalLines([bytes], 'journal.jsonl'), 'journal.jsonl')
}
const plan = (campaignId: string): JournalEntry => {
  return {
    kind: 'plan',
    plan: planOf(campaignId, ['a'], ['q'], 1),
    fingerprint: someDigest,
    selection: 'all',
    skipped: false,
  }
}
const problem = (code: string, text: string): JournalEntry => ({ kind: 'problem', campaignId: null, code, text })

test('which file was loaded, and which problem was found first, is not seen in what is told', () => {
  const found = [
    problem('file_not_loaded', 'evals/b.eval.ts did not load'),
    problem('bail', 'a test failed'),
    problem('file_not_loaded', 'evals/a.eval.ts did not load'),
  ]
  const one = recorded([runEntry('r'), plan('triage'), plan('labels'), ...found])
  const other = recorded([runEntry('r'), plan('labels'), plan('triage'), ...found.toReversed()])
  expect(other.problems).toEqual(one.problems)
  expect(one.problems.map(({ text }) => text)).toEqual([
    'a test failed',
    'evals/a.eval.ts did not load',
    'evals/b.eval.ts did not load',
  ])
  const ids = [one, other].map(({ campaigns }) => campaigns.map(({ plan: of }) => of.campaignId))
  expect(ids).toEqual([
    ['labels', 'triage'],
    ['labels', 'triage'],
  ])
})
