import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { obstaclesToAccept } from '../../../src/core/accepted/acceptable.ts'
import { asAccepted } from '../../../src/core/accepted/as-accepted.ts'
import type { CampaignPlan } from '../../../src/core/campaign/plan.ts'
import type { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { CampaignReportSchema } from '../../../src/core/report/schema.ts'
import {
  fingerprintOf,
  type Given,
  idDigest,
  inputOf,
  isCandidate,
  type PlanParts,
  planOf,
  recordsOf,
  warningCodes,
} from '../report/records.ts'

const own: PlanParts = {
  scenarios: 12,
  gate: { comparator: null, accepted: { variant: null }, candidates: ['concise', 'current'] },
}
type Of = Parameters<typeof recordsOf>[1]

function baseline(plan: CampaignPlan, of: Of, change: (record: RunRecord) => RunRecord = (record) => record) {
  return asAccepted(
    {
      campaignId: plan.campaignId,
      file: plan.file,
      runId: 'run-0',
      startedAt: '2026-11-01T10:00:00.000Z',
      commit: { sha: null, dirty: false },
      fingerprint: fingerprintOf(plan),
      scorerDigest: plan.scorerDigest,
      primary: plan.primary,
    },
    recordsOf(plan, of).map(change),
  )
}

function report(parts: PlanParts, of: Of, accepted: ReturnType<typeof baseline> | null): CampaignReport {
  const plan = planOf(parts)
  const built = buildReport({ ...inputOf(plan, recordsOf(plan, of)), accepted })
  CampaignReportSchema.parse(JSON.parse(JSON.stringify(built)))
  return built
}

const good = (): Given => 1
const wrong: Given = { score: 0, output: { digest: idDigest('no'), preview: 'no' } }
const worse: Of = (cell) => (isCandidate(cell) ? wrong : 1)
const plan = planOf(own)

describe('a gate with accepted records', () => {
  it('compares each variant with its own rows', () => {
    const built = report(own, worse, baseline(plan, good))
    expect(built.candidates.map(({ id, comparator, outcome }) => [id, comparator, outcome])).toEqual([
      ['concise', 'concise (accepted)', 'regress'],
      ['current', 'current (accepted)', 'hold'],
    ])
    expect(built.verdict).toMatchObject({ word: 'FAIL', exitCode: 1, outcome: 'regress' })
    expect(built.coverage.planned).toBe(24)
    expect(built.design).toMatchObject({ comparator: 'accepted records', accepted: { runId: 'run-0', without: [] } })
    expect(built.variants.map(({ id, role }) => [id, role])).toEqual([
      ['concise (accepted)', 'comparator'],
      ['current (accepted)', 'comparator'],
      ['concise', 'candidate'],
      ['current', 'candidate'],
    ])
  })

  it('is the gate of a variant in the run where the rows are those of the variant', () => {
    const parts = (comparator: PlanParts['gate']): PlanParts => ({
      scenarios: 12,
      gate: { candidates: ['concise'], ...comparator },
    })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 24, maxLength: 24 }), (values) => {
        const of: Of = (cell, { scenario }) => (values[scenario + (isCandidate(cell) ? 12 : 0)] ?? 0) / 4
        const inRun = report(parts({ comparator: 'current' }), of, null).candidates[0]
        const accepted = report(parts({ comparator: null, accepted: { variant: 'current' } }), of, baseline(plan, of))
          .candidates[0]
        expect(accepted?.difference).toEqual(inRun?.difference)
        expect([accepted?.outcome, accepted?.rule, accepted?.signFlip]).toEqual([
          inRun?.outcome,
          inRun?.rule,
          inRun?.signFlip,
        ])
      }),
      { numRuns: 100 },
    )
  })

  it('does not depend on the order of the rows', () => {
    const rows = baseline(plan, worse)
    const shuffled = { ...rows, records: rows.records.toReversed() }
    expect(report(own, good, shuffled)).toEqual(report(own, good, rows))
  })

  it('widens the interval to the worst case for pairs that are missing', () => {
    const changed = baseline(plan, good, (record) =>
      record.scenarioId === 's01' ? { ...record, scenarioDigest: idDigest('another ticket') } : record,
    )
    const built = report(own, good, changed)
    expect(built.design.accepted?.arms[0]).toMatchObject({
      paired: 11,
      mismatches: [{ code: 'scenario_changed', count: 1, example: 's01' }],
    })
    expect(built.candidates[0]?.bounds).toMatchObject({ lo: 0, hi: expect.closeTo(1 / 12, 5) })
    expect(built.verdict).toMatchObject({ exitCode: 3, outcome: 'inconclusive' })
    expect(built.verdict.headline).toContain('1 cell of concise has no partner in concise (accepted)')
    expect(warningCodes(built)).toContain('accepted_mismatch')
    // Accepting the run is what mends it.
    expect(obstaclesToAccept(built, true)).toEqual([])
  })

  it.each<[string, (record: RunRecord) => RunRecord, string]>([
    ['scorers', (record) => ({ ...record, scorerDigest: idDigest('other scorers') }), 'scored by other scorers then'],
    [
      'scenarios',
      (record) => ({ ...record, scenarioDigest: idDigest('other') }),
      'of a scenario that has changed since',
    ],
    [
      'scenario ids',
      (record) => ({ ...record, scenarioId: `old-${record.scenarioId}` }),
      'not among the accepted rows',
    ],
    [
      'missing results',
      (record) => ({ ...record, status: 'infra_error', score: null, pass: null }),
      'they hold no score',
    ],
  ])('is invalid where nothing pairs for its %s, and accepting mends it', (_, change, words) => {
    const built = report(own, good, baseline(plan, good, change))
    expect(built.verdict).toMatchObject({ outcome: 'invalid', exitCode: 2 })
    expect(built.verdict.headline).toContain(`no accepted record of concise can be compared with this run: `)
    expect(built.verdict.headline).toContain(words)
    expect(obstaclesToAccept(built, true)).toEqual([])
  })

  it('leaves rows out that another judge scored', () => {
    const judged = (model: string) => ({ judges: { label: { model, digest: idDigest('judge') } } })
    const rows = baseline(
      plan,
      () => judged('judge-1'),
      (record) => record,
    )
    const built = report(own, () => judged('judge-2'), rows)
    expect(built.design.accepted?.arms[0]?.mismatches).toEqual([{ code: 'judge_changed', count: 12, example: 's01' }])
    expect(report(own, () => judged('judge-1'), rows).design.accepted?.arms[0]?.mismatches).toEqual([])
  })

  it('warns of a model that moved under its name, and releases nothing on it', () => {
    const served = (model: string): Given => ({ model: { requested: ['gpt-5-mini'], served: [model] } })
    const rows = baseline(plan, (cell) => ({
      ...(served('gpt-5-mini-a') as object),
      ...(isCandidate(cell) ? (wrong as object) : {}),
    }))
    const now = report(own, () => served('gpt-5-mini-b'), rows)
    expect(now.warnings.map(({ text }) => text)).toContain(
      "concise (accepted): gpt-5-mini was answered by gpt-5-mini-a then and by gpt-5-mini-b now; a difference may be the provider's",
    )
    const release: PlanParts = {
      ...own,
      gate: { ...own.gate, kind: 'release', minGain: 0.1, target: 0.1, candidates: ['concise'] },
    }
    expect(report(release, () => served('gpt-5-mini-b'), rows).candidates[0]).toMatchObject({
      outcome: 'hold',
      rule: '6',
    })
    expect(report(release, () => served('gpt-5-mini-a'), rows).candidates[0]).toMatchObject({ outcome: 'ship' })
  })

  it('compares a variant without rows with nothing, and says so', () => {
    const rows = baseline(planOf({ scenarios: 12, variants: ['current'] }), good)
    const built = report(own, worse, rows)
    expect(built.candidates.map(({ id, comparator }) => [id, comparator])).toEqual([
      ['concise', null],
      ['current', 'current (accepted)'],
    ])
    expect(warningCodes(built)).toContain('not_accepted')
    expect(built.verdict.exitCode).toBe(0)
  })

  it('finds a name for the accepted arm that no variant has', () => {
    const variants = ['current', 'current (accepted)']
    const parts: PlanParts = {
      variants,
      scenarios: 6,
      gate: { comparator: null, accepted: { variant: 'current' }, candidates: variants },
    }
    const built = report(parts, good, baseline(planOf(parts), good))
    expect(built.design.comparator).toBe("current (accepted)'")
  })
})

describe('what may not be accepted', () => {
  const gated: PlanParts = { scenarios: 12, gate: {} }
  it.each<[string, Of, string | null]>([
    ['a good run', good, null],
    ['a regression', worse, 'the gate is red (regress, rule 3)'],
    [
      'an arm without a score',
      (cell) => (isCandidate(cell) ? { status: 'infra_error' } : 1),
      'concise has not one scored cell',
    ],
    [
      'missing cells',
      (cell, { scenario }) => (isCandidate(cell) && scenario < 2 ? null : 1),
      'concise is incomplete: 83.3 % of its cells measured',
    ],
    [
      'a capture error',
      (cell, { scenario }) => (scenario === 0 && isCandidate(cell) ? { status: 'capture_error' } : 1),
      '1 cell failed an integrity check',
    ],
    [
      'a bug in the code',
      (_, { scenario }) =>
        scenario === 0
          ? { status: 'task_fail', failure: { class: 'unknown', mode: 'error', message: 'x is not a function' } }
          : 1,
      '2 cells ended in an error of the code: x is not a function',
    ],
  ])('%s', (_, of, text) => {
    const obstacles = obstaclesToAccept(report(gated, of, null), false)
    if (text === null) expect(obstacles).toEqual([])
    else expect(obstacles.join('\n')).toContain(text)
  })
})
