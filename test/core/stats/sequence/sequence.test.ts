import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanInterval } from '../../../../src/core/stats/mean-interval.ts'
import { alphaPerLook } from '../../../../src/core/stats/sequence/alpha-spending.ts'
import { bernoulliSequence } from '../../../../src/core/stats/sequence/bernoulli.ts'
import {
  bettingLowerBound,
  bettingLowerDifference,
  bettingSequence,
} from '../../../../src/core/stats/sequence/betting.ts'
import { empiricalBernsteinSequence } from '../../../../src/core/stats/sequence/empirical-bernstein.ts'
import { empiricalProcessLil } from '../../../../src/core/stats/sequence/empirical-process.ts'
import { normalMixtureBound } from '../../../../src/core/stats/sequence/normal-mixture.ts'
import { polynomialStitchingBound } from '../../../../src/core/stats/sequence/polynomial-stitching.ts'
import { uniforms } from '../uniforms.ts'

const scores = fc.array(
  fc.integer({ min: 0, max: 10 }).map((x) => x / 10),
  { minLength: 1, maxLength: 40 },
)

/** Most errors that a rate of at most `alpha` makes in so many campaigns, within 3 standard errors. */
const mostErrors = (alpha: number, campaigns: number) =>
  campaigns * alpha + 3 * Math.sqrt(campaigns * alpha * (1 - alpha))

describe.each([
  ['betting', bettingSequence],
  ['empirical Bernstein', empiricalBernsteinSequence],
])('%s', (_, sequence) => {
  it('one more value never widens the interval, and mirrored values mirror it', () => {
    fc.assert(
      fc.property(scores, (values) => {
        const before = sequence(values.slice(0, -1), 0.05)
        const { lo, hi } = sequence(values, 0.05)
        expect(lo).toBeGreaterThanOrEqual(before.lo ?? 0)
        expect(hi).toBeLessThanOrEqual(before.hi ?? 1)
        const mirrored = sequence(
          values.map((x) => 1 - x),
          0.05,
        )
        expect(mirrored.lo).toBeCloseTo(1 - (hi ?? Number.NaN), 10)
        expect(mirrored.hi).toBeCloseTo(1 - (lo ?? Number.NaN), 10)
      }),
    )
  })

  it('holds the mean at every look at once, also of a law with rare large losses', () => {
    const random = uniforms(301)
    const campaigns = 400
    const alpha = 0.1
    let missed = 0
    for (let campaign = 0; campaign < campaigns; campaign++) {
      // 2 % lose everything, the rest gain what makes the mean .5.
      const values = Array.from({ length: 60 }, () => (random() < 0.02 ? 0 : 0.5 / 0.98))
      const { lo, hi } = sequence(values, alpha)
      if ((lo ?? 0) > 0.5 || (hi ?? 1) < 0.5) missed++
    }
    expect(missed).toBeLessThanOrEqual(mostErrors(alpha, campaigns))
  })

  it('refuses values outside [0, 1] and error rates that are none', () => {
    expect(() => sequence([0.5, 1.5], 0.05)).toThrow('value 1 is 1.5, outside [0, 1]')
    expect(() => sequence([0.5], 0)).toThrow('an error rate lies in (0, 1)')
  })
})

describe('betting on differences', () => {
  it('is not fooled where the t interval is: a loss that is not in the sample', () => {
    const unlucky = Array.from({ length: 50 }, (_, i) => 0.02 + (i % 2) / 1e4)
    expect(meanInterval(unlucky, 0.95).lo).toBeGreaterThan(0)
    expect(bettingLowerDifference(unlucky, 1, 0.025).value).toBeLessThan(0)
  })

  it('shows a large gain, and moves with the unit', () => {
    const gains = Array.from({ length: 60 }, (_, i) => (i % 4 === 0 ? 0 : 0.5))
    const one = bettingLowerDifference(gains, 1, 0.025).value ?? Number.NaN
    expect(one).toBeGreaterThan(0)
    const points = bettingLowerDifference(
      gains.map((x) => 100 * x),
      100,
      0.025,
    ).value
    expect(points).toBeCloseTo(100 * one, 8)
    expect(() => bettingLowerDifference([2], 1, 0.025)).toThrow('outside [0, 1]')
    expect(() => bettingLowerDifference([0], 0, 0.025)).toThrow('a positive range')
  })

  it('a smaller error rate claims less', () => {
    fc.assert(
      fc.property(scores, (values) => {
        const strict = bettingLowerBound(values, 0.01).value ?? Number.NaN
        const loose = bettingLowerBound(values, 0.1).value ?? Number.NaN
        expect(strict).toBeGreaterThanOrEqual(0)
        expect(loose).toBeLessThanOrEqual(1)
        expect(meanInterval(values, 0.5).mean).toBeGreaterThanOrEqual(strict - 0.5)
      }),
    )
    const steady = new Array<number>(50).fill(0.8)
    expect(bettingLowerBound(steady, 0.1).value).toBeGreaterThan(bettingLowerBound(steady, 0.01).value ?? 1)
  })
})

describe('pass rates at any look', () => {
  it('holds its rate, mirrors with it, and narrows with the runs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), (runs, seed) => {
        const passes = seed % (runs + 1)
        const { lo, hi } = bernoulliSequence(passes, runs, 0.05, { tOpt: 50 })
        const mirrored = bernoulliSequence(runs - passes, runs, 0.05, { tOpt: 50 })
        expect(lo).toBeLessThanOrEqual(passes / runs)
        expect(hi).toBeGreaterThanOrEqual(passes / runs)
        expect(mirrored.lo).toBeCloseTo(1 - (hi ?? Number.NaN), 9)
      }),
    )
    const width = (runs: number) => {
      const { lo, hi } = bernoulliSequence(runs / 2, runs, 0.05, { tOpt: 100 })
      return (hi ?? Number.NaN) - (lo ?? Number.NaN)
    }
    expect(width(1000)).toBeLessThan(width(100))
  })

  it('misses the rate at no look in more campaigns than declared', () => {
    const random = uniforms(302)
    const campaigns = 300
    const alpha = 0.1
    let missed = 0
    for (let campaign = 0; campaign < campaigns; campaign++) {
      let passes = 0
      for (let run = 1; run <= 60; run++) {
        if (random() < 0.7) passes++
        const { lo, hi } = bernoulliSequence(passes, run, alpha, { tOpt: 30 })
        if ((lo ?? 0) > 0.7 || (hi ?? 1) < 0.7) {
          missed++
          break
        }
      }
    }
    expect(missed).toBeLessThanOrEqual(mostErrors(alpha, campaigns))
    expect(missed).toBeGreaterThan(0)
  })
})

describe('boundaries', () => {
  it('a fair walk crosses them in no more campaigns than declared', () => {
    const random = uniforms(303)
    const campaigns = 400
    const alpha = 0.1
    const steps = Array.from({ length: 300 }, (_, i) => i + 1)
    const boundaries = [
      steps.map((v) => normalMixtureBound(v, alpha, { vOpt: 50 }, 'one-sided')),
      steps.map((v) => normalMixtureBound(v, alpha / 2, { vOpt: 50 }, 'one-sided')),
      steps.map((v) => polynomialStitchingBound(v, alpha, { vMin: 10 })),
    ]
    const crossed = boundaries.map(() => 0)
    for (let campaign = 0; campaign < campaigns; campaign++) {
      let sum = 0
      const walk = steps.map(() => (sum += random() < 0.5 ? -1 : 1))
      boundaries.forEach((boundary, i) => {
        if (walk.some((at, t) => at >= (boundary[t] ?? 0))) crossed[i] = (crossed[i] ?? 0) + 1
      })
    }
    expect(crossed[0]).toBeGreaterThan(0)
    expect(crossed[0]).toBeLessThanOrEqual(mostErrors(alpha, campaigns))
    expect(crossed[1]).toBeLessThanOrEqual(mostErrors(alpha / 2, campaigns))
    expect(crossed[2]).toBeLessThanOrEqual(mostErrors(alpha, campaigns))
  })

  it('grow with time and with certainty; one side needs less than two', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 400 }), (v, vOpt) => {
        const one = normalMixtureBound(v, 0.05, { vOpt }, 'one-sided')
        expect(one).toBeLessThan(normalMixtureBound(v, 0.05, { vOpt }, 'two-sided'))
        expect(one).toBeLessThan(normalMixtureBound(v + 1, 0.05, { vOpt }, 'one-sided'))
        expect(one).toBeLessThan(normalMixtureBound(v, 0.01, { vOpt }, 'one-sided'))
      }),
    )
    expect(() => normalMixtureBound(1, 0.05, { vOpt: 10, alphaOpt: 0.6 }, 'one-sided')).toThrow('no boundary')
    expect(() => polynomialStitchingBound(1, 0.05, { vMin: 0 })).toThrow('no boundary')
  })

  it('the band around a distribution narrows with runs, and claims nothing before its start', () => {
    expect(empiricalProcessLil(50, 0.05, { tMin: 100 })).toBe(Number.POSITIVE_INFINITY)
    expect(empiricalProcessLil(2000, 0.05, { tMin: 100 })).toBeLessThan(empiricalProcessLil(1000, 0.05, { tMin: 100 }))
    expect(empiricalProcessLil(1000, 0.01, { tMin: 100 })).toBeGreaterThan(
      empiricalProcessLil(1000, 0.05, { tMin: 100 }),
    )
    expect(() => empiricalProcessLil(10, 0.05, { tMin: 1, a: 0.7 })).toThrow('no band')
  })

  it('declared looks share the error rate', () => {
    expect(alphaPerLook(0.05, 5)).toBeCloseTo(0.01, 15)
    expect(() => alphaPerLook(0.05, 0)).toThrow('0 looks')
  })
})
