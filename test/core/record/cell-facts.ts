import fc from 'fast-check'
import { cellsOf } from '../../../src/core/campaign/cells.ts'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import type { CampaignPlan, PlannedCell } from '../../../src/core/campaign/plan.ts'
import type { CellFacts, RecordRun } from '../../../src/core/record/build.ts'
import type { CellCall } from '../../../src/core/record/calls.ts'
import { describeOutput } from '../../../src/core/record/output.ts'
import type { WireReading } from '../../../src/core/traffic/exchange.ts'

export const plan: CampaignPlan = {
  campaignId: 'triage',
  file: 'evals/triage.eval.ts',
  line: 12,
  variants: [{ id: 'current', digest: digestOf({ model: 'm' }), lane: 'declared/m' }],
  scenarios: [
    { id: 'refund', digest: digestOf({}), family: 'money', split: 'holdout', splitDeclared: false, mustPass: false },
  ],
  seeds: [0],
  scorers: [
    { name: 'label', role: 'code', scale: [0, 1], passes: true, lane: null },
    { name: 'tone', role: 'judge', scale: [0, 1], passes: true, lane: null },
  ],
  scorerDigest: digestOf('scorers'),
  primary: 'label',
  gate: null,
  hypothesis: null,
  coverage: 0.95,
  timeoutMs: 1000,
  capture: 'on',
  tags: { team: 'a' },
  digestFiles: [],
  definitionDigest: digestOf('definition'),
}

export const cell = cellsOf(plan)[0] as PlannedCell

export const run: RecordRun = {
  runId: 'run-1',
  fingerprint: digestOf('fingerprint'),
  commit: { sha: 'abc', dirty: false },
}

export const reading: WireReading = {
  api: 'openai-chat',
  provider: 'openai',
  requestedModel: 'gpt-5-mini',
  servedModel: 'gpt-5-mini-2025-08-07',
  lane: 'openai/gpt-5-mini',
  streamed: false,
  usage: { input: 10, output: 5, reasoning: 2, cacheRead: 4, cacheWrite: null },
  usageMissing: null,
  finishReason: 'stop',
  truncatedByLength: false,
  complete: true,
  error: null,
  observedMicroUsd: null,
  prompt: { messages: [{ role: 'user', content: 'x' }] },
  responseId: null,
  pricing: { provider: 'openai', parts: {} },
}

export function call(changes: Partial<CellCall> = {}, read: Partial<WireReading> = {}): CellCall {
  return {
    role: 'subject',
    source: 'live',
    startedAt: '2026-01-02T03:04:05.000Z',
    totalMs: 100,
    retried: 0,
    reading: { ...reading, ...read },
    cost: { microUsd: 1500, provenance: 'estimated' },
    ...changes,
  }
}

export function facts(changes: Partial<CellFacts> = {}): CellFacts {
  return {
    run,
    plan,
    cell,
    outcome: { kind: 'output', output: describeOutput('billing') },
    scores: { label: { value: 1, pass: true, role: 'code' } },
    calls: [call()],
    issues: [],
    attempts: 1,
    startedAt: '2026-01-02T03:04:05.000Z',
    queueMs: 3,
    wallMs: 120,
    ...changes,
  }
}

const count = fc.oneof(fc.constant(null), fc.nat(1000), fc.double(), fc.integer())
const usage = fc.record({ input: count, output: count, reasoning: count, cacheRead: count, cacheWrite: count })
const anyCall = fc.record({
  role: fc.constantFrom('subject' as const, 'judge' as const, 'setup' as const),
  source: fc.constantFrom('live' as const, 'replayed' as const, 'mocked' as const),
  totalMs: fc.nat(10_000),
  retried: fc.nat(3),
  usage: fc.option(usage),
  missing: fc.constantFrom('not-reported' as const, 'error-response' as const, 'incomplete' as const),
  prompt: fc.anything(),
  isProvider: fc.boolean(),
  microUsd: fc.option(fc.nat(1_000_000)),
  model: fc.option(fc.string()),
})

/** Calls of any kind, honest or not. */
export const anyCalls = fc.array(
  anyCall.map(({ usage, missing, prompt, isProvider, microUsd, model, ...rest }) =>
    call({
      ...rest,
      cost: { microUsd, provenance: microUsd === null ? 'uncaptured' : 'estimated' },
      reading: isProvider
        ? { ...reading, usage, usageMissing: usage === null ? missing : null, prompt, requestedModel: model }
        : null,
    }),
  ),
  { maxLength: 6 },
)
