import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { type Coordinates, type Given, idDigest, inputOf, type PlanParts, planOf, recordsOf } from './records.ts'

function report(
  parts: PlanParts,
  of: (cell: Coordinates, at: { readonly scenario: number; readonly seed: number }) => Given,
  problems: Parameters<typeof inputOf>[2] = [],
): CampaignReport {
  const plan = planOf(parts)
  return buildReport(inputOf(plan, recordsOf(plan, of), problems))
}
const isCandidate = ({ variant }: Coordinates) => variant === 'concise'
const codes = ({ warnings }: CampaignReport) => warnings.map(({ code }) => code)

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

describe('verdict', () => {
  it('24 of 24 against 0 of 24 is red', () => {
    for (const seeds of [1, 3]) {
      const { verdict, candidates } = report({ scenarios: 24, seeds }, (cell) => (isCandidate(cell) ? 0 : 1))
      expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'regress', rule: '3', red: true, gate: 'pr' })
      expect(verdict.headline).toContain('100.0 % → 0.0 %, −100.0 pp')
      expect(candidates[0]?.difference).toMatchObject({ est: -1, lo: null, hi: null, refused: 'zero_spread' })
    }
  })

  it('a collapse by task_fail leaves no scored cell and is red too', () => {
    const { verdict } = report({ scenarios: 24 }, (cell) => (isCandidate(cell) ? { status: 'task_fail' } : 1))
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid', red: true })
  })

  it('says how large a drop would have been caught where nothing is shown', () => {
    const { verdict, candidates } = report({ scenarios: 24, seeds: 3 }, (cell, { scenario, seed }) =>
      (scenario * 7 + seed * 3 + (isCandidate(cell) ? 1 : 0)) % 5 < 3 ? 1 : 0,
    )
    expect(verdict).toMatchObject({ word: 'NO VERDICT', outcome: 'inconclusive', rule: '11', red: false })
    expect(verdict.headline).toMatch(
      /^no loss shown for concise against current on label: .* \(95 % CI .*\); a drop of \d+ pp or more would be caught 4 times in 5 \(24×3\); this is not proof of no loss$/,
    )
    expect(candidates[0]?.detectableDrop.drop).toBeGreaterThan(0)
  })

  it('tells unchanged from the same scores', () => {
    const same = (cell: Coordinates): Given => ({ score: 1, output: { digest: idDigest(cell.scenario), preview: '' } })
    const unchanged = report({ scenarios: 3 }, same)
    expect(unchanged.candidates[0]).toMatchObject({ outcome: 'hold', reasons: [{ code: 'unchanged' }] })
    const scores = report({ scenarios: 24, seeds: 3 }, () => 1)
    expect(scores.candidates[0]).toMatchObject({ outcome: 'hold', reasons: [{ code: 'no_difference_seen' }] })
    expect(scores.verdict.headline).toContain('up to 11.7 % of scenarios could still lose')
  })

  it('the worst candidate decides; one red candidate is enough', () => {
    const { verdict, candidates } = report(
      { scenarios: 24, variants: ['current', 'good', 'bad'] },
      ({ variant }, { scenario }) =>
        variant === 'good' ? 0.9 + (scenario % 3) / 30 : variant === 'bad' ? (scenario % 4) / 10 : 0.6,
    )
    expect(candidates.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['bad', 'regress'],
      ['good', 'ship'],
    ])
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'regress' })
    expect(verdict.headline).toContain('(others: good ship)')
  })

  it('variants that are no candidates turn nothing red', () => {
    const { verdict, candidates } = report(
      { scenarios: 24, variants: ['current', 'good', 'bad'], gate: { candidates: ['good'] } },
      ({ variant }, { scenario }) =>
        variant === 'bad' ? (scenario === 0 ? 1 : 0) : variant === 'good' ? 0.9 : 0.5 + scenario / 100,
    )
    expect(candidates.map(({ id }) => id)).toEqual(['good'])
    expect(verdict).toMatchObject({ word: 'PASS', outcome: 'ship' })
  })

  it('more candidates widen the intervals', () => {
    const of = (cell: Coordinates, { scenario }: { scenario: number }) =>
      cell.variant === 'current' ? 0.5 : (scenario % 5) / 5
    const one = report({ scenarios: 24 }, of).candidates[0]?.difference
    const three = report({ scenarios: 24, variants: ['current', 'concise', 'b', 'c'] }, of).candidates.find(
      ({ id }) => id === 'concise',
    )?.difference
    expect(one?.level).toBe(0.95)
    expect(three?.level).toBeCloseTo(0.983333, 6)
    expect(three?.lo).toBeLessThan(one?.lo ?? -1)
  })

  it('missing cells alone are not red while their share is within the floor', () => {
    const { verdict, candidates } = report({ scenarios: 40 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? { status: 'infra_error', reason: 'provider-fault' } : (scenario % 3) / 2,
    )
    expect(verdict).toMatchObject({ red: false, word: 'NO VERDICT' })
    expect(candidates[0]?.difference).toMatchObject({ method: 'bounds' })
  })

  it('tips: how many of the missing cells would have to have failed', () => {
    const { candidates } = report({ scenarios: 30, coverage: 0.5 }, (cell, { scenario }) =>
      isCandidate(cell) ? (scenario < 8 ? { status: 'infra_error' } : 1) : (scenario % 10) / 10,
    )
    const [one] = candidates
    expect(one?.outcome).toBe('ship')
    expect(one?.bounds?.tippingCells).toBeNull()
    const close = report({ scenarios: 30, coverage: 0.5 }, (cell, { scenario }) =>
      isCandidate(cell) ? (scenario < 12 ? { status: 'infra_error' } : 0.7) : (scenario % 10) / 10,
    )
    expect(close.candidates[0]).toMatchObject({ outcome: 'inconclusive' })
    expect(close.candidates[0]?.bounds?.tippingCells).toBeGreaterThan(0)
    expect(close.candidates[0]?.bounds?.tippingCells).toBeLessThanOrEqual(12)
  })

  it('families are the unit of inference where they are declared', () => {
    const scenarios = Array.from({ length: 24 }, (_, i) => ({ id: `s${i}`, family: `doc${i % 4}` }))
    const of = (cell: Coordinates, { scenario }: { scenario: number }) =>
      isCandidate(cell) ? 0.2 + (scenario % 4) / 40 : 0.9
    const { verdict, candidates, design } = report({ scenarios }, of)
    expect(design).toMatchObject({ scenarios: 24, families: 4 })
    expect(candidates[0]?.difference).toMatchObject({ n: 4, df: 3, unit: 'family' })
    expect(verdict).toMatchObject({ outcome: 'underpowered', rule: '2b' })
    expect(verdict.headline).toContain('4 of the 6')
    expect(report({ scenarios: 24 }, of).verdict.outcome).toBe('regress')
  })

  it('problems found outside the records warn, or make the campaign invalid where two plans or cells claim one name', () => {
    const lost = [{ code: 'worker_lost', text: 'the worker died' }]
    expect(codes(report({}, () => 1, lost))).toContain('worker_lost')
    expect(report({}, () => 1, lost).verdict.red).toBe(false)
    const twice = [{ code: 'campaign_twice', text: 'two files declare triage' }]
    expect(report({}, () => 1, twice).verdict).toMatchObject({
      outcome: 'invalid',
      headline: expect.stringContaining('two files'),
    })
  })

  it('a judge that differs between the arms makes the campaign invalid', () => {
    const judge = (cell: Coordinates, model: string): Given => ({
      score: 1,
      judges: { tone: { model: isCandidate(cell) ? model : 'gpt-5', digest: idDigest('judge') } },
    })
    expect(report({}, (cell) => judge(cell, 'gpt-5')).verdict.outcome).toBe('hold')
    const { verdict } = report({}, (cell) => judge(cell, 'gpt-5-mini'))
    expect(verdict).toMatchObject({ outcome: 'invalid', reasons: [{ code: 'judge_differs' }] })
  })

  it.each<[string, Given, string]>([
    ['another variant content', { variantDigest: idDigest('other') }, 'content_mismatch'],
    ['another scenario content', { scenarioDigest: idDigest('other') }, 'content_mismatch'],
    ['other scorers', { scorerDigest: idDigest('other') }, 'scorer_mismatch'],
    ['another campaign', { campaignId: 'other' }, 'unexpected_cell'],
    [
      'a score without integrity',
      { integrity: { ok: false, issues: [{ code: 'late_call', severity: 'error', message: 'm' }] } },
      'unsound_score',
    ],
    [
      'a leaked canary',
      {
        status: 'capture_error',
        integrity: { ok: false, issues: [{ code: 'canary_leak', severity: 'error', message: 'm' }] },
      },
      'canary_leak',
    ],
  ])('%s makes the campaign invalid', (_, given, code) => {
    const { verdict } = report({}, (cell, { scenario }) => (isCandidate(cell) && scenario === 0 ? given : 1))
    expect(verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(verdict.reasons.map((reason) => reason.code)).toContain(code)
  })

  it('refuses plans that contradict themselves', () => {
    const plan = planOf()
    expect(() => buildReport(inputOf({ ...plan, seeds: [] }, []))).toThrow(
      'campaign triage (evals/triage.eval.ts) plans no cells',
    )
    expect(() => buildReport(inputOf({ ...plan, primary: 'tone' }, []))).toThrow('the primary scorer tone is not among')
    expect(() => report({ gate: { comparator: 'nobody' } }, () => 1)).toThrow('the gate names nobody')
  })
})

describe('atLeast', () => {
  const gate = { comparator: null, atLeast: 0.9, candidates: ['concise'] }

  it.each<[string, number, (scenario: number) => number, string, string, boolean]>([
    ['half of them', 24, (s) => s % 2, 'FAIL', 'regress', true],
    ['all of 24: not enough to claim 90 %', 24, () => 1, 'NO VERDICT', 'inconclusive', false],
    ['all of 60', 60, () => 1, 'PASS', 'ship', false],
    ['none', 24, () => 0.0, 'FAIL', 'regress', true],
    ['close around', 24, (s) => (s % 8 === 0 ? 0 : 1), 'NO VERDICT', 'inconclusive', false],
    ['two of two failed: an upper bound of 84 %', 2, () => 0, 'FAIL', 'regress', true],
    ['one scenario has no interval', 1, () => 0, 'NO VERDICT', 'inconclusive', false],
  ])('%s', (_, scenarios, of, word, outcome, red) => {
    const { verdict, candidates } = report({ scenarios, gate }, (__, { scenario }) => of(scenario))
    expect(verdict).toMatchObject({ word, outcome, red })
    expect(candidates[0]).toMatchObject({ difference: null, atLeast: { threshold: 0.9, outcome } })
  })

  it('beside a comparator: below it is red, above it passes where the difference is open', () => {
    const of = (cell: Coordinates, { scenario }: { scenario: number }) =>
      (isCandidate(cell) ? scenario % 60 !== 7 : scenario % 60 !== 9) ? 1 : 0
    const both = { atLeast: 0.8 }
    expect(report({ scenarios: 60, gate: both }, of).verdict).toMatchObject({ word: 'PASS', outcome: 'inconclusive' })
    const low = report({ scenarios: 60, gate: { atLeast: 0.99 } }, (_, { scenario }) => (scenario % 2 ? 1 : 0))
    expect(low.verdict).toMatchObject({ word: 'FAIL', rule: 'at-least', outcome: 'regress' })
  })
})

describe('must-pass scenarios', () => {
  const scenarios = [{ id: 'refund', mustPass: true }, { id: 'b' }, { id: 'c' }]
  const of =
    (own: (seed: number) => Given, other: (seed: number) => Given = () => 1) =>
    (cell: Coordinates): Given =>
      cell.scenario !== 'refund' ? 1 : isCandidate(cell) ? own(cell.seed) : other(cell.seed)

  it.each<[string, (seed: number) => Given]>([
    ['a failed score', (seed) => (seed === 1 ? { score: 0.4, pass: false } : 1)],
    ['a subject that fails', (seed) => (seed === 1 ? { status: 'task_fail' } : 1)],
    ['the bottom of a scale without pass', (seed) => (seed === 1 ? { score: 0, pass: null } : 1)],
  ])('one failed seed of three is red at three scenarios: %s', (_, own) => {
    const { verdict, candidates } = report({ scenarios, seeds: 3 }, of(own))
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'regress', rule: '2' })
    expect(verdict.headline).toContain('must-pass scenario refund (seed 1), which current passes')
    expect(candidates[0]?.mustPass).toEqual({ scenarios: 1, broken: [{ scenario: 'refund', failedSeeds: [1] }] })
  })

  it('is not red where the comparator fails too, or was not measured', () => {
    expect(
      report(
        { scenarios, seeds: 3 },
        of(
          (seed) => (seed ? 1 : 0),
          (seed) => (seed === 2 ? 0 : 1),
        ),
      ).verdict.red,
    ).toBe(false)
    const unmeasured = report(
      { scenarios, seeds: 3, coverage: 0.5 },
      of(
        (seed) => (seed ? 1 : 0),
        () => ({ status: 'infra_error' }),
      ),
    )
    expect(unmeasured.candidates[0]?.mustPass.broken).toEqual([])
  })

  it('without a comparator any failed seed is red, and all passing is a pass', () => {
    const gate = { comparator: null, candidates: ['concise'] }
    expect(
      report(
        { scenarios, gate },
        of(() => 0),
      ).verdict,
    ).toMatchObject({ word: 'FAIL', rule: '2' })
    expect(
      report(
        { scenarios, gate },
        of(() => 1),
      ).verdict,
    ).toMatchObject({ word: 'PASS', outcome: 'hold' })
    const missing = report(
      { scenarios, gate, coverage: 0.5 },
      of(() => ({ status: 'infra_error' })),
    )
    expect(missing.verdict).toMatchObject({ word: 'NO VERDICT', outcome: 'inconclusive' })
    expect(codes(missing)).toContain('must_pass_unmeasured')
  })
})

describe('a campaign without a gate', () => {
  it('is NO VERDICT, and red for coverage alone', () => {
    const { verdict, candidates } = report({ gate: null }, (cell) => (isCandidate(cell) ? 0 : 1))
    expect(verdict).toMatchObject({ word: 'NO VERDICT', gate: 'none', outcome: null, rule: null, red: false })
    expect(verdict.headline).toContain('24 of 24 cells measured, label: concise 0.0 %, current 100.0 %')
    expect(candidates).toEqual([])
    const short = report({ gate: null }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? { status: 'judge_error' } : 1,
    )
    expect(short.verdict).toMatchObject({ word: 'FAIL', rule: 'coverage', red: true })
    expect(short.verdict.headline).toContain('concise falls short')
  })
})

describe('variants', () => {
  it('one charge nobody knows makes the total unknown and keeps the rest as a lower bound', () => {
    const known = { usd: 0.25, provenance: 'estimated', subjectUsd: 0.25, judgeUsd: 0 } as const
    const unknown = { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null } as const
    const { variants } = report({ scenarios: 4 }, (cell, { scenario }) => ({
      cost: isCandidate(cell) && scenario === 0 ? unknown : known,
    }))
    const [current, concise] = variants
    expect(current?.cost).toMatchObject({ totalUsd: 1, perCellUsd: 0.25, perSuccessUsd: 0.25, provenance: 'estimated' })
    expect(concise?.cost).toEqual({
      totalUsd: null,
      perCellUsd: null,
      perSuccessUsd: null,
      knownUsd: 0.75,
      uncapturedCells: 1,
      provenance: 'uncaptured',
      refused: 'uncaptured',
    })
  })

  it('16: a charge of 0 for tokens that were counted is unknown, not free; a price of 0 is', () => {
    const zero = (provenance: 'observed' | 'estimated') => ({
      cost: { usd: 0, provenance, subjectUsd: 0, judgeUsd: 0 },
    })
    const observed = report({}, () => zero('observed'))
    expect(observed.variants[0]?.cost).toMatchObject({ totalUsd: null, provenance: 'uncaptured' })
    expect(codes(observed)).toContain('zero_cost_with_tokens')
    expect(report({}, () => zero('estimated')).variants[0]?.cost).toMatchObject({
      totalUsd: 0,
      provenance: 'estimated',
    })
  })

  it('a success costs what the failures around it cost too; none succeeded is no number', () => {
    const cost = { usd: 0.1, provenance: 'observed', subjectUsd: 0.1, judgeUsd: 0 } as const
    const { variants } = report({ scenarios: 4 }, (cell, { scenario }) => ({
      cost,
      score: isCandidate(cell) || scenario > 0 ? 0 : 1,
    }))
    expect(variants[0]?.cost).toMatchObject({ totalUsd: 0.4, perSuccessUsd: 0.4 })
    expect(variants[1]?.cost).toMatchObject({ totalUsd: 0.4, perSuccessUsd: null, refused: 'no_successes' })
  })

  it('cells that never ran cost nothing', () => {
    const never: Given = {
      status: 'not_run',
      reason: 'budget',
      cost: { usd: null, provenance: 'uncaptured', subjectUsd: null, judgeUsd: null },
    }
    const { variants } = report({ scenarios: 4 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? never : 1,
    )
    expect(variants[1]?.cost).toMatchObject({ totalUsd: 0.0012, uncapturedCells: 0 })
  })

  it('latency is the live wall clock, else what was recorded, with ranks for bounds', () => {
    const of =
      (replayed: boolean) =>
      (_: Coordinates, { scenario }: { scenario: number }) => ({
        wallMs: replayed ? null : 1000 + scenario,
        providerMs: 500 + scenario,
      })
    expect(report({ scenarios: 9 }, of(false)).variants[0]?.latency).toMatchObject({
      source: 'live',
      medianMs: { est: 1004, lo: 1001, hi: 1007, method: 'order-statistic' },
    })
    expect(report({ scenarios: 9 }, of(true)).variants[0]?.latency).toMatchObject({
      source: 'recorded',
      medianMs: { est: 504 },
    })
    expect(report({ scenarios: 2 }, of(false)).variants[0]?.latency.medianMs).toMatchObject({
      lo: null,
      refused: 'too_few_scenarios',
    })
    expect(report({}, () => ({ wallMs: null, providerMs: null })).variants[0]?.latency).toMatchObject({
      source: 'none',
      medianMs: { est: null, refused: 'no_data' },
    })
  })

  it('a deadline never becomes a latency', () => {
    const { variants } = report({ scenarios: 9 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 8 ? { status: 'task_fail', failure: { class: 'timeout' }, wallMs: 600_000 } : 1,
    )
    expect(variants[1]?.latency.medianMs).toMatchObject({ est: null, hi: null })
  })

  it('tokens nobody counted are null, and a sum with an unknown part says so', () => {
    const none = { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: false }
    const { variants } = report({ scenarios: 3 }, (cell, { scenario }) =>
      isCandidate(cell) ? { tokens: none } : scenario ? 1 : { tokens: none },
    )
    expect(variants[0]?.tokens).toEqual({ input: 240, output: 40, known: false })
    expect(variants[1]?.tokens).toEqual({ input: null, output: null, known: false })
  })
})

describe('evidence', () => {
  const stub = { code: 'stub_backend', severity: 'error', message: 'a local stub answered' } as const
  const stubbed: Given = { status: 'capture_error', integrity: { ok: false, issues: [stub] } }
  const silent = { subject: 0, judge: 0, setup: 0, retried: 0, mocked: 0 }

  it('says what stood behind the numbers', () => {
    expect(report({}, () => 1).integrity).toEqual({ backend: 'real', issues: [] })
    expect(report({}, () => ({ calls: silent })).integrity.backend).toBe('none')
    const mixed = report({ scenarios: 40 }, (cell, { scenario }) => (isCandidate(cell) && scenario === 0 ? stubbed : 1))
    expect(mixed.integrity).toEqual({
      backend: 'mixed',
      issues: [{ code: 'stub_backend', severity: 'error', count: 1, example: 'a local stub answered' }],
    })
    expect(codes(mixed)).toEqual(expect.arrayContaining(['capture_error', 'mixed_backend']))
  })

  it('a campaign answered by a stub is invalid, not a quality of 0', () => {
    const all = report({}, () => stubbed)
    expect(all.integrity.backend).toBe('stub')
    expect(all.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid' })
    expect(all.variants[0]?.mean).toMatchObject({ est: null, refused: 'no_data' })
  })

  it('counts live and replayed cells and dates the recordings', () => {
    const { evidence } = report({ scenarios: 4 }, (cell, { scenario }) =>
      isCandidate(cell)
        ? scenario === 0
          ? { status: 'not_run', reason: 'budget' }
          : { provenance: 'replayed', recordedAt: `2026-01-0${scenario}T00:00:00.000Z` }
        : 1,
    )
    expect(evidence).toEqual({
      live: 4,
      replayed: 3,
      mixed: 0,
      carried: 0,
      recordedFrom: '2026-01-01T00:00:00.000Z',
      recordedTo: '2026-01-03T00:00:00.000Z',
    })
  })

  it('says that seeds add nothing when they gave the same bytes everywhere', () => {
    const same = (cell: Coordinates): Given => ({
      output: { digest: idDigest(`${cell.variant} ${cell.scenario}`), preview: '' },
    })
    expect(codes(report({ seeds: 3 }, same))).toContain('seeds_identical')
    expect(codes(report({ seeds: 1 }, same))).not.toContain('seeds_identical')
    const once = report({ seeds: 3 }, (cell, { scenario, seed }) => (scenario === 5 && seed === 2 ? 1 : same(cell)))
    expect(codes(once)).not.toContain('seeds_identical')
  })

  it('warns where one arm lost many more cells than the other', () => {
    const lost = report({ scenarios: 100 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 4 ? { status: 'infra_error' } : 1,
    )
    expect(codes(lost)).toContain('missing_differs')
  })

  it('groups failures by class and mode, in the order of the list', () => {
    const timeout = { class: 'timeout', mode: 'deadline', message: 'too late' } as const
    const { failures } = report({ scenarios: 3 }, (_, { scenario }) =>
      scenario === 0 ? { status: 'task_fail' } : scenario === 1 ? { status: 'task_fail', failure: timeout } : 1,
    )
    expect(failures.map(({ class: name, mode, count, example }) => [name, mode, count, example])).toEqual([
      ['timeout', 'deadline', 2, 'too late'],
      ['unknown', 'throw', 2, 'the subject threw'],
    ])
    expect(failures[0]?.cells).toHaveLength(2)
  })

  it('lists the scenarios that lost most, with their seeds', () => {
    const { candidates } = report({ scenarios: 8, seeds: 2 }, (cell, { scenario, seed }) =>
      isCandidate(cell) && (scenario === 3 || (scenario === 5 && seed === 0)) ? 0 : 1,
    )
    expect(candidates[0]?.worst).toEqual([
      { scenario: 's04', comparator: 1, candidate: 0, delta: -1, comparatorSeeds: '2/2', candidateSeeds: '0/2' },
      { scenario: 's06', comparator: 1, candidate: 0.5, delta: -0.5, comparatorSeeds: '2/2', candidateSeeds: '1/2' },
    ])
  })
})

describe('fingerprints', () => {
  const plan = planOf({ scenarios: 6, seeds: 2 })
  const records = recordsOf(plan, (_, { scenario }) => scenario / 10)
  const base = buildReport(inputOf(plan, records))

  it('the report’s is the digest of the report without it', () => {
    const { report: own, ...fingerprint } = base.fingerprint
    expect(own).toBe(digestOf({ ...base, fingerprint }))
  })

  it.each<[string, Given]>([
    ['score', { score: 0.55 }],
    ['status', { status: 'infra_error' }],
    ['cost', { cost: { usd: 0.0005, provenance: 'observed', subjectUsd: 0.0005, judgeUsd: 0 } }],
    ['attempts', { attempts: 2 }],
    ['a metric', { metrics: { steps: 3 } }],
    ['a scorer’s rationale', { scores: { label: { value: 1, pass: true, role: 'judge', rationale: 'fine' } } }],
  ])('the records’ covers %s', (_, given) => {
    const changed = recordsOf(plan, ({ variant, seed }, { scenario }) =>
      scenario === 0 && seed === 0 && variant === 'concise'
        ? typeof given === 'object' && given !== null
          ? { score: 0, ...given }
          : given
        : scenario / 10,
    )
    expect(buildReport(inputOf(plan, changed)).fingerprint.records).not.toBe(base.fingerprint.records)
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
