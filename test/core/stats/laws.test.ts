import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { betaQuantile, incompleteBeta } from '../../../src/core/stats/beta.ts'
import { clopperPearson, rateUpperBound } from '../../../src/core/stats/clopper-pearson.ts'
import { clusteredMean } from '../../../src/core/stats/clustered-mean.ts'
import { logGamma } from '../../../src/core/stats/gamma.ts'
import { holm } from '../../../src/core/stats/holm.ts'
import { pairedLogRatio } from '../../../src/core/stats/log-ratio.ts'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { noncentralTUpper } from '../../../src/core/stats/noncentral-t.ts'
import { normalCdf, normalQuantile } from '../../../src/core/stats/normal.ts'
import { pairedBounds } from '../../../src/core/stats/paired-bounds.ts'
import { pairedT } from '../../../src/core/stats/paired-t.ts'
import { passAtK, passHatK } from '../../../src/core/stats/pass-at-k.ts'
import { philoxKey } from '../../../src/core/stats/philox.ts'
import { pairedTMde, pairedTPower } from '../../../src/core/stats/power.ts'
import { medianOfSorted, quantileRanks } from '../../../src/core/stats/quantile-interval.ts'
import { signFlip } from '../../../src/core/stats/sign-flip.ts'
import { tCdf, tQuantile } from '../../../src/core/stats/student-t.ts'
import { wilson } from '../../../src/core/stats/wilson.ts'

const options = { key: [1, 2], stream: 0 } as const
const differences = fc.array(
  fc.integer({ min: -10, max: 10 }).map((x) => x / 10),
  { minLength: 2, maxLength: 12 },
)

function flip(contrasts: readonly (readonly number[])[], extra: Partial<Parameters<typeof signFlip>[1]> = {}) {
  const units = contrasts[0]?.length ?? 0
  const values = new Float64Array(units * contrasts.length)
  contrasts.forEach((row, j) => {
    row.forEach((value, unit) => {
      values[unit * contrasts.length + j] = value
    })
  })
  return signFlip({ units, contrasts: contrasts.length, values }, { ...options, ...extra })
}

describe('special functions', () => {
  it('logGamma has the known values and refuses poles', () => {
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 14)
    expect(logGamma(1)).toBeCloseTo(0, 14)
    expect(logGamma(11)).toBeCloseTo(Math.log(3628800), 12)
    expect(() => logGamma(0)).toThrow(RangeError)
    expect(() => logGamma(Number.NaN)).toThrow(RangeError)
  })

  it('the normal distribution has the known values, also far out', () => {
    expect(normalCdf(0)).toBe(0.5)
    expect(normalCdf(1.959963984540054)).toBeCloseTo(0.975, 15)
    expect(normalCdf(-10) / 7.619853024160525e-24).toBeCloseTo(1, 11)
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 13)
    expect(normalQuantile(1e-10)).toBeCloseTo(-6.361340902404056, 10)
    expect(() => normalQuantile(0)).toThrow(RangeError)
  })

  it('a quantile undoes its distribution function', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), fc.integer({ min: 1, max: 400 }), (p, df) => {
        expect(tCdf(tQuantile(p, df), df)).toBeCloseTo(p, 11)
        expect(normalCdf(normalQuantile(p))).toBeCloseTo(p, 13)
        expect(incompleteBeta(betaQuantile(p, df / 2, 3), df / 2, 3)).toBeCloseTo(p, 11)
      }),
    )
  })

  it('the non-central t is the central one without a shift, and tends to the normal', () => {
    fc.assert(
      fc.property(fc.double({ min: -6, max: 6, noNaN: true }), fc.integer({ min: 1, max: 200 }), (t, df) => {
        expect(noncentralTUpper(t, df, 0)).toBeCloseTo(1 - tCdf(t, df), 8)
      }),
      { numRuns: 50 },
    )
    expect(noncentralTUpper(1.96, 1e6, 2.8)).toBeCloseTo(normalCdf(2.8 - 1.96), 5)
  })
})

describe('means', () => {
  it('shifts and scales with its values', () => {
    fc.assert(
      fc.property(
        differences,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: -9, max: 9 }),
        (values, scale, shift) => {
          const one = meanInterval(values, 0.95)
          const other = meanInterval(
            values.map((x) => scale * x + shift),
            0.95,
          )
          expect(other.mean).toBeCloseTo(scale * (one.mean ?? Number.NaN) + shift, 10)
          fc.pre(one.refused === undefined)
          expect(other.lo).toBeCloseTo(scale * (one.lo ?? Number.NaN) + shift, 10)
          expect(other.hi).toBeCloseTo(scale * (one.hi ?? Number.NaN) + shift, 10)
        },
      ),
    )
  })

  it('with as many rows in every cluster, the clustered error is that of the cluster means', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }).chain((k) =>
          fc.array(fc.array(fc.integer({ min: 0, max: 10 }), { minLength: k, maxLength: k }), {
            minLength: 2,
            maxLength: 12,
          }),
        ),
        (clusters) => {
          const means = clusters.map((rows) => rows.reduce((a, b) => a + b, 0) / rows.length)
          const byMeans = meanInterval(means, 0.95)
          expect(clusteredMean(clusters, 0.95).se).toBeCloseTo(byMeans.se ?? 0, 10)
        },
      ),
    )
  })

  it.each([
    [[], 'no_data'],
    [[0.4], 'one_scenario'],
    [[0.1, 0.1, 0.1], 'zero_spread'],
    [[1 / 3, 1 - 2 / 3], 'zero_spread'],
  ] as const)('refuses an interval of %j: %s', (values, refused) => {
    expect(meanInterval(values, 0.95)).toMatchObject({ refused, se: null, lo: null, hi: null })
  })

  it('defect 9: three equal differences are no infinite t and no p of 0', () => {
    expect(pairedT([0.2, 0.2, 0.2], 0.95)).toMatchObject({ t: null, p: null, lo: null, refused: 'zero_spread' })
  })

  it('refuses levels that are none', () => {
    expect(() => meanInterval([1, 2], 95)).toThrow('a confidence level lies in (0, 1), not 95')
  })
})

describe('sign-flip test', () => {
  it('defect 8: five improvements of five give exactly 1/16, which is also the floor', () => {
    expect(flip([[0.1, 0.2, 0.3, 0.4, 0.5]])).toMatchObject({ raw: [0.0625], pFloor: 0.0625, exact: true })
  })

  it('Darwin’s maize: Fisher’s 1,726 of 32,768', () => {
    const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    expect(flip([darwin]).raw[0]).toBe(1726 / 32768)
  })

  it('counts ties whatever the rounding of the sums', () => {
    const tenths = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1]
    const whole = tenths.map((x) => Math.round(x * 10))
    expect(flip([tenths]).raw).toEqual(flip([whole]).raw)
  })

  it('no difference at all is p = 1', () => {
    expect(flip([[0, 0, 0]])).toMatchObject({ raw: [1], stepDown: [1] })
  })

  it('the exact and the sampled p agree within 4 standard errors', () => {
    fc.assert(
      fc.property(
        fc.array(
          differences.filter((d) => d.length === 12),
          { minLength: 1, maxLength: 3 },
        ),
        (contrasts) => {
          const exact = flip(contrasts, { method: 'exact' })
          const sampled = flip(contrasts, { method: 'monte-carlo' })
          exact.stepDown.forEach((p, j) => {
            const tolerance = 4 * Math.sqrt((p * (1 - p)) / 9999) + 1 / 10000
            expect(Math.abs((sampled.stepDown[j] ?? 0) - p)).toBeLessThanOrEqual(tolerance)
          })
        },
      ),
      { numRuns: 20, seed: 5 },
    )
  })

  it('adjusted p is never below the raw p, the step-down one never above the single-step one', () => {
    const rows = fc.array(fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 7, maxLength: 7 }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(rows, (contrasts) => {
        const { raw, stepDown, singleStep } = flip(contrasts)
        raw.forEach((p, j) => {
          expect(stepDown[j]).toBeGreaterThanOrEqual(p)
          expect(singleStep[j]).toBeGreaterThanOrEqual(stepDown[j] ?? 1)
        })
      }),
    )
  })

  it('swapping the arms changes nothing; another candidate moves no raw p', () => {
    fc.assert(
      fc.property(differences, (values) => {
        const other = values.map((x, i) => (i % 3) - x)
        expect(flip([values.map((x) => -x)]).raw).toEqual(flip([values]).raw)
        expect(flip([values, other]).raw[0]).toBe(flip([values]).raw[0])
      }),
    )
    const many = Array.from({ length: 60 }, (_, i) => ((i * 7) % 11) - 4.8)
    expect(flip([many, many.map((x) => x * x)]).raw[0]).toBe(flip([many]).raw[0])
  })

  it('refuses to enumerate what is too much, and tables that do not fit', () => {
    const many = Array.from({ length: 30 }, (_, i) => i + 1)
    expect(() => flip([many], { method: 'exact' })).toThrow('30 units are too many to enumerate')
    expect(() => signFlip({ units: 2, contrasts: 2, values: new Float64Array(3) }, options)).toThrow(
      'need 4 differences',
    )
  })
})

describe('multiplicity', () => {
  it('Holm never lowers a p and keeps their order', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 9 }), (p) => {
        const adjusted = holm(p)
        p.forEach((value, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(value)
          p.forEach((other, j) => {
            if (other >= value) expect(adjusted[j]).toBeGreaterThanOrEqual(adjusted[i] ?? 1)
          })
        })
      }),
    )
  })
})

describe('rates', () => {
  it('an interval holds its rate and mirrors with it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (n, seed) => {
        const x = seed % (n + 1)
        for (const interval of [wilson, clopperPearson]) {
          const [lo, hi] = interval(x, n, 0.95) ?? [Number.NaN, Number.NaN]
          const [mirrorLo, mirrorHi] = interval(n - x, n, 0.95) ?? [Number.NaN, Number.NaN]
          expect(lo).toBeLessThanOrEqual(x / n)
          expect(hi).toBeGreaterThanOrEqual(x / n)
          expect(mirrorLo).toBeCloseTo(1 - hi, 10)
          expect(mirrorHi).toBeCloseTo(1 - lo, 10)
        }
      }),
    )
  })

  it('nothing seen in 299 runs is the first that claims at most 1 %', () => {
    expect(rateUpperBound(0, 298, 0.95)).toBeGreaterThan(0.01)
    expect(rateUpperBound(0, 299, 0.95)).toBeLessThan(0.01)
  })

  it('refuses what is no rate', () => {
    expect(wilson(0, 0, 0.95)).toBeNull()
    expect(clopperPearson(0, 0, 0.95)).toBeNull()
    expect(() => wilson(3, 2, 0.95)).toThrow('not 3 of 2')
    expect(() => clopperPearson(1.5, 2, 0.95)).toThrow(RangeError)
  })

  it('pass^k ≤ pass rate ≤ pass@k, and k beyond the runs is refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), fc.nat(), (n, a, b) => {
        const c = a % (n + 1)
        const k = (b % n) + 1
        expect(passHatK(n, c, k)).toBeLessThanOrEqual(c / n + 1e-12)
        expect(passAtK(n, c, k)).toBeGreaterThanOrEqual(c / n - 1e-12)
      }),
    )
    expect(passHatK(5, 3, 2)).toBeCloseTo(0.3, 12)
    expect(passAtK(3, 3, 4)).toBeNull()
    expect(passHatK(3, 3, 4)).toBeNull()
  })
})

describe('bounds, quantiles, ratios, power', () => {
  it('one more missing cell never narrows the bounds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 20 }), (pairs) => {
        const sum = (arm: 0 | 1, from: number) => pairs.slice(from).filter((pair) => pair[arm]).length
        const bounds = (missing: number) =>
          pairedBounds({
            planned: pairs.length,
            candidate: { observed: pairs.length - missing, sum: sum(0, missing) },
            comparator: { observed: pairs.length, sum: sum(1, 0) },
            scale: [0, 1],
          })
        for (let missing = 1; missing <= pairs.length; missing++) {
          expect(bounds(missing).lo).toBeLessThanOrEqual(bounds(missing - 1).lo)
          expect(bounds(missing).hi).toBeGreaterThanOrEqual(bounds(missing - 1).hi)
        }
      }),
    )
  })

  it('below 59 runs nothing bounds the 95th percentile from above', () => {
    expect(quantileRanks(58, 0.95, 0.9).upper).toBeNull()
    expect(quantileRanks(59, 0.95, 0.9).upper).toBe(59)
    expect(quantileRanks(5, 0.5, 0.95)).toMatchObject({ lower: null, upper: null })
    expect(medianOfSorted([1, 2, 4, 9])).toBe(3)
    expect(() => medianOfSorted([])).toThrow(RangeError)
  })

  it('ratios are free of the unit and refuse what has no logarithm', () => {
    const base = [10, 12, 9, 14]
    const changed = [8, 9, 9, 10]
    const cents = pairedLogRatio(
      base.map((x) => x * 100),
      changed.map((x) => x * 100),
      0.95,
    )
    expect(cents.ratio).toBeCloseTo(pairedLogRatio(base, changed, 0.95).ratio ?? 0, 12)
    expect(pairedLogRatio([0, 0], [1, 1], 0.95).refused).toBe('not_applicable')
    expect(pairedLogRatio([1], [2], 0.95)).toEqual({ ratio: 2, lo: null, hi: null, refused: 'one_scenario' })
    expect(pairedLogRatio([1, 2], [2, 4], 0.95).refused).toBe('zero_spread')
    expect(() => pairedLogRatio([1], [], 0.95)).toThrow('no pairs')
  })

  it('the detectable effect is the one that has the wanted power, and shrinks with units', () => {
    for (const n of [6, 24, 120]) {
      const effect = pairedTMde(n, { power: 0.8, alpha: 0.05 })
      expect(pairedTPower(n, effect, 0.05)).toBeCloseTo(0.8, 7)
      expect(pairedTMde(n * 2, { power: 0.8, alpha: 0.05 })).toBeLessThan(effect)
    }
  })

  it('the key of the randomness depends on campaign, scenarios and endpoint', () => {
    const keys = [
      philoxKey('a', ['x', 'y'], 'label'),
      philoxKey('b', ['x', 'y'], 'label'),
      philoxKey('a', ['xy'], 'label'),
      philoxKey('a', ['x', 'y'], 'tone'),
    ]
    expect(new Set(keys.map(String)).size).toBe(4)
    expect(philoxKey('a', ['x', 'y'], 'label')).toEqual(keys[0])
  })
})
