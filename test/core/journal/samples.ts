import fc from 'fast-check'
import { cellIdOf, type Digest, digestOf } from '../../../src/core/campaign/identity.ts'
import type { CampaignPlan } from '../../../src/core/campaign/plan.ts'
import { END_REASONS, type JournalEntry } from '../../../src/core/journal/entry.ts'
import { RUN_RECORD_SCHEMA, type RunRecord } from '../../../src/core/record/record.ts'
import { CELL_STATUSES } from '../../../src/core/record/status.ts'
import { OUTCOMES } from '../../../src/core/report/report.ts'

export const someDigest: Digest = digestOf('some')

export function planOf(campaignId: string, variants: readonly string[], scenarios: readonly string[], seeds: number) {
  const plan: CampaignPlan = {
    campaignId,
    file: `evals/${campaignId}.eval.ts`,
    line: 4,
    variants: variants.map((id) => ({ id, digest: digestOf(id), lane: id === 'bare' ? null : 'openai/gpt-5-mini' })),
    scenarios: scenarios.map((id) => ({
      id,
      digest: digestOf(id),
      family: null,
      split: 'holdout',
      splitDeclared: false,
      mustPass: false,
    })),
    seeds: Array.from({ length: seeds }, (_, seed) => seed),
    scorers: [{ name: 'label', role: 'code', scale: [0, 1], passes: true, lane: null }],
    scorerDigest: someDigest,
    primary: 'label',
    gate: {
      kind: 'pr',
      comparator: variants[0] ?? null,
      accepted: null,
      primary: 'label',
      atLeast: null,
      margin: 0.1,
      minGain: 0,
      target: 0.1,
      alpha: 0.025,
      candidates: variants.slice(1),
      guardrails: [{ name: 'cost', endpoint: 'cost', ratio: 1.2, diff: null, require: 'not-violated' }],
      onInconclusive: 'warn',
      assurance: 'standard',
      looks: 1,
    },
    hypothesis: null,
    coverage: 0.95,
    timeoutMs: 600_000,
    capture: 'on',
    tags: { team: 'billing' },
    digestFiles: ['prompts/*.md'],
    definitionDigest: someDigest,
  }
  return plan
}

export function recordOf(
  campaignId: string,
  variantId: string,
  scenarioId: string,
  seed: number,
  more: Partial<RunRecord> = {},
): RunRecord {
  return {
    schema: RUN_RECORD_SCHEMA,
    runId: '2026-01-02T03-04-05-abcd',
    campaignId,
    fingerprint: someDigest,
    cellId: cellIdOf({ campaignId, variantId, scenarioId, seed }),
    variantId,
    variantDigest: digestOf(variantId),
    scenarioId,
    scenarioDigest: digestOf(scenarioId),
    seed,
    split: 'holdout',
    lane: 'openai/gpt-5-mini',
    status: 'scored',
    score: 1,
    pass: true,
    scores: { label: { value: 1, pass: true, role: 'code' } },
    scorerDigest: someDigest,
    judges: {},
    failure: null,
    output: { digest: someDigest, preview: 'billing' },
    model: { requested: ['gpt-5-mini'], served: ['gpt-5-mini-2025-08-07'] },
    promptHash: someDigest,
    configHash: someDigest,
    commit: { sha: '0123456789abcdef0123456789abcdef01234567', dirty: false },
    attempts: 1,
    startedAt: '2026-01-02T03:04:05.000Z',
    recordedAt: null,
    queueMs: 12,
    wallMs: 340.5,
    providerMs: 320,
    tokens: { input: 100, output: 20, reasoning: 0, cacheRead: 0, cacheWrite: null, known: true },
    cost: { usd: 0.0012, provenance: 'estimated', subjectUsd: 0.0012, judgeUsd: 0 },
    calls: { subject: 1, judge: 0, setup: 0, retried: 0, mocked: 0 },
    provenance: 'live',
    integrity: { ok: true, issues: [] },
    metrics: { steps: 3 },
    tags: {},
    ...more,
  }
}

const text = fc.string({ unit: 'binary', maxLength: 40 })
const id = fc.string({ minLength: 1, maxLength: 12 })
const cellId = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 })
const attempt = fc.integer({ min: 1, max: 9 })
const at = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const lane = fc.option(id)

/** Any JSON whose numbers survive: -0 is 0 in JSON. */
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)))

const record = fc
  .record({
    campaignId: id,
    variantId: text,
    scenarioId: text,
    seed: fc.nat(),
    status: fc.constantFrom(...CELL_STATUSES),
    score: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)),
    preview: text,
    attempts: fc.nat(3),
  })
  .map(({ campaignId, variantId, scenarioId, seed, preview, ...more }) =>
    recordOf(campaignId, variantId, scenarioId, seed, { ...more, output: { digest: someDigest, preview } }),
  )

const plan = fc
  .record({
    campaignId: id,
    variants: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
    scenarios: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
    seeds: fc.integer({ min: 1, max: 3 }),
    gated: fc.boolean(),
  })
  .map(({ campaignId, variants, scenarios, seeds, gated }) => {
    const whole = planOf(campaignId, variants, scenarios, seeds)
    return gated ? whole : { ...whole, gate: null }
  })

/** Any entry of any kind. */
export const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('run' as const),
    runId: text,
    project: text,
    policy: text,
    policyReason: text,
    commit: fc.record({ sha: fc.option(id), dirty: fc.boolean() }),
    versions: fc.constant({ node: '20.20.2', vitest: '4.1.12' }),
    startedAt: at,
  }),
  fc.record({
    kind: fc.constant('plan' as const),
    plan,
    fingerprint: fc.constant(someDigest),
    selection: fc.oneof(fc.constant('all' as const), fc.array(cellId, { maxLength: 3 })),
    skipped: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('admitted' as const), cellId, attempt, lane, at }),
  fc.record({
    kind: fc.constant('admitted' as const),
    cellId,
    attempt,
    lane,
    at,
    heldMicroUsd: fc.nat(),
    failover: text,
  }),
  fc.record({ kind: fc.constant('reconciled' as const), cellId, attempt, microUsd: fc.nat(), at }),
  fc.record({
    kind: fc.constant('budget' as const),
    campaignId: fc.option(id),
    limitMicroUsd: fc.nat(),
    chargedMicroUsd: fc.nat(),
    heldMicroUsd: fc.nat(),
    unknownMicroUsd: fc.nat(),
    unknownCalls: fc.nat(),
    overshootMicroUsd: fc.nat(),
  }),
  fc.record({
    kind: fc.constant('lanes' as const),
    campaignId: id,
    lanes: fc.array(
      fc.record({
        lane: text,
        account: fc.option(text),
        requests: fc.nat(),
        peak: fc.nat(),
        concurrency: fc.nat(),
        throttled: fc.nat(),
        faults: fc.nat(),
        waitedMs: fc.record({
          cells: fc.nat(),
          slots: fc.nat(),
          pace: fc.nat(),
          hold: fc.nat(),
          budget: fc.nat(),
          'first-cell': fc.nat(),
        }),
        closed: fc.option(
          fc.record({ reason: fc.constantFrom('lane-failed' as const, 'budget' as const), detail: text }),
        ),
      }),
      { maxLength: 2 },
    ),
  }),
  fc.record({ kind: fc.constant('subject-settled' as const), cellId, attempt, output: json, at }),
  fc.record({ kind: fc.constant('settled' as const), record }),
  fc.record({ kind: fc.constant('problem' as const), campaignId: fc.option(id), code: id, text }),
  fc.record({
    kind: fc.constant('verdict' as const),
    campaignId: id,
    outcome: fc.constantFrom(...OUTCOMES),
    word: fc.constantFrom('PASS' as const, 'FAIL' as const, 'NO VERDICT' as const),
    reportDigest: fc.constant(someDigest),
  }),
  fc.record({
    kind: fc.constant('resumed' as const),
    campaignId: id,
    from: text,
    since: at,
    carried: fc.nat(),
    rescored: fc.nat(),
    spends: fc.array(
      fc.record({
        cellId,
        attempt,
        part: fc.constantFrom('all' as const, 'judges' as const),
        calls: fc.nat(),
        microUsd: fc.nat(),
        unknownCalls: fc.nat(),
        boundMicroUsd: fc.option(fc.nat()),
      }),
      { maxLength: 3 },
    ),
  }),
  fc.record({ kind: fc.constant('fenced' as const), by: text, campaignId: id, at }),
  fc.record({ kind: fc.constant('end' as const), reason: fc.constantFrom(...END_REASONS) }),
)
