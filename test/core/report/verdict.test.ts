import { describe, expect, it } from 'vitest'
import { buildReport } from '../../../src/core/report/build.ts'
import {
  type Coordinates,
  type Given,
  idDigest,
  inputOf,
  isCandidate,
  planOf,
  reportOf,
  warningCodes,
} from './records.ts'

describe('verdict', () => {
  it('24 of 24 against 0 of 24 is red', () => {
    for (const seeds of [1, 3]) {
      const { verdict, candidates } = reportOf({ scenarios: 24, seeds }, (cell) => (isCandidate(cell) ? 0 : 1))
      expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'regress', rule: '3', red: true, gate: 'pr' })
      expect(verdict.headline).toContain('100.0 % → 0.0 %, −100.0 pp')
      expect(candidates[0]?.difference).toMatchObject({ est: -1, lo: null, hi: null, refused: 'zero_spread' })
    }
  })

  it('a collapse by task_fail leaves no scored cell and is red too', () => {
    const { verdict } = reportOf({ scenarios: 24 }, (cell) => (isCandidate(cell) ? { status: 'task_fail' } : 1))
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'invalid', red: true })
  })

  it('says how large a drop would have been caught where nothing is shown', () => {
    const { verdict, candidates } = reportOf({ scenarios: 24, seeds: 3 }, (cell, { scenario, seed }) =>
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
    const unchanged = reportOf({ scenarios: 3 }, same)
    expect(unchanged.candidates[0]).toMatchObject({ outcome: 'hold', reasons: [{ code: 'unchanged' }] })
    const scores = reportOf({ scenarios: 24, seeds: 3 }, () => 1)
    expect(scores.candidates[0]).toMatchObject({ outcome: 'hold', reasons: [{ code: 'no_difference_seen' }] })
    expect(scores.verdict.headline).toContain('up to 11.7 % of scenarios could still lose')
  })

  it('the worst candidate decides; one red candidate is enough', () => {
    const { verdict, candidates } = reportOf(
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

  it('one candidate without a verdict keeps the campaign from passing', () => {
    const { verdict, candidates } = reportOf(
      { scenarios: 24, variants: ['current', 'good', 'open'] },
      ({ variant }, { scenario }) =>
        variant === 'good' ? 0.9 + (scenario % 3) / 30 : variant === 'open' ? 0.6 + ((scenario % 2) * 2 - 1) / 10 : 0.6,
    )
    expect(candidates.map(({ outcome }) => outcome)).toEqual(['ship', 'inconclusive'])
    expect(verdict).toMatchObject({ word: 'NO VERDICT', outcome: 'inconclusive', red: false })
  })

  it('cells missing from the comparator count as those of the candidate do', () => {
    const { verdict } = reportOf({ scenarios: 24 }, (cell, { scenario }) =>
      !isCandidate(cell) && scenario < 3 ? { status: 'infra_error' } : (scenario % 3) / 2,
    )
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'inconclusive', rule: '10', red: true })
    expect(verdict.headline).toContain('3 cells of concise and current')
  })

  it('the sign-flip test shows nothing where missing cells could turn the direction, else its larger p', () => {
    const of = (missing: number) =>
      reportOf({ scenarios: 12, coverage: 0.5 }, (cell, { scenario }) =>
        isCandidate(cell) && scenario < missing ? { status: 'infra_error' } : isCandidate(cell) ? 0.7 : 0.4,
      ).candidates[0]
    expect(of(0)?.signFlip?.p).toBeCloseTo(2 / 4096, 9)
    expect(of(1)?.bounds).toMatchObject({ lo: 0.241667, hi: 0.325 })
    expect(of(1)?.signFlip?.p).toBeGreaterThan(2 / 4096)
    expect(of(1)?.signFlip?.p).toBeLessThan(0.05)
    expect(of(6)?.bounds?.lo).toBeLessThan(0)
    expect(of(6)?.signFlip?.p).toBe(1)
  })

  it('variants that are no candidates turn nothing red', () => {
    const { verdict, candidates } = reportOf(
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
    const one = reportOf({ scenarios: 24 }, of).candidates[0]?.difference
    const three = reportOf({ scenarios: 24, variants: ['current', 'concise', 'b', 'c'] }, of).candidates.find(
      ({ id }) => id === 'concise',
    )?.difference
    expect(one?.level).toBe(0.95)
    expect(three?.level).toBeCloseTo(0.983333, 6)
    expect(three?.lo).toBeLessThan(one?.lo ?? -1)
  })

  it('missing cells alone are not red while their share is within the floor', () => {
    const { verdict, candidates } = reportOf({ scenarios: 40 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? { status: 'infra_error', reason: 'provider-fault' } : (scenario % 3) / 2,
    )
    expect(verdict).toMatchObject({ red: false, word: 'NO VERDICT' })
    expect(candidates[0]?.difference).toMatchObject({ method: 'bounds' })
  })

  it('tips: how many of the missing cells would have to have failed', () => {
    const { candidates } = reportOf({ scenarios: 30, coverage: 0.5 }, (cell, { scenario }) =>
      isCandidate(cell) ? (scenario < 8 ? { status: 'infra_error' } : 1) : (scenario % 10) / 10,
    )
    const [one] = candidates
    expect(one?.outcome).toBe('ship')
    expect(one?.bounds?.tippingCells).toBeNull()
    const close = reportOf({ scenarios: 30, coverage: 0.5 }, (cell, { scenario }) =>
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
    const { verdict, candidates, design } = reportOf({ scenarios }, of)
    expect(design).toMatchObject({ scenarios: 24, families: 4 })
    expect(candidates[0]?.difference).toMatchObject({ n: 4, df: 3, unit: 'family' })
    expect(verdict).toMatchObject({ outcome: 'underpowered', rule: '2b' })
    expect(verdict.headline).toContain('4 of the 6')
    expect(reportOf({ scenarios: 24 }, of).verdict.outcome).toBe('regress')
  })

  it('problems found outside the records warn, or make the campaign invalid where two plans or cells claim one name', () => {
    const lost = [{ code: 'worker_lost', text: 'the worker died' }]
    expect(warningCodes(reportOf({}, () => 1, lost))).toContain('worker_lost')
    expect(reportOf({}, () => 1, lost).verdict.red).toBe(false)
    const twice = [{ code: 'campaign_twice', text: 'two files declare triage' }]
    expect(reportOf({}, () => 1, twice).verdict).toMatchObject({
      outcome: 'invalid',
      headline: expect.stringContaining('two files'),
    })
  })

  it('a judge that differs between the arms makes the campaign invalid', () => {
    const judge = (cell: Coordinates, model: string): Given => ({
      score: 1,
      judges: { tone: { model: isCandidate(cell) ? model : 'gpt-5', digest: idDigest('judge') } },
    })
    expect(reportOf({}, (cell) => judge(cell, 'gpt-5')).verdict.outcome).toBe('hold')
    const { verdict } = reportOf({}, (cell) => judge(cell, 'gpt-5-mini'))
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
    const { verdict } = reportOf({}, (cell, { scenario }) => (isCandidate(cell) && scenario === 0 ? given : 1))
    expect(verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(verdict.reasons.map((reason) => reason.code)).toContain(code)
  })

  it('refuses plans that contradict themselves', () => {
    const plan = planOf()
    expect(() => buildReport(inputOf({ ...plan, seeds: [] }, []))).toThrow(
      'campaign triage (evals/triage.eval.ts) plans no cells',
    )
    expect(() => buildReport(inputOf({ ...plan, primary: 'tone' }, []))).toThrow('the primary scorer tone is not among')
    expect(() => reportOf({ gate: { comparator: 'nobody' } }, () => 1)).toThrow('the gate names nobody')
  })
})
