import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import type { IntegrityIssue } from '../../../src/core/integrity/codes.ts'
import { agentProfileOf } from '../../../src/core/record/agent-profile.ts'
import { buildRecord, neverRan, type SubjectOutcome } from '../../../src/core/record/build.ts'
import { describeOutput } from '../../../src/core/record/output.ts'
import { InvalidRecordError, parseRecord } from '../../../src/core/record/parse.ts'
import { type CELL_STATUSES, STATUS_REASONS } from '../../../src/core/record/status.ts'
import { anyCalls, call, cell, facts, plan, reading, run } from './cell-facts.ts'

const profile = agentProfileOf({ id: 'x@1', source: { kind: 'file', profile: {} } })
const broken: IntegrityIssue = { code: 'replay_miss', severity: 'error', message: 'no recording' }
const failed: SubjectOutcome = { kind: 'failed', status: 'task_fail', failure: { class: 'timeout', mode: 'deadline' } }
const fault: SubjectOutcome = {
  kind: 'failed',
  status: 'infra_error',
  reason: 'provider-fault',
  failure: { class: 'integration_provider_failure', mode: 'overloaded' },
}

describe('a record', () => {
  test('of a scored cell says everything the wire said', () => {
    const record = buildRecord(facts({ metrics: { steps: 2 }, tags: { lang: 'en' }, agentProfile: profile }))
    expect(parseRecord(record, 'record')).toEqual(record)
    expect(record).toMatchObject({
      runId: 'run-1',
      campaignId: 'triage',
      cellId: cell.cellId,
      variantId: 'current',
      scenarioId: 'refund',
      family: 'money',
      seed: 0,
      lane: 'openai/gpt-5-mini',
      status: 'scored',
      score: 1,
      pass: true,
      failure: null,
      output: { preview: 'billing', digest: digestOf('billing') },
      model: { requested: ['gpt-5-mini'], served: ['gpt-5-mini-2025-08-07'] },
      promptHash: digestOf(reading.prompt),
      recordedAt: null,
      queueMs: 3,
      wallMs: 120,
      providerMs: 100,
      tokens: { input: 10, output: 5, reasoning: 2, cacheRead: 4, cacheWrite: null, known: true },
      cost: { usd: 0.0015, provenance: 'estimated', subjectUsd: 0.0015, judgeUsd: 0 },
      calls: { subject: 1, judge: 0, setup: 0, retried: 0, mocked: 0 },
      provenance: 'live',
      integrity: { ok: true, issues: [] },
      metrics: { steps: 2 },
      tags: { team: 'a', lang: 'en' },
      agentProfile: profile,
    })
    expect(record).not.toHaveProperty('reason')
  })

  test('a count of −0 is 0: JSON has no other', () => {
    const [call] = facts().calls
    if (call?.reading?.usage == null) throw new Error('the sample call reports usage')
    const usage = { ...call.reading.usage, input: -0, cacheRead: 0, cacheWrite: 0 }
    const record = buildRecord(facts({ calls: [{ ...call, reading: { ...call.reading, usage } }] }))
    expect(Object.is(record.tokens.input, 0)).toBe(true)
  })

  test('satisfies the schema whatever the calls say', () => {
    const outcomes = [facts().outcome, failed, fault]
    const issues: IntegrityIssue[][] = [[], [broken]]
    fc.assert(
      fc.property(anyCalls, fc.constantFrom(...outcomes), fc.constantFrom(...issues), (calls, outcome, found) => {
        const record = buildRecord(facts({ calls, outcome, issues: found }))
        expect(parseRecord(JSON.parse(JSON.stringify(record)), 'record')).toEqual(record)
      }),
    )
  })

  test('satisfies the schema for every way not to run', () => {
    for (const status of ['not_run', 'skipped', 'infra_error'] as const) {
      for (const reason of STATUS_REASONS) {
        for (const more of [{}, { message: 'x'.repeat(5000) }, { attempts: 2, queueMs: 4 }]) {
          const record = neverRan(run, plan, cell, { status, reason, ...more })
          expect(parseRecord(JSON.parse(JSON.stringify(record)), 'record')).toEqual(record)
          expect(record).toMatchObject({ status, reason, score: null, pass: null, output: null })
        }
      }
    }
  })
})

describe('the status', () => {
  const none = { value: null, pass: null, role: 'code' as const }
  test.each<[string, Parameters<typeof facts>[0], (typeof CELL_STATUSES)[number]]>([
    ['an output and a score', {}, 'scored'],
    ['a score of 0', { scores: { label: { value: 0, pass: false, role: 'code' } } }, 'scored'],
    ['the subject failed', { outcome: failed, scores: {} }, 'task_fail'],
    ['a provider fault', { outcome: fault, scores: {} }, 'infra_error'],
    ['the primary threw', { scores: { label: { ...none, error: 'boom' } } }, 'judge_error'],
    ['the primary has no opinion', { scores: { label: none } }, 'judge_error'],
    ['the primary is missing', { scores: { tone: { value: 1, pass: null, role: 'judge' } } }, 'judge_error'],
    [
      'another scorer threw',
      { scores: { ...facts().scores, tone: { ...none, role: 'judge', error: 'boom' } } },
      'scored',
    ],
    ['a failed check', { issues: [broken] }, 'capture_error'],
    ['a failed check beside a failed subject', { outcome: failed, issues: [broken] }, 'capture_error'],
    ['a failed check beside a fault', { outcome: fault, issues: [broken] }, 'capture_error'],
    ['a warning', { issues: [{ code: 'usage_missing', severity: 'warn', message: 'x' }] }, 'scored'],
  ])('%s', (_, changes, status) => {
    const record = buildRecord(facts(changes))
    expect(record.status).toBe(status)
    expect(record.score === null).toBe(status !== 'scored')
    expect(record.integrity.ok).toBe(status !== 'capture_error')
  })

  test('a capture error keeps the reason of nothing else', () => {
    expect(buildRecord(facts({ outcome: fault })).reason).toBe('provider-fault')
    expect(buildRecord(facts({ outcome: fault, issues: [broken] }))).not.toHaveProperty('reason')
  })
})

describe('tokens', () => {
  const tokens = (...calls: ReturnType<typeof call>[]) => buildRecord(facts({ calls })).tokens
  const silent = call({}, { usage: null, usageMissing: 'not-reported' })

  test('are summed over subject and judge', () => {
    expect(tokens(call(), call({ role: 'judge' }))).toEqual({
      input: 20,
      output: 10,
      reasoning: 4,
      cacheRead: 8,
      cacheWrite: null,
      known: true,
    })
  })
  test('are a lower bound beside an answer without usage', () => {
    expect(tokens(call(), silent)).toMatchObject({ input: 10, known: false })
  })
  test('are null when nobody reported any, never 0', () => {
    expect(tokens(silent)).toMatchObject({ input: null, output: null, known: false })
    expect(tokens()).toMatchObject({ input: null, output: null, known: true })
  })
  test('an error answer has none to report', () => {
    const refused = call(
      {},
      { usage: null, usageMissing: 'error-response', error: { kind: 'rate_limit', message: '' } },
    )
    expect(tokens(call(), refused)).toMatchObject({ input: 10, known: true })
  })
  test('a lost answer should have reported some', () => {
    const lost = call({}, { usage: null, usageMissing: 'incomplete', error: { kind: 'other', message: 'ECONNRESET' } })
    expect(tokens(call(), lost)).toMatchObject({ input: 10, known: false })
  })
  test('a part beyond its whole is dropped', () => {
    const usage = { input: 5, output: 3, reasoning: 9, cacheRead: 4, cacheWrite: 2 }
    expect(tokens(call({}, { usage }))).toMatchObject({ input: 5, output: 3, reasoning: null, cacheRead: null })
  })
  test('mocked answers do not count', () => {
    expect(tokens(call(), call({ source: 'mocked' }))).toMatchObject({ input: 10 })
  })
})

describe('cost', () => {
  const cost = (...calls: ReturnType<typeof call>[]) => buildRecord(facts({ calls })).cost
  const unpriced = { cost: { microUsd: null, provenance: 'uncaptured' as const } }

  test('is split by role and summed in micro-USD', () => {
    const tenth = { cost: { microUsd: 100_000, provenance: 'observed' as const } }
    const judge = { role: 'judge' as const, cost: { microUsd: 200_000, provenance: 'observed' as const } }
    expect(cost(call(tenth), call(judge))).toEqual({
      usd: 0.3,
      subjectUsd: 0.1,
      judgeUsd: 0.2,
      provenance: 'observed',
    })
  })
  test('is unknown as soon as one call is', () => {
    expect(cost(call(), call({ role: 'judge', ...unpriced }))).toEqual({
      usd: null,
      subjectUsd: 0.0015,
      judgeUsd: null,
      provenance: 'uncaptured',
    })
  })
  test('a refused request costs nothing', () => {
    const refused = {
      usage: null,
      usageMissing: 'error-response' as const,
      error: { kind: 'auth' as const, message: '' },
    }
    expect(cost(call(), call(unpriced, refused)).usd).toBe(0.0015)
  })
  test('a cell without any call cost nothing', () => {
    expect(cost()).toMatchObject({ usd: 0, provenance: 'observed' })
  })
  test('behind a host that is no provider, or with capture off, the bill is unknown', () => {
    expect(cost(call({ reading: null }))).toMatchObject({ usd: null, subjectUsd: null, provenance: 'uncaptured' })
    const off = buildRecord(facts({ calls: [], plan: { ...plan, capture: 'off' } }))
    expect(off.cost).toMatchObject({ usd: null, provenance: 'uncaptured' })
    expect(off.tokens.known).toBe(false)
  })
  test('a cell that was started and lost has an unknown bill, one that never started none', () => {
    const why = { status: 'infra_error', reason: 'worker-lost' } as const
    expect(neverRan(run, plan, cell, { ...why, attempts: 1 })).toMatchObject({
      cost: { usd: null, provenance: 'uncaptured' },
      tokens: { known: false },
    })
    expect(neverRan(run, plan, cell, why)).toMatchObject({ cost: { usd: 0 }, tokens: { known: true } })
  })
})

describe('where the answers came from', () => {
  const old = call({ source: 'replayed', startedAt: '2025-01-01T00:00:00.000Z' })
  const older = call({ source: 'replayed', startedAt: '2024-01-01T00:00:00.000Z' })
  const mocked = call({ source: 'mocked', reading: null })

  test.each([
    ['live', [call(), mocked], 'live', 120, null],
    ['replayed', [old, older, mocked], 'replayed', null, '2024-01-01T00:00:00.000Z'],
    ['mixed', [call(), old], 'mixed', null, '2025-01-01T00:00:00.000Z'],
    ['nothing', [], 'live', 120, null],
  ] as const)('%s', (_, calls, provenance, wallMs, recordedAt) => {
    expect(buildRecord(facts({ calls }))).toMatchObject({ provenance, wallMs, recordedAt })
  })

  test('calls are counted by role', () => {
    const calls = [
      call({ retried: 2 }),
      call({ role: 'judge' }),
      call({ role: 'setup' }),
      call({ reading: null }),
      mocked,
    ]
    expect(buildRecord(facts({ calls })).calls).toEqual({ subject: 1, judge: 1, setup: 1, retried: 2, mocked: 1 })
  })

  test('provider time is null without provider calls, and where that of one is not known', () => {
    expect(buildRecord(facts({ calls: [call({ reading: null })] })).providerMs).toBeNull()
    expect(buildRecord(facts({ calls: [old, older] })).providerMs).toBe(200)
    expect(buildRecord(facts({ calls: [old, { ...older, totalMs: null }] })).providerMs).toBeNull()
  })
})

test('the lane is the first one on the wire, else the declared one', () => {
  const judge = call({ role: 'judge' }, { lane: 'anthropic/judge' })
  expect(buildRecord(facts({ calls: [judge, call()] })).lane).toBe('openai/gpt-5-mini')
  expect(buildRecord(facts({ calls: [judge] })).lane).toBe('declared/m')
})

test('a prompt without canonical form has no hash', () => {
  expect(buildRecord(facts({ calls: [call({}, { prompt: '\ud800' })] })).promptHash).toBeNull()
  expect(buildRecord(facts({ calls: [call({}, { prompt: null })] })).promptHash).toBeNull()
})

test('a judge is named where its model is one', () => {
  const scores = { ...facts().scores, tone: { value: 1, pass: null, role: 'judge' as const } }
  const judge = (model: string) => call({ role: 'judge' }, { requestedModel: model })
  const judgeOf = (...calls: ReturnType<typeof call>[]) => buildRecord(facts({ scores, calls })).judges.tone?.model
  expect(judgeOf(judge('a'), judge('a'))).toBe('a')
  expect(judgeOf(judge('a'), judge('b'))).toBeNull()
  expect(buildRecord(facts()).judges).toEqual({})
})

describe('an output', () => {
  test('is previewed as text or as JSON, cut between characters', () => {
    expect(describeOutput({ b: 1, a: [2] }).preview).toBe('{"a":[2],"b":1}')
    expect(describeOutput(null).preview).toBe('null')
    const emoji = `${'x'.repeat(499)}😀`
    expect(describeOutput(emoji).preview).toBe('x'.repeat(499))
    expect(describeOutput('x'.repeat(500)).preview).toHaveLength(500)
    expect(describeOutput('😀'.repeat(300)).preview).toBe('😀'.repeat(250))
  })
  test.each<[unknown, string]>([
    [undefined, 'output'],
    [{ at: new Date(0) }, 'output.at'],
    [[1, Number.NaN], 'output[1]'],
    [() => 1, 'output'],
  ])('that is no JSON is refused (%#)', (output, path) => {
    expect(() => describeOutput(output)).toThrow(expect.objectContaining({ name: 'NotJsonError', path }))
  })
})

describe('a row that is no record', () => {
  const good = buildRecord(facts())
  test.each<[string, unknown, RegExp]>([
    [
      'another schema',
      { ...good, schema: 'vitest-campaign/run-record@2' },
      /records.jsonl:7: its schema is "vite.*@2"/,
    ],
    ['no object', 'x', /its schema is missing/],
    ['a missing field', { ...good, cost: undefined }, /records.jsonl:7: cost/],
    ['an unknown field', { ...good, extra: 1 }, /extra/],
    ['fractional tokens', { ...good, tokens: { ...good.tokens, input: 0.5 } }, /tokens\.input/],
    ['cached beyond input', { ...good, tokens: { ...good.tokens, cacheRead: 99 } }, /cannot exceed/],
    ['NaN', { ...good, score: Number.NaN }, /score/],
  ])('%s', (_, row, says) => {
    expect(() => parseRecord(row, 'records.jsonl:7')).toThrow(InvalidRecordError)
    expect(() => parseRecord(row, 'records.jsonl:7')).toThrow(says)
  })
})
