import { describe, expect, it } from 'vitest'
import { benjaminiHochberg, falseCoverageLevel } from '../../../src/core/stats/false-discovery.ts'
import { isCandidate, reportOf } from './records.ts'

/** 24 scenarios in three families; the candidate loses in one of them. */
const families = Array.from({ length: 24 }, (_, i) => ({
  id: `s${String(i).padStart(2, '0')}`,
  family: ['billing', 'search', 'travel'][i % 3] ?? '',
}))

describe('slices', () => {
  it('by family say where a candidate moved, with q values over all rows', () => {
    const { slices } = reportOf({ scenarios: families, seeds: 3 }, (cell, { scenario, seed }) =>
      isCandidate(cell) && scenario % 3 === 1 ? Number((scenario + seed) % 4 === 0) : Number((scenario + seed) % 5 > 0),
    )
    expect(slices.map(({ by, value, scenarios }) => [by, value, scenarios])).toEqual([
      ['family', 'billing', 8],
      ['family', 'search', 8],
      ['family', 'travel', 8],
    ])
    const [billing, search] = slices
    expect(billing?.difference).toMatchObject({ est: 0, refused: 'zero_spread' })
    expect(billing?.q).toBeNull()
    expect(search?.difference.est).toBeLessThan(-0.3)
    expect(search?.p).toBeLessThan(0.01)
    expect(search?.difference.descriptive).toBe(true)
  })

  it('that q picks have intervals wide enough for having been picked', () => {
    const tag = ({ scenario }: { scenario: number }) => ({ kind: `k${scenario % 4}` })
    const { slices } = reportOf({ scenarios: 40 }, (cell, at) => {
      const noise = ((at.scenario * 37) % 11) / 40
      return {
        score: isCandidate(cell) && at.scenario % 4 === 0 ? noise : 0.5 + (isCandidate(cell) ? noise : 0.1),
        tags: tag(at),
      }
    })
    const ps = slices.flatMap(({ p }) => p ?? [])
    const qs = benjaminiHochberg(ps)
    expect(slices.map(({ q }) => q ?? Number.NaN)).toEqual(qs.map((q) => expect.closeTo(q, 5)))
    const picked = qs.filter((q) => q <= 0.05).length
    expect(picked).toBeGreaterThan(0)
    for (const { q, difference } of slices) {
      expect(difference.level).toBeCloseTo((q ?? 1) <= 0.05 ? falseCoverageLevel(0.05, picked, ps.length) : 0.95, 6)
    }
  })

  it('by a tag that is of the answer, of one value, or a name for each scenario are none', () => {
    const { slices } = reportOf({ scenarios: 30 }, (cell, { scenario }) => ({
      score: 1,
      tags: { length: isCandidate(cell) ? 'long' : 'short', team: 'a', ticket: `t${scenario}` },
    }))
    expect(slices).toEqual([])
  })

  it('of fewer than six scenarios have no p, and reach no verdict', () => {
    const few = families.slice(0, 12)
    const report = reportOf({ scenarios: few }, (cell, { scenario }) => Number(!isCandidate(cell) || scenario % 3 > 0))
    for (const { p, q } of report.slices) expect([p, q]).toEqual([null, null])
    const without = reportOf({ scenarios: few.map(({ id }) => ({ id })) }, () => 1)
    expect(without.slices).toEqual([])
  })
})

describe('families', () => {
  const grouped = (perFamily: number) =>
    Array.from({ length: 48 }, (_, i) => ({ id: `s${i}`, family: `f${Math.floor(i / perFamily)}` }))

  it('are what to buy: scenarios of one family that move together count once', () => {
    // Each family moves as one, so 48 scenarios in 8 families are 8 observations.
    const of = (perFamily: number) =>
      reportOf({ scenarios: grouped(perFamily), seeds: 2, gate: { target: 0.05 } }, (cell, { scenario, seed }) => {
        const family = Math.floor(scenario / 6)
        return isCandidate(cell) ? ((family * 5) % 8) / 10 + 0.02 * seed : 0.4
      }).candidates[0]
    const [alone, together] = [of(1), of(6)]
    expect(alone?.power).toMatchObject({ unit: 'scenario' })
    expect(together?.power).toMatchObject({ unit: 'family' })
    expect(together?.power.advice).toContain('families')
    // As scenarios of their own, 48 would seem to be nearly enough of them.
    const share = (power: number | null | undefined, there: number): number => (power ?? 0) / there
    expect(share(together?.power.requiredScenarios, 8)).toBeGreaterThan(4 * share(alone?.power.requiredScenarios, 48))
  })

  it('are the units of the variance components', () => {
    const report = reportOf(
      { scenarios: grouped(6), seeds: 2 },
      (_, { scenario, seed }) => Number(Math.floor(scenario / 6) % 2 === 0) * 0.5 + 0.1 * ((scenario + seed) % 2),
    )
    const { variance } = report.variants[0] ?? {}
    expect(variance?.tau2).toBeCloseTo(0.0714, 3)
    expect(variance?.icc).toBeGreaterThan(0.95)
  })
})
