import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellIdOf } from '../../../src/core/campaign/identity.ts'
import { deriveRun } from '../../../src/core/journal/derive.ts'
import type { JournalEntry } from '../../../src/core/journal/entry.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { planOf, recordOf, someDigest } from './samples.ts'

const at = '2026-01-02T03:04:05.000Z'
const settled = (record: RunRecord): JournalEntry => ({ kind: 'settled', record })
const planned = (campaignId: string, variants: readonly string[], scenarios: readonly string[], seeds: number) =>
  ({
    kind: 'plan',
    plan: planOf(campaignId, variants, scenarios, seeds),
    fingerprint: someDigest,
    selection: 'all',
    skipped: false,
  }) satisfies JournalEntry
const cell = (campaignId: string, variantId: string, scenarioId: string, seed: number) => ({
  campaignId,
  variantId,
  scenarioId,
  seed,
})
const admitted = (cellId: string, attempt = 1): JournalEntry => ({
  kind: 'admitted',
  cellId,
  attempt,
  lane: 'openai/gpt-5-mini',
  at,
})

const nameOf = (record: RunRecord) => `${record.seed} ${record.scenarioId} ${record.variantId}`

test('the records of each campaign come in plan order, whatever order they settled in', () => {
  const plan = planned('triage', ['v2', 'v1'], ['q2', 'q1'], 2)
  const records: RunRecord[] = []
  for (const seed of [0, 1]) {
    for (const scenario of ['q2', 'q1']) {
      for (const variant of ['v2', 'v1']) records.push(recordOf('triage', variant, scenario, seed))
    }
  }
  const others = [recordOf('other', 'v', 'q', 0)]
  fc.assert(
    fc.property(fc.shuffledSubarray([...records, ...others], { minLength: 9 }), (shuffled) => {
      const derived = deriveRun([plan, planned('other', ['v'], ['q'], 1), ...shuffled.map(settled)])
      expect([...derived.campaigns.keys()]).toEqual(['triage', 'other'])
      expect(derived.campaigns.get('triage')?.records.map(nameOf)).toEqual(records.map(nameOf))
      expect(derived.campaigns.get('other')?.records).toEqual(others)
    }),
  )
})

test('the last record of a cell counts; a second one of the same attempt is listed', () => {
  const first = recordOf('triage', 'v', 'q', 0, { attempts: 1, score: 0 })
  const again = recordOf('triage', 'v', 'q', 0, { attempts: 2, score: 0.5 })
  const twice = recordOf('triage', 'v', 'q', 0, { attempts: 2, score: 1 })
  const derived = deriveRun([planned('triage', ['v'], ['q'], 1), ...[first, again, twice].map(settled)])
  const campaign = derived.campaigns.get('triage')
  expect(campaign?.records).toEqual([twice])
  expect(campaign?.duplicates).toEqual([twice])
})

test('a retry is no duplicate', () => {
  const derived = deriveRun([
    planned('triage', ['v'], ['q'], 1),
    settled(recordOf('triage', 'v', 'q', 0, { attempts: 1 })),
    settled(recordOf('triage', 'v', 'q', 0, { attempts: 2 })),
  ])
  expect(derived.campaigns.get('triage')?.duplicates).toEqual([])
})

test('a cell admitted and never settled is listed with what its subject gave', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((variant) => cell('triage', variant, 'q', 0))
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four cells')
  const derived = deriveRun([
    planned('triage', ['a', 'b', 'c', 'd'], ['q'], 1),
    admitted(cellIdOf(a)),
    { kind: 'subject-settled', cellId: cellIdOf(a), attempt: 1, output: null, at },
    admitted(cellIdOf(b)),
    admitted(cellIdOf(c)),
    settled(recordOf('triage', 'c', 'q', 0)),
    // A second attempt that never settled is open although the first one did, and the first one's output is not its.
    admitted(cellIdOf(d)),
    { kind: 'subject-settled', cellId: cellIdOf(d), attempt: 1, output: 'first', at },
    settled(recordOf('triage', 'd', 'q', 0)),
    admitted(cellIdOf(d), 2),
  ])
  const open = { lane: 'openai/gpt-5-mini', admittedAt: at }
  expect(derived.campaigns.get('triage')?.unsettled).toEqual([
    { cellId: cellIdOf(a), cell: a, attempt: 1, output: { value: null }, ...open },
    { cellId: cellIdOf(b), cell: b, attempt: 1, output: null, ...open },
    { cellId: cellIdOf(d), cell: d, attempt: 2, output: null, ...open },
  ])
  expect(derived.end).toBeNull()
})

test('what belongs to no planned cell is kept apart', () => {
  const otherVariant = recordOf('triage', 'unknown', 'q', 0)
  const otherCampaign = recordOf('gone', 'v', 'q', 0)
  const derived = deriveRun([
    planned('triage', ['v'], ['q'], 1),
    settled(otherCampaign),
    settled(otherVariant),
    admitted('00000000000000ff'),
  ])
  expect(derived.campaigns.get('triage')).toMatchObject({ records: [], unsettled: [] })
  expect(derived.strays.records).toEqual([otherVariant, otherCampaign])
  expect(derived.strays.unsettled).toMatchObject([{ cellId: '00000000000000ff', cell: null }])
})

test('run, problems, verdict and end are found', () => {
  const run: JournalEntry = {
    kind: 'run',
    runId: 'r',
    project: 'evals',
    policy: 'replay',
    policyReason: 'CI',
    commit: { sha: null, dirty: false },
    versions: {},
    startedAt: at,
  }
  const verdict: JournalEntry = {
    kind: 'verdict',
    campaignId: 'triage',
    outcome: 'regress',
    word: 'FAIL',
    reportDigest: someDigest,
  }
  const derived = deriveRun([
    run,
    planned('triage', ['v'], ['q'], 1),
    { kind: 'problem', campaignId: null, code: 'unattributed_call', text: 'a call without a cell' },
    { kind: 'problem', campaignId: 'triage', code: 'worker_lost', text: 'it died' },
    verdict,
    { kind: 'end', reason: 'interrupted' },
  ])
  expect(derived.run).toEqual(run)
  expect(derived.problems).toEqual([{ code: 'unattributed_call', text: 'a call without a cell' }])
  expect(derived.campaigns.get('triage')).toMatchObject({
    problems: [{ code: 'worker_lost', text: 'it died' }],
    verdict,
  })
  expect(derived.end).toBe('interrupted')
  expect(deriveRun([])).toMatchObject({ run: null, end: null, problems: [] })
})
