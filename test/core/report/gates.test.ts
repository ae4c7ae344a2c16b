import { describe, expect, it } from 'vitest'
import { type Coordinates, type Given, isCandidate, reportOf, warningCodes } from './records.ts'

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
    const { verdict, candidates } = reportOf({ scenarios, gate }, (__, { scenario }) => of(scenario))
    expect(verdict).toMatchObject({ word, outcome, red })
    expect(candidates[0]).toMatchObject({ difference: null, atLeast: { threshold: 0.9, outcome } })
  })

  it('beside a comparator: below it is red, above it passes where the difference is open', () => {
    const of = (cell: Coordinates, { scenario }: { scenario: number }) =>
      (isCandidate(cell) ? scenario % 60 !== 7 : scenario % 60 !== 9) ? 1 : 0
    const both = { atLeast: 0.8 }
    expect(reportOf({ scenarios: 60, gate: both }, of).verdict).toMatchObject({ word: 'PASS', outcome: 'inconclusive' })
    const low = reportOf({ scenarios: 60, gate: { atLeast: 0.99 } }, (_, { scenario }) => (scenario % 2 ? 1 : 0))
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
    const { verdict, candidates } = reportOf({ scenarios, seeds: 3 }, of(own))
    expect(verdict).toMatchObject({ word: 'FAIL', outcome: 'regress', rule: '2' })
    expect(verdict.headline).toContain('must-pass scenario refund (seed 1), which current passes')
    expect(candidates[0]?.mustPass).toEqual({ scenarios: 1, broken: [{ scenario: 'refund', failedSeeds: [1] }] })
  })

  it('is not red where the comparator fails too, or was not measured', () => {
    expect(
      reportOf(
        { scenarios, seeds: 3 },
        of(
          (seed) => (seed ? 1 : 0),
          (seed) => (seed === 2 ? 0 : 1),
        ),
      ).verdict.red,
    ).toBe(false)
    const unmeasured = reportOf(
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
      reportOf(
        { scenarios, gate },
        of(() => 0),
      ).verdict,
    ).toMatchObject({ word: 'FAIL', rule: '2' })
    expect(
      reportOf(
        { scenarios, gate },
        of(() => 1),
      ).verdict,
    ).toMatchObject({ word: 'PASS', outcome: 'hold' })
    const missing = reportOf(
      { scenarios, gate, coverage: 0.5 },
      of(() => ({ status: 'infra_error' })),
    )
    expect(missing.verdict).toMatchObject({ word: 'NO VERDICT', outcome: 'inconclusive' })
    expect(warningCodes(missing)).toContain('must_pass_unmeasured')
  })
})

describe('a campaign without a gate', () => {
  it('is NO VERDICT, and red for coverage alone', () => {
    const { verdict, candidates } = reportOf({ gate: null }, (cell) => (isCandidate(cell) ? 0 : 1))
    expect(verdict).toMatchObject({ word: 'NO VERDICT', gate: 'none', outcome: null, rule: null, red: false })
    expect(verdict.headline).toContain('24 of 24 cells measured, label: concise 0.0 %, current 100.0 %')
    expect(candidates).toEqual([])
    const short = reportOf({ gate: null }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? { status: 'judge_error' } : 1,
    )
    expect(short.verdict).toMatchObject({ word: 'FAIL', rule: 'coverage', red: true })
    expect(short.verdict.headline).toContain('concise falls short')
  })
})
