import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clusteredMean } from '../../../src/core/stats/clustered-mean.ts'
import { clusteredRegression } from '../../../src/core/stats/clustered-regression.ts'
import { flakinessOf, seedDisagreement } from '../../../src/core/stats/flakiness.ts'
import { harrellDavis } from '../../../src/core/stats/harrell-davis.ts'
import { passAtK, passBounds, passHatK } from '../../../src/core/stats/pass-at-k.ts'
import { quantileOfSorted } from '../../../src/core/stats/quantile.ts'
import { minRunsForQuantileBound, quantileRanks } from '../../../src/core/stats/quantile-interval.ts'
import { seedsCanSave, varianceComponents } from '../../../src/core/stats/variance-components.ts'
import { shuffled, uniforms } from './uniforms.ts'

const units = fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 }), {
  minLength: 2,
  maxLength: 8,
})

describe('variance components', () => {
  it('move with the square of the unit, and not with a shift', () => {
    fc.assert(
      fc.property(units, (rows) => {
        const one = varianceComponents(rows)
        fc.pre(one.refused === undefined)
        const other = varianceComponents(rows.map((unit) => unit.map((y) => 3 * y + 7)))
        expect(other.sigma2).toBeCloseTo(9 * (one.sigma2 ?? Number.NaN), 8)
        expect(other.tau2).toBeCloseTo(9 * (one.tau2 ?? Number.NaN), 8)
        expect(other.icc).toBeCloseTo(one.icc ?? Number.NaN, 9)
        expect(one.designEffect).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  it('equal seeds are worth one row each scenario; independent ones all of theirs', () => {
    const equal = varianceComponents([
      [1, 1, 1],
      [2, 2, 2],
      [5, 5, 5],
    ])
    expect(equal).toMatchObject({ sigma2: 0, icc: 1, designEffect: 3, effectiveRows: 3 })
    const noise = varianceComponents([
      [0, 2],
      [2, 0],
      [0, 2],
    ])
    expect(noise).toMatchObject({ tau2: 0, icc: 0, designEffect: 1, effectiveRows: 6 })
  })

  it('seeds save nothing where scenarios alone differ, and everything where they do not', () => {
    expect(seedsCanSave({ tau2: 1, sigma2: 0, seeds: 3 })).toBe(0)
    expect(seedsCanSave({ tau2: 0, sigma2: 1, seeds: 3 })).toBe(1)
    expect(seedsCanSave({ tau2: 1, sigma2: 3, seeds: 1 })).toBe(0.5)
    expect(() => seedsCanSave({ tau2: 0, sigma2: 0, seeds: 1 })).toThrow('no components')
  })
})

describe('regression with clustered errors', () => {
  it('without predictors is the clustered mean', () => {
    fc.assert(
      fc.property(units, (rows) => {
        fc.pre(rows.flat().length > rows.length)
        const mean = clusteredMean(rows, 0.95)
        const fit = clusteredRegression(
          rows.flatMap((unit, cluster) => unit.map((y) => ({ cluster, y, x: [] }))),
          0.95,
        )
        expect(fit.coefficients?.[0]?.est).toBeCloseTo(mean.mean ?? Number.NaN, 10)
        expect(fit.coefficients?.[0]?.cr0).toBeCloseTo(mean.cr0 ?? Number.NaN, 10)
        expect(fit.coefficients?.[0]?.se).toBeCloseTo(mean.se ?? Number.NaN, 10)
      }),
    )
  })

  it('moves and scales with its response, and does not care for the order of rows or the unit of a predictor', () => {
    const random = uniforms(107)
    const rows = Array.from({ length: 24 }, (_, i) => ({
      cluster: `c${i % 6}`,
      y: (i * 7) % 11,
      x: [i % 5, (i * i) % 7],
    }))
    const one = clusteredRegression(rows, 0.95).coefficients ?? []
    const changed = clusteredRegression(
      shuffled(rows, random).map(({ cluster, y, x }) => ({
        cluster,
        y: 2 * y + 5,
        x: [10 * (x[0] ?? Number.NaN), x[1] ?? Number.NaN],
      })),
      0.95,
    ).coefficients
    expect(changed?.[0]?.est).toBeCloseTo(2 * (one[0]?.est ?? Number.NaN) + 5, 9)
    expect(changed?.[1]?.est).toBeCloseTo((one[1]?.est ?? Number.NaN) / 5, 9)
    expect(changed?.[1]?.se).toBeCloseTo((one[1]?.se ?? Number.NaN) / 5, 9)
    expect(changed?.[2]?.se).toBeCloseTo(2 * (one[2]?.se ?? Number.NaN), 9)
  })

  it('refuses predictors that are each other’s copies', () => {
    const rows = [1, 2, 3, 4, 5, 7].map((x, cluster) => ({ cluster, y: x * x, x: [x, 2 * x] }))
    expect(clusteredRegression(rows, 0.95)).toMatchObject({ coefficients: null, refused: 'collinear' })
    expect(() =>
      clusteredRegression(
        [
          { cluster: 1, y: 1, x: [1] },
          { cluster: 2, y: 1, x: [] },
        ],
        0.95,
      ),
    ).toThrow('the same predictors')
  })
})

describe('quantiles', () => {
  it('lie between the ends, grow with p, and move and scale with their values', () => {
    const random = uniforms(108)
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 98 }),
        (values, percent) => {
          const sorted = [...values].sort((a, b) => a - b)
          const p = percent / 100
          const moved = sorted.map((x) => 4 * x - 3)
          for (const quantile of [
            (xs: readonly number[], q: number) => quantileOfSorted(xs, q),
            (xs: readonly number[], q: number) => harrellDavis(xs, q).value ?? Number.NaN,
          ]) {
            const at = quantile(sorted, p)
            expect(at).toBeGreaterThanOrEqual((sorted[0] ?? 0) - 1e-9)
            expect(at).toBeLessThanOrEqual((sorted.at(-1) ?? 0) + 1e-9)
            expect(quantile(sorted, p + 0.01)).toBeGreaterThanOrEqual(at - 1e-9)
            expect(quantile(moved, p)).toBeCloseTo(4 * at - 3, 8)
          }
          expect(harrellDavis(shuffled(values, random), p)).toStrictEqual(harrellDavis(values, p))
        },
      ),
    )
    expect(() => quantileOfSorted([], 0.5)).toThrow('no quantile of nothing')
    expect(() => harrellDavis([1], 0)).toThrow('needs p in (0, 1)')
  })

  it('the fewest runs that bound a quantile are the first with an upper rank', () => {
    for (const [q, level] of [
      [0.5, 0.95],
      [0.9, 0.9],
      [0.95, 0.95],
      [0.99, 0.975],
    ] as const) {
      const n = minRunsForQuantileBound(q, level)
      expect(quantileRanks(n, q, 2 * level - 1).upper).toBe(n)
      expect(quantileRanks(n - 1, q, 2 * level - 1).upper).toBeNull()
    }
  })
})

describe('seeds of one scenario', () => {
  it.each([
    [5, 5, 'stable-pass'],
    [0, 5, 'stable-fail'],
    [2, 5, 'flaky'],
    [1, 1, 'unknown'],
    [0, 0, 'unknown'],
  ] as const)('%i of %i passes are %s', (passes, runs, expected) => {
    expect(flakinessOf(passes, runs)).toBe(expected)
  })

  it('disagreement is the share of pairs of runs that differ', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), fc.nat(), (runs, seed) => {
        const passes = seed % (runs + 1)
        const outcomes = Array.from({ length: runs }, (_, i) => i < passes)
        let differ = 0
        outcomes.forEach((a, i) => {
          for (const b of outcomes.slice(i + 1)) if (a !== b) differ++
        })
        expect(seedDisagreement(passes, runs).value).toBeCloseTo(differ / ((runs * (runs - 1)) / 2), 12)
      }),
    )
    expect(seedDisagreement(1, 1)).toEqual({ value: null, refused: 'zero_variance_unidentified' })
  })

  it('a missing run never narrows pass@k, and the bounds hold every way it may have ended', () => {
    for (const statistic of [passAtK, passHatK]) {
      const none = passBounds(statistic, { runs: 4, passes: 2, missing: 0, k: 2 })
      const one = passBounds(statistic, { runs: 3, passes: 2, missing: 1, k: 2 })
      expect(none.lo).toBe(none.hi)
      expect(one.lo).toBeLessThanOrEqual(none.lo ?? Number.NaN)
      expect(one.hi).toBeGreaterThanOrEqual(none.hi ?? Number.NaN)
    }
    expect(passBounds(passAtK, { runs: 1, passes: 1, missing: 1, k: 3 })).toEqual({
      lo: null,
      hi: null,
      refused: 'k_exceeds_n',
    })
  })
})
