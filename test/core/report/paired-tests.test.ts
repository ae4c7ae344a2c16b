import { describe, expect, it } from 'vitest'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CandidateReport } from '../../../src/core/report/candidate-report.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import { mcnemarExact } from '../../../src/core/stats/mcnemar.ts'
import { tangoScoreInterval } from '../../../src/core/stats/tango.ts'
import { wilcoxonSignedRank } from '../../../src/core/stats/wilcoxon.ts'
import { type Given, inputOf, isCandidate, planOf, recordsOf, reportOf } from './records.ts'

const first = ({ candidates }: CampaignReport): CandidateReport => {
  const [candidate] = candidates
  if (candidate === undefined) throw new Error('no candidate')
  return candidate
}
/** The candidate passes where the comparator fails in `b` scenarios, and the reverse in `c`. */
const table = (n: number, b: number, c: number, seeds = 1): CampaignReport =>
  reportOf({ scenarios: n, seeds }, (cell, { scenario }) => {
    if (scenario < b) return isCandidate(cell) ? 1 : 0
    if (scenario < b + c) return isCandidate(cell) ? 0 : 1
    return 1
  })

describe('pass or fail with one seed', () => {
  it('has the exact McNemar test and Tango’s interval', () => {
    const { tests } = first(table(40, 9, 2))
    expect(tests.mcnemar).toMatchObject({ better: 9, worse: 2, interval: { method: 'tango', n: 40 } })
    expect(tests.mcnemar?.p).toBeCloseTo(mcnemarExact(9, 2), 5)
    const { lo, hi } = tangoScoreInterval({ b: 9, c: 2, n: 40 }, 0.95)
    expect(tests.mcnemar?.interval.lo).toBeCloseTo(lo ?? Number.NaN, 5)
    expect(tests.mcnemar?.interval.hi).toBeCloseTo(hi ?? Number.NaN, 5)
  })

  it('with no discordant pair has an interval that is not of width 0', () => {
    const { mcnemar } = first(table(10, 0, 0)).tests
    expect(mcnemar).toMatchObject({ p: 1 })
    expect(mcnemar?.interval.hi).toBeGreaterThan(0.2)
  })

  it('ships only where the exact test says so too, however many scenarios there are', () => {
    // 5 of 40 better and none worse: t and Tango exclude 0, the exact p is .0625.
    const five = first(table(40, 5, 0))
    expect(five.difference?.lo).toBeGreaterThan(0)
    expect(five.tests.mcnemar?.interval.lo).toBeGreaterThan(0)
    expect(five.tests.mcnemar?.p).toBeCloseTo(0.0625, 6)
    expect(five.outcome).not.toBe('ship')
    expect(first(table(40, 7, 0)).outcome).toBe('ship')
  })

  it('is told by the scores: arms that both score .5 everywhere neither passed nor failed', () => {
    expect(first(reportOf({ scenarios: 24 }, () => 0.5)).tests.mcnemar).toBeNull()
    expect(first(reportOf({ scenarios: 24 }, (_, { scenario }) => (scenario % 3) / 2)).tests.mcnemar).toBeNull()
  })

  it('of one scenario is listed, without a p or an interval', () => {
    const { signFlip, tests, unseenLoss } = first(reportOf({ scenarios: 1 }, (cell) => (isCandidate(cell) ? 0 : 1)))
    expect(signFlip).toMatchObject({ p: null, refused: 'one_scenario' })
    expect({ tests, unseenLoss }).toEqual({ tests: { mcnemar: null, wilcoxon: null }, unseenLoss: null })
  })

  it('of several seeds, of families or with a missing cell is no table of pairs', () => {
    expect(first(table(40, 9, 2, 2)).tests.mcnemar).toBeNull()
    const families = reportOf(
      { scenarios: Array.from({ length: 12 }, (_, i) => ({ id: `s${i}`, family: `f${i % 6}` })) },
      (cell, { scenario }) => Number(isCandidate(cell) || scenario > 3),
    )
    expect(first(families).tests.mcnemar).toBeNull()
    const missing = reportOf({ scenarios: 40 }, (cell, { scenario }) =>
      isCandidate(cell) && scenario === 0 ? { status: 'infra_error' } : 1,
    )
    expect(first(missing).tests).toEqual({ mcnemar: null, wilcoxon: null })
  })
})

describe('a judge’s graded scale', () => {
  const graded = (role: 'judge' | 'code'): CampaignReport => {
    const plan = planOf({ scale: [1, 5], scenarios: 12 })
    const judged = { ...plan, scorers: plan.scorers.map((scorer) => ({ ...scorer, role })) }
    const of = (cell: Parameters<typeof isCandidate>[0], { scenario }: { scenario: number }): Given =>
      isCandidate(cell) ? Math.min(5, 2 + (scenario % 4)) : 2 + (scenario % 3)
    return buildReport(inputOf(judged, recordsOf(judged, of)))
  }

  it('has exact signed ranks with the pseudo-median, ties and zeros counted', () => {
    const { wilcoxon } = first(graded('judge')).tests
    const differences = Array.from({ length: 12 }, (_, i) => Math.min(5, 2 + (i % 4)) - (2 + (i % 3)))
    const expected = wilcoxonSignedRank(differences)
    expect(wilcoxon).toMatchObject({ moving: expected.n, zeros: expected.zeros })
    expect(wilcoxon?.p).toBeCloseTo(expected.p ?? Number.NaN, 6)
    expect(wilcoxon?.pseudoMedian).toMatchObject({ method: 'hodges-lehmann', descriptive: true })
  })

  it('only of a judge: ranks say nothing about a mean that code measures', () => {
    expect(first(graded('code')).tests.wilcoxon).toBeNull()
  })
})

describe('intervals of several candidates', () => {
  const several = (scenarios: number, alike: boolean): CampaignReport =>
    reportOf({ scenarios, variants: ['current', 'one', 'three', 'two'] }, ({ variant }, { scenario }) => {
      const own = alike ? 0 : { current: 0, one: 1, three: 3, two: 2 }[variant]
      if (variant === 'current') return 0.5
      return 0.4 + 0.2 * (((scenario + 7 * (own ?? 0)) * 37) % 11) * 0.1
    })

  it('share the level by the largest of their resampled differences from 30 scenarios on', () => {
    const few = several(29, false).candidates.map(({ adjusted, difference }) => [adjusted.intervals, difference?.level])
    expect(few).toEqual(Array(3).fill(['bonferroni', expect.closeTo(1 - 0.05 / 3, 5)]))
    for (const alike of [true, false]) {
      const levels = several(60, alike).candidates.map(({ adjusted, difference }) => {
        expect(adjusted.intervals).toBe('maxT')
        return difference?.level ?? 0
      })
      for (const level of levels) {
        expect(level).toBeGreaterThanOrEqual(0.95)
        expect(level).toBeLessThanOrEqual(1 - 0.05 / 3)
      }
    }
  })

  it('of candidates that move together are hardly wider than a single one’s', () => {
    const [level = 1] = several(200, true).candidates.map(({ difference }) => difference?.level)
    expect(level).toBeLessThan(0.96)
    const single = reportOf({ scenarios: 200 }, (cell, { scenario }) => (isCandidate(cell) ? (scenario % 7) / 7 : 0.5))
    expect(first(single)).toMatchObject({ adjusted: { intervals: 'none' }, difference: { level: 0.95 } })
  })
})
