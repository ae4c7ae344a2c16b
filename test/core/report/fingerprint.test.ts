import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { agentProfileOf } from '../../../src/core/record/agent-profile.ts'
import { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import { type Given, idDigest, inputOf, planOf, recordsOf } from './records.ts'

describe('fingerprints', () => {
  const plan = planOf({ scenarios: 6, seeds: 2 })
  const records = recordsOf(plan, (_, { scenario }) => scenario / 10)
  const base = buildReport(inputOf(plan, records))

  it('the report’s is the digest of the report without it', () => {
    const { report: own, ...fingerprint } = base.fingerprint
    expect(own).toBe(digestOf({ ...base, fingerprint }))
  })

  it.each<Partial<RunRecord>>([
    { agentProfile: agentProfileOf({ id: 'agent@1', source: { kind: 'file', profile: {} } }) },
    { attempts: 2 },
    { calls: { subject: 1, judge: 0, setup: 0, retried: 1, mocked: 0 } },
    { campaignId: 'other' },
    { cellId: '0123456789abcdef' },
    { commit: { sha: null, dirty: true } },
    { configHash: idDigest('other') },
    { cost: { usd: 0.0005, provenance: 'observed', subjectUsd: 0.0005, judgeUsd: 0 } },
    { failure: { class: 'hallucination' } },
    { family: 'letters' },
    { fingerprint: idDigest('other') },
    { integrity: { ok: true, issues: [{ code: 'model_alias', severity: 'warn', message: 'm' }] } },
    { judges: { tone: { model: null, digest: idDigest('judge') } } },
    { lane: null },
    { metrics: { steps: 3 } },
    { model: { requested: ['gpt-5-mini'], served: ['gpt-5'] } },
    { output: { digest: idDigest('other'), preview: 'billing' } },
    { pass: true },
    { promptHash: null },
    { provenance: 'replayed' },
    { reason: 'provider-fault' },
    { scenarioDigest: idDigest('other') },
    { scenarioId: 'other' },
    { score: 0.55 },
    { score: Number.NaN },
    { scorerDigest: idDigest('other') },
    { scores: { label: { value: 0, pass: false, role: 'code', rationale: 'fine' } } },
    { seed: 7 },
    { split: 'dev' },
    { status: 'infra_error' },
    { tags: { team: 'search' } },
    { tokens: { input: 120, output: 20, reasoning: 1, cacheRead: 0, cacheWrite: 0, known: true } },
    { variantDigest: idDigest('other') },
    { variantId: 'other' },
  ])('the records’ covers %j', (parts) => {
    const [first, ...rest] = records
    if (first === undefined) throw new Error('no records')
    const changed = buildReport(inputOf(plan, [{ ...first, ...parts }, ...rest]))
    expect(changed.fingerprint.records).not.toBe(base.fingerprint.records)
  })

  it('the records’ leaves out run id and clocks, and the order of keys', () => {
    const later = records.map((record) => {
      const entries = Object.entries({
        ...record,
        runId: 'other',
        startedAt: null,
        recordedAt: '2031-01-01T00:00:00.000Z',
        queueMs: 99,
        wallMs: 12_345,
        providerMs: 9,
        tokens: { known: true, cacheWrite: 0, cacheRead: 0, reasoning: 0, output: 20, input: 120 },
      })
      return RunRecord.parse(Object.fromEntries(entries.reverse()))
    })
    expect(buildReport(inputOf(plan, later)).fingerprint.records).toBe(base.fingerprint.records)
  })
})

describe('records for tests', () => {
  it.each<[Given]>([
    [1],
    [{ status: 'task_fail' }],
    [{ status: 'not_run', reason: 'budget' }],
    [{ status: 'infra_error' }],
  ])('are valid records: %j', (given) => {
    const plan = planOf({ scenarios: [{ id: 'a', family: 'f' }], seeds: 2 })
    for (const record of recordsOf(plan, () => given)) expect(RunRecord.parse(record)).toEqual(record)
  })
})
