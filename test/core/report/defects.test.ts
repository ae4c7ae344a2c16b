import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../src/core/campaign/identity.ts'
import { parseRecord } from '../../../src/core/record/parse.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CandidateReport } from '../../../src/core/report/candidate-report.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import type { VariantSummary } from '../../../src/core/report/variant-report.ts'
import { cohenKappa } from '../../../src/core/stats/agreement/two-judges.ts'
import { tTwoSided } from '../../../src/core/stats/student-t.ts'
import { wilcoxonSignedRank } from '../../../src/core/stats/wilcoxon.ts'
import { cellsOf, fingerprintOf, type Given, idDigest, inputOf, planOf, recordOf, recordsOf } from './records.ts'

/** Defects of other eval tools, as test cases: the input that fooled them must not fool this report. */

function candidate(report: CampaignReport, id = 'concise'): CandidateReport {
  const found = report.candidates.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no candidate ${id}`)
  return found
}
function variant(report: CampaignReport, id = 'concise'): VariantSummary {
  const found = report.variants.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no variant ${id}`)
  return found
}
const isCandidate = (cell: { variant: string }) => cell.variant === 'concise'

describe('defects of other tools', () => {
  it('1: identical variants on an easy and a hard scenario differ by 0, in either order of scenarios', () => {
    for (const scenarios of [
      [{ id: 'easy' }, { id: 'hard' }],
      [{ id: 'hard' }, { id: 'easy' }],
    ]) {
      const plan = planOf({ scenarios, seeds: 10 })
      const report = buildReport(
        inputOf(
          plan,
          recordsOf(plan, ({ scenario }) => (scenario === 'easy' ? 0.9 : 0.5)),
        ),
      )
      expect(candidate(report)).toMatchObject({ outcome: 'hold', difference: { est: 0 }, signFlip: { p: 1 } })
    }
  })

  it('2: a candidate that crashes on every hard scenario is not promoted by the ones it survived', () => {
    const plan = planOf({ scenarios: 24 })
    const records = recordsOf(plan, (cell, { scenario }) => {
      const hard = scenario >= 12
      if (isCandidate(cell) && hard) return null
      return isCandidate(cell) ? 0.9 : hard ? 0.1 : 0.85
    })
    const report = buildReport(inputOf(plan, records))
    expect(report.verdict).toMatchObject({ word: 'FAIL', red: true, outcome: 'inconclusive', rule: '10' })
    expect(variant(report)).toMatchObject({ coverage: 0.5, counts: { not_run: 12 } })
    expect(candidate(report).completeCase?.est).toBeGreaterThan(0)
    expect(candidate(report).difference?.lo).toBeLessThan(0)
  })

  it('3: 26 cells dealt and 6 scored is incomplete, and says both numbers', () => {
    const plan = planOf({ scenarios: 26 })
    const records = recordsOf(plan, (cell, { scenario }) =>
      isCandidate(cell) && scenario >= 6 ? null : isCandidate(cell) ? 1 : 0.4,
    )
    const report = buildReport(inputOf(plan, records))
    expect(report.verdict.red).toBe(true)
    expect(variant(report)).toMatchObject({ planned: 26, counts: { scored: 6, not_run: 20 } })
    expect(report.verdict.headline).toContain('20 cells')
    expect(report.coverage.reasons).toEqual({ missing: 20 })
  })

  it('4: a crashed attempt and a scored one under one identity are a duplicate, and neither is used', () => {
    const plan = planOf()
    const records = recordsOf(plan, () => 1)
    const [first] = cellsOf(plan)
    if (first === undefined) throw new Error('no cells')
    const crashed = recordOf(plan, first, { status: 'infra_error' })
    for (const order of [
      [crashed, ...records],
      [...records, crashed],
    ]) {
      const report = buildReport(inputOf(plan, order))
      expect(report.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid', rule: '1' })
      expect(report.verdict.reasons.map(({ code }) => code)).toContain('duplicate_cell')
      expect(variant(report, first.variant).counts.scored).toBe(11)
    }
  })

  it('5: cheap rows of no planned cell neither dilute the cost nor pass unnoticed', () => {
    const plan = planOf()
    const cost = { usd: 5, provenance: 'observed', subjectUsd: 5, judgeUsd: 0 } as const
    const records = recordsOf(plan, () => ({ cost }))
    const cheap = Array.from({ length: 48 }, (_, i) =>
      recordOf(plan, { variant: 'concise', scenario: `dev${i}`, seed: 0 }),
    )
    const report = buildReport(inputOf(plan, [...records, ...cheap]))
    expect(variant(report).cost).toMatchObject({ totalUsd: 60, perCellUsd: 5 })
    expect(report.verdict.outcome).toBe('invalid')
    expect(report.verdict.reasons[0]?.text).toContain('48 records of cells that the plan does not have')
  })

  it('6: direction comes from the declared comparator, never from which mean is lower', () => {
    const falling = (before: string) => (cell: { variant: string }) => (cell.variant === before ? 0.89 : 0.2)
    const plan = planOf()
    expect(candidate(buildReport(inputOf(plan, recordsOf(plan, falling('current')))))).toMatchObject({
      outcome: 'regress',
      difference: { est: -0.69 },
    })
    const turned = planOf({ gate: { comparator: 'concise' } })
    const report = buildReport(inputOf(turned, recordsOf(turned, falling('current'))))
    expect(candidate(report, 'current')).toMatchObject({ outcome: 'ship', difference: { est: 0.69 } })
  })

  it('6b: records of another definition are not paired by their order', () => {
    const plan = planOf()
    const other = planOf({ campaignId: 'triage', scenarios: 12, coverage: 0.5 })
    const records = recordsOf(plan, (cell) => (isCandidate(cell) ? { fingerprint: fingerprintOf(other) } : 1))
    const report = buildReport(inputOf(plan, records))
    expect(report.verdict).toMatchObject({ outcome: 'invalid' })
    expect(report.verdict.reasons.map(({ code }) => code)).toContain('fingerprint_mismatch')
  })

  it('7: small samples use Student’s t, not the normal distribution', () => {
    expect(tTwoSided(1.96, 4)).toBeCloseTo(0.1216, 3)
    // t = -2.12 on 9 degrees of freedom: outside ±1.96, inside ±2.26.
    const plan = planOf({ scenarios: 10 })
    const deltas = [0, 0, 0, 0.1, 0.1, 0.2, 0, 0, 0.6, 0.5]
    const records = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) ? 0.8 - (deltas[scenario] ?? 0) : 0.8))
    const { difference, outcome } = candidate(buildReport(inputOf(plan, records)))
    expect((difference?.est ?? 0) / (difference?.se ?? 1)).toBeLessThan(-1.96)
    expect(outcome).toBe('inconclusive')
    expect(difference).toMatchObject({ df: 9, method: 't' })
    expect(((difference?.hi ?? 0) - (difference?.est ?? 0)) / (difference?.se ?? 1)).toBeCloseTo(2.262, 3)
  })

  it('8: five improvements of five are p = .0625, the floor of the design, and no verdict', () => {
    const plan = planOf({ scenarios: 5 })
    const records = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) ? 0.5 + scenario / 20 : 0.4))
    expect(candidate(buildReport(inputOf(plan, records)))).toMatchObject({
      outcome: 'underpowered',
      rule: '2b',
      signFlip: { p: 0.0625, pFloor: 0.0625, exact: true },
      difference: { descriptive: true },
    })
  })

  it('9: a constant difference has no interval instead of one of width 0', () => {
    const plan = planOf({ scenarios: 3 })
    const records = recordsOf(plan, (cell) => (isCandidate(cell) ? 0.7 : 0.5))
    expect(candidate(buildReport(inputOf(plan, records)))).toMatchObject({
      outcome: 'underpowered',
      difference: { est: 0.2, lo: null, hi: null, se: null, refused: 'zero_spread' },
    })
  })

  it('10: half of the scenarios tie and the mean still rises: decided on the mean, ties counted', () => {
    const plan = planOf({ scenarios: 40 })
    const records = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) && scenario % 2 === 1 ? 0.85 : 0.5))
    expect(candidate(buildReport(inputOf(plan, records)))).toMatchObject({
      outcome: 'ship',
      rule: '7',
      difference: { est: 0.175 },
      changed: { better: 20, same: 20, worse: 0, missing: 0 },
    })
  })

  it.each([
    [Number.NaN, 'score_not_finite'],
    [Number.POSITIVE_INFINITY, 'score_not_finite'],
    [1.2, 'score_outside_scale'],
    [-0.1, 'score_outside_scale'],
  ])('11: a score of %d makes the campaign invalid', (score, code) => {
    const plan = planOf()
    const records = recordsOf(plan, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 3 ? { score, pass: false } : 1,
    )
    const report = buildReport(inputOf(plan, records))
    expect(report.verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid', rule: '1' })
    expect(report.verdict.reasons[0]).toMatchObject({ code, text: expect.stringContaining('concise / s04 / seed 0') })
    expect(() => JSON.stringify(report)).not.toThrow()
  })

  it('11: a NaN score ends in a reason, not in a loop: neither the tests nor the report take one', () => {
    expect(() => wilcoxonSignedRank([0.1, Number.NaN, -0.2])).toThrow('difference 1 is NaN')
    const plan = planOf()
    const records = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) && scenario === 2 ? Number.NaN : 1))
    const { verdict } = buildReport(inputOf(plan, records))
    expect(verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(verdict.headline).toContain('without a finite score')
  })

  it('12: a byte-identical candidate that a judge scores higher is held, not shipped', () => {
    const plan = planOf({ scenarios: 24 })
    const records = recordsOf(plan, (cell, { scenario }) => ({
      score: isCandidate(cell) ? 0.95 : 0.9 + scenario / 1000,
      output: { digest: idDigest(cell.scenario), preview: 'same' },
      promptHash: idDigest(`${cell.variant} ${cell.scenario}`),
    }))
    const report = buildReport(inputOf(plan, records))
    expect(candidate(report)).toMatchObject({ outcome: 'hold', rule: '2a', reasons: [{ code: 'same_outputs' }] })
    expect(report.verdict.word).toBe('PASS')
  })

  it('13: scores of comparator and candidate for one scenario stay apart', () => {
    const plan = planOf()
    const records = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) ? 0.9 : 0.5 + scenario / 100))
    const report = buildReport(inputOf(plan, records))
    expect(candidate(report).difference?.est).toBeCloseTo(0.345, 6)
    expect(variant(report).mean.est).toBe(0.9)
  })

  it('14: a judge that fails is missing, not 0, and the denominator shows it', () => {
    const plan = planOf({ scenarios: 24 })
    const records = recordsOf(plan, (cell, { scenario }) =>
      isCandidate(cell) && scenario < 2 ? { status: 'judge_error' } : 1,
    )
    const report = buildReport(inputOf(plan, records))
    expect(variant(report)).toMatchObject({
      mean: { est: 1, n: 22 },
      bounds: { lo: 0.916667, hi: 1 },
      counts: { scored: 22, judge_error: 2 },
    })
    expect(candidate(report)).toMatchObject({ bounds: { lo: -0.0833333, hi: 0 }, changed: { missing: 2, same: 22 } })
  })

  it('35: scenarios of the split `dev` are reported, as exploratory', () => {
    const scenarios = Array.from({ length: 24 }, (_, i) => ({
      id: `s${i}`,
      split: 'dev' as const,
      splitDeclared: true,
    }))
    const plan = planOf({ scenarios })
    const report = buildReport(
      inputOf(
        plan,
        recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) ? 0.9 : (scenario % 3) / 10)),
      ),
    )
    expect(report.design).toMatchObject({ splits: { dev: 24 }, splitDeclared: true, candidates: ['concise'] })
    expect(candidate(report)).toMatchObject({ outcome: 'hold', rule: '6' })
    expect(report.verdict.headline).toContain('run the holdout')
  })

  it('36: a variant with an unknown model loses its own cells, not the report of the others', () => {
    const plan = planOf({ variants: ['current', 'concise', 'typo'] })
    const records = recordsOf(plan, ({ variant: id }) =>
      id === 'typo' ? { status: 'not_run', reason: 'lane-failed' } : id === 'concise' ? 0.8 : 0.7,
    )
    const report = buildReport(inputOf(plan, records))
    expect(report.verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(report.verdict.reasons).toEqual([{ code: 'no_scored_cell', text: expect.stringContaining('typo') }])
    expect(candidate(report).difference?.est).toBe(0.1)
    expect(variant(report).cost.totalUsd).toBe(0.0048)
    expect(report.coverage.reasons).toEqual({ 'lane-failed': 12 })
  })

  it('37: pass flags reach the pass rate, whatever the score', () => {
    const plan = planOf({ scenarios: 8 })
    const records = recordsOf(plan, (_, { scenario }) => ({ score: 0.7, pass: scenario < 6 }))
    expect(variant(buildReport(inputOf(plan, records)))).toMatchObject({
      mean: { est: 0.7 },
      passRate: { est: 0.75, n: 8 },
    })
  })

  it('15: a run against a stub, all tokens zero, is invalid; a part of it is a warning', () => {
    const stub = { code: 'stub_backend', severity: 'error', message: 'no token was used' } as const
    const stubbed: Given = {
      status: 'capture_error',
      integrity: { ok: false, issues: [stub] },
      tokens: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, known: true },
    }
    const plan = planOf({ scenarios: 40 })
    const all = buildReport(
      inputOf(
        plan,
        recordsOf(plan, () => stubbed),
      ),
    )
    expect(all).toMatchObject({ verdict: { outcome: 'invalid', exitCode: 2 }, integrity: { backend: 'stub' } })
    const one = buildReport(
      inputOf(
        plan,
        recordsOf(plan, (cell, at) => (isCandidate(cell) && at.scenario === 0 ? stubbed : 1)),
      ),
    )
    expect(one).toMatchObject({ integrity: { backend: 'mixed' } })
    expect(one.warnings.map(({ code }) => code)).toContain('mixed_backend')
  })

  it('17: a stored row without the provenance of its cost is refused by name, never read as a measured 0', () => {
    const plan = planOf()
    const [row] = recordsOf(plan, () => 1)
    const { provenance: _, ...cost } = row?.cost ?? { provenance: null }
    expect(() => parseRecord({ ...row, cost }, 'old.jsonl:7')).toThrow(/old\.jsonl:7.*cost\.provenance/s)
    expect(() => parseRecord({ ...row, schema: 'vitest-campaign/run-record@0' }, 'old.jsonl:7')).toThrow(
      'this version reads',
    )
  })

  it('25: order is by code unit in every locale, and neither the order of keys nor of rows changes a digest', () => {
    const ids = ['b', 'B', 'ä', 'a', 'Z', 'é', '10', '9']
    const plan = planOf({ scenarios: ids.map((id) => ({ id })) })
    const records = recordsOf(plan, (_, { scenario }) => scenario / 10)
    const turned = planOf({ scenarios: ids.toReversed().map((id) => ({ id })) })
    const rows = records.toReversed().map((row) => Object.fromEntries(Object.entries(row).reverse()) as typeof row)
    const [one, other] = [inputOf(plan, records), { ...inputOf(turned, rows), fingerprint: fingerprintOf(plan) }].map(
      buildReport,
    )
    expect(JSON.stringify(other)).toBe(JSON.stringify(one))
    expect(one?.fingerprint.report).toMatch(/^sha256-jcs:/)
    const broken = recordsOf(plan, (cell, { scenario }) => (isCandidate(cell) ? 0.2 : 0.9 - scenario / 1000))
    expect(candidate(buildReport(inputOf(plan, broken))).worst.map(({ scenario }) => scenario)[0]).toBe('b')
    for (const value of [undefined, Number.NaN, new Date(0), new Map()]) {
      expect(() => digestOf({ value } as never)).toThrow()
    }
  })

  it('46: checks over cells without any text to check are no finding, and are never called passed', () => {
    const plan = planOf()
    const silent = { output: null, calls: { subject: 0, judge: 0, setup: 0, retried: 0, mocked: 0 } }
    const report = buildReport(
      inputOf(
        plan,
        recordsOf(plan, () => silent),
      ),
    )
    expect(report.integrity).toEqual({ backend: 'none', issues: [] })
    expect(JSON.stringify(report)).not.toMatch(/"(canary|checks)[^"]*":\s*"(passed|ok)"/)
  })

  it('47: agreement is not correlation: a judge one grade too kind throughout correlates fully and agrees little', () => {
    // Rows: the first judge's grade, columns: the second's, always one higher.
    const kind = [
      [0, 5, 0, 0],
      [0, 0, 5, 0],
      [0, 0, 0, 5],
      [0, 0, 0, 0],
    ]
    const { value } = cohenKappa(kind, 'quadratic')
    expect(value).not.toBeNull()
    expect(value ?? 1).toBeLessThan(0.7)
  })

  it('48: a limit on one scorer reads that scorer, not the primary score', () => {
    const base = planOf({
      scenarios: 24,
      gate: {
        guardrails: [{ name: 'tone', endpoint: 'score', ratio: null, diff: 0.1, require: 'not-violated' }],
      },
    })
    const plan = {
      ...base,
      scorers: [...base.scorers, { name: 'tone', role: 'judge', scale: [0, 1], passes: false, lane: null } as const],
    }
    const records = recordsOf(plan, (cell, { scenario }) => ({
      score: isCandidate(cell) ? 0.9 : 0.3 + (scenario % 3) / 10,
      scores: { tone: { value: isCandidate(cell) ? 0.2 : 0.8 + (scenario % 2) / 10, pass: null, role: 'judge' } },
    }))
    expect(candidate(buildReport(inputOf(plan, records)))).toMatchObject({
      outcome: 'regress',
      rule: '4',
      guardrails: [{ name: 'tone', outcome: 'violated', candidate: 0.2 }],
    })
  })
})
