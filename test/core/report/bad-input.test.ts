import { describe, expect, it } from 'vitest'
import { InvalidRecordError, parseRecord } from '../../../src/core/record/parse.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { cellsOf, type Given, inputOf, isCandidate, planOf, recordOf, recordsOf, reportOf } from './records.ts'

const codes = ({ verdict }: CampaignReport): string[] => verdict.reasons.map(({ code }) => code)

/** Each bad input has a refusal or reason of its own, and none an invented number. */
describe('bad input', () => {
  it('records of two campaigns', () => {
    const plan = planOf()
    const other = recordsOf(planOf({ campaignId: 'other' }), () => 1)
    const report = buildReport(inputOf(plan, [...recordsOf(plan, () => 1), ...other]))
    expect(report.verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(report.verdict.headline).toContain('24 records of cells that the plan does not have')
  })

  it('duplicate cells', () => {
    const plan = planOf()
    const records = recordsOf(plan, () => 1)
    const report = buildReport(inputOf(plan, [...records, ...records.slice(0, 1)]))
    expect(codes(report)).toContain('duplicate_cell')
  })

  it('a comparator with no rows', () => {
    const report = reportOf({}, (cell) => (isCandidate(cell) ? 1 : null))
    expect(report.verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(report.verdict.headline).toContain('current has not one scored cell of 12: nothing was measured')
    expect(report.candidates[0]?.difference).toMatchObject({ est: null, lo: null, hi: null, refused: 'no_data' })
  })

  it('all cells missing on one side', () => {
    const report = reportOf({}, (cell) => (isCandidate(cell) ? { status: 'infra_error' } : 1))
    expect(report.verdict).toMatchObject({ outcome: 'invalid', red: true })
    expect(report.variants.find(({ id }) => id === 'concise')).toMatchObject({
      mean: { est: null, refused: 'no_data' },
      passRate: { est: null, refused: 'no_data' },
      coverage: 0,
    })
  })

  it('one scenario', () => {
    const report = reportOf({ scenarios: 1, seeds: 5 }, (cell, { seed }) => Number(!isCandidate(cell) || seed > 2))
    expect(report.candidates[0]).toMatchObject({
      outcome: 'underpowered',
      rule: '2b',
      difference: { est: -0.6, lo: null, hi: null, refused: 'one_scenario' },
    })
    expect(report.verdict.red).toBe(false)
  })

  it('constant scores', () => {
    const report = reportOf({ scenarios: 24 }, (cell) => (isCandidate(cell) ? 0.4 : 0.5))
    expect(report.candidates[0]).toMatchObject({
      outcome: 'regress',
      difference: { est: -0.1, lo: null, hi: null, refused: 'zero_spread' },
    })
    expect(report.variants[0]?.mean).toMatchObject({ lo: null, hi: null, refused: 'zero_spread' })
  })

  it('a total collapse, 24 of 24 against 0 of 24, is red', () => {
    const report = reportOf({ scenarios: 24 }, (cell) => Number(!isCandidate(cell)))
    expect(report.verdict).toMatchObject({ red: true, outcome: 'regress', rule: '3', exitCode: 1 })
    // Also where the subject itself fails everywhere: then nothing was scored at all.
    const crashed = reportOf({ scenarios: 24 }, (cell): Given => (isCandidate(cell) ? { status: 'task_fail' } : 1))
    expect(crashed.verdict).toMatchObject({ red: true, outcome: 'invalid' })
  })

  it('two identical arms are held, never inconclusive', () => {
    const report = reportOf({ scenarios: 24, seeds: 3 }, (_, { scenario, seed }) => ((scenario + seed) % 3) / 2)
    expect(report.candidates[0]).toMatchObject({ outcome: 'hold', rule: '2a' })
    expect(report.verdict).toMatchObject({ word: 'PASS', red: false })
  })

  it('NaN: JSON cannot say it, a record may not, and a report that is handed one is invalid', () => {
    const plan = planOf()
    const [cell] = cellsOf(plan)
    if (cell === undefined) throw new Error('no cells')
    const record = recordOf(plan, cell)
    expect(() => parseRecord({ ...record, score: Number.NaN }, 'records.jsonl:1')).toThrow(InvalidRecordError)
    // What NaN becomes on its way through JSON: a scored cell without a score.
    const lost = JSON.parse(JSON.stringify({ ...record, score: Number.NaN }))
    for (const broken of [{ ...record, score: Number.NaN }, lost]) {
      const report = buildReport(inputOf(plan, [broken, ...recordsOf(plan, () => 1).slice(1)]))
      expect(codes(report)).toContain('score_not_finite')
      expect(JSON.stringify(report)).not.toContain('NaN')
    }
  })

  it('scores outside the declared scale', () => {
    const report = reportOf({ scale: [1, 5] }, (cell, { scenario }) => (isCandidate(cell) && scenario === 3 ? 6 : 4))
    expect(codes(report)).toContain('score_outside_scale')
    expect(report.verdict.headline).toContain('concise / s04 / seed 0: 6')
  })
})
