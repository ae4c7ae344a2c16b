import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CampaignReportSchema, reportJsonSchema } from '../../../src/core/report/schema.ts'
import { type Coordinates, type Given, isCandidate, type PlanParts, reportOf } from './records.ts'

describe('the schema of the report', () => {
  it('is published as it is: run with -u after a change', async () => {
    await expect(`${JSON.stringify(reportJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
      '../../../docs/report.schema.json',
    )
  })

  const guardrails = [
    { name: 'cost', endpoint: 'cost', ratio: 1.1, diff: null, require: 'shown' },
    { name: 'latencyP95', endpoint: 'latencyP95', ratio: 1.1, diff: null, require: 'not-violated' },
  ] as const
  it.each<readonly [string, PlanParts]>([
    ['a pr gate', {}],
    ['no gate', { gate: null }],
    ['a threshold', { gate: { comparator: null, atLeast: 0.9, candidates: ['concise'] } }],
    ['one scenario', { scenarios: 1 }],
    [
      'a release gate with everything',
      { scenarios: 40, seeds: 3, gate: { kind: 'release', margin: 0.1, guardrails, assurance: 'bounded', looks: 2 } },
    ],
    ['splits', { scenarios: [{ id: 'a', split: 'search' }, { id: 'b' }, { id: 'c', split: 'dev' }], seeds: 2 }],
    [
      'families and must-pass',
      {
        scenarios: [
          { id: 'a', family: 'f', mustPass: true },
          { id: 'b', family: 'f' },
        ],
      },
    ],
    ['another scale', { scale: [1, 5] }],
  ])('holds for %s, whatever became of the cells', (_, parts) => {
    const [low, high] = parts.scale ?? [0, 1]
    const given = fc.constantFrom<Given>(
      low,
      high,
      (low + high) / 2,
      null,
      { status: 'task_fail', failure: { class: 'timeout' } },
      { status: 'infra_error', reason: 'provider-fault' },
      { status: 'not_run', reason: 'interrupted' },
      { score: high, cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null } },
    )
    fc.assert(
      fc.property(fc.array(given, { minLength: 3, maxLength: 9 }), (kinds) => {
        const of = (cell: Coordinates, at: { scenario: number; seed: number }): Given =>
          kinds[(at.scenario * 5 + at.seed * 3 + (isCandidate(cell) ? 1 : 0)) % kinds.length] ?? null
        const report = reportOf(parts, of)
        expect(CampaignReportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report)
      }),
      { numRuns: 25 },
    )
  })

  it('refuses a key that it does not know', () => {
    expect(CampaignReportSchema.safeParse({ ...reportOf({}, () => 1), extra: 1 }).success).toBe(false)
  })
})
