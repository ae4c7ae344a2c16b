import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceleration, bcaLevels, biasCorrection } from '../../../../src/core/stats/bootstrap/bca.ts'
import {
  type ClusterBootstrapOptions,
  clusterBootstrap,
  deleteOne,
  resampled,
} from '../../../../src/core/stats/bootstrap/cluster.ts'
import { enumeratedBootstrap } from '../../../../src/core/stats/bootstrap/enumeration.ts'
import { frontierClass, frontierPlaces } from '../../../../src/core/stats/bootstrap/frontier.ts'
import { drawUnits } from '../../../../src/core/stats/bootstrap/resample.ts'
import { maxTCriticalValue } from '../../../../src/core/stats/bootstrap/simultaneous.ts'
import { tQuantile } from '../../../../src/core/stats/student-t.ts'
import { uniforms } from '../uniforms.ts'

const source = { key: [3, 5], stream: 2 } as const
const options: ClusterBootstrapOptions = { ...source, level: 0.95, resamples: 2000 }
const meanOf = (values: readonly number[]) => (indices: ArrayLike<number>) => {
  let sum = 0
  for (let i = 0; i < indices.length; i++) sum += values[indices[i] ?? 0] ?? Number.NaN
  return sum / indices.length
}
const sample = (size: number, stream: number) => {
  const random = uniforms(stream)
  return Array.from({ length: size }, () => -Math.log(1 - random()))
}

describe('resamples', () => {
  it('every unit is drawn as often as the others, within 4 standard errors', () => {
    const counts = new Uint32Array(7)
    const indices = new Uint32Array(7)
    const resamples = 4000
    for (let r = 0; r < resamples; r++) {
      drawUnits(indices, r, source)
      for (const index of indices) counts[index] = (counts[index] ?? 0) + 1
    }
    for (const count of counts) {
      expect(Math.abs(count - resamples)).toBeLessThanOrEqual(4 * Math.sqrt(7 * resamples * (1 / 7) * (6 / 7)))
    }
  })

  it('any resample can be drawn alone, and depends on key and stream', () => {
    const draw = (resample: number, from: typeof source | { key: readonly [number, number]; stream: number }) => {
      const out = new Uint32Array(40)
      drawUnits(out, resample, from)
      return [...out]
    }
    const all = Array.from({ length: 5 }, (_, r) => draw(r, source))
    expect(draw(3, source)).toEqual(all[3])
    expect(draw(3, { ...source, stream: 3 })).not.toEqual(all[3])
    expect(draw(3, { ...source, key: [3, 6] })).not.toEqual(all[3])
  })

  it('the sampled distribution is the enumerated one within 4 Monte-Carlo standard errors', () => {
    const values = [1, 2, 3, 5, 12]
    const exact = enumeratedBootstrap(values, 0.95)
    const resamples = 20_000
    const drawn = resampled(values.length, meanOf(values), resamples, source) ?? new Float64Array()
    const mean = drawn.reduce((sum, x) => sum + x, 0) / resamples
    expect(Math.abs(mean - exact.mean)).toBeLessThanOrEqual((4 * exact.seIdeal) / Math.sqrt(resamples))
    for (const [end, tail] of [
      [exact.percentile.lo, 0.025],
      [exact.percentile.hi, 0.975],
    ] as const) {
      const below = drawn.filter((x) => x < end - 1e-9).length / resamples
      const upTo = drawn.filter((x) => x <= end + 1e-9).length / resamples
      const error = 4 * Math.sqrt((tail * (1 - tail)) / resamples)
      expect(below).toBeLessThanOrEqual(tail + error)
      expect(upTo).toBeGreaterThanOrEqual(tail - error)
    }
  })
})

describe('cluster bootstrap', () => {
  const values = sample(60, 201)

  it('scales and shifts with its statistic', () => {
    const one = clusterBootstrap(60, meanOf(values), options)
    const other = clusterBootstrap(60, meanOf(values.map((x) => 4 * x - 3)), options)
    expect(other.se).toBeCloseTo(4 * (one.se ?? Number.NaN), 10)
    expect(other.percentile.lo).toBeCloseTo(4 * (one.percentile.lo ?? Number.NaN) - 3, 10)
    expect(other.bca.hi).toBeCloseTo(4 * (one.bca.hi ?? Number.NaN) - 3, 8)
  })

  it('the same key gives the same bytes, another one others', () => {
    const again = clusterBootstrap(60, meanOf(values), options)
    expect(clusterBootstrap(60, meanOf(values), options)).toStrictEqual(again)
    expect(clusterBootstrap(60, meanOf(values), { ...options, key: [4, 5] }).se).not.toBe(again.se)
  })

  it('BCa leans to the side of the skew, where the percentile interval is too low', () => {
    const { percentile, bca } = clusterBootstrap(60, meanOf(values), options)
    expect(bca.lo).toBeGreaterThan(percentile.lo ?? Number.NaN)
    expect(bca.hi).toBeGreaterThan(percentile.hi ?? Number.NaN)
  })

  it.each([
    [0, 'no_data', 'no_data'],
    [29, 'too_few_scenarios', 'too_few_scenarios'],
    [30, undefined, 'too_few_scenarios'],
    [49, undefined, 'too_few_scenarios'],
    [50, undefined, undefined],
  ] as const)('%i units: percentile %s, BCa %s', (size, percentile, bca) => {
    const result = clusterBootstrap(size, meanOf(sample(size, 202)), { ...options, resamples: 400 })
    expect(result.percentile.refused).toBe(percentile)
    expect(result.bca.refused).toBe(bca)
    expect(result.percentile.lo === null).toBe(percentile !== undefined)
  })

  it('refuses a statistic that some resample does not have, and one that never moves', () => {
    const rare = sample(40, 203).map((_, i) => (i === 0 ? 1 : 0))
    const ratio = (indices: ArrayLike<number>) => {
      const passes = meanOf(rare)(indices)
      return passes === 0 ? null : 1 / passes
    }
    expect(clusterBootstrap(40, ratio, options)).toMatchObject({ se: null, refused: 'undefined_resample' })
    expect(clusterBootstrap(40, () => 0.3, options)).toMatchObject({ estimate: 0.3, refused: 'zero_spread' })
    expect(() => clusterBootstrap(40, () => 1, { ...options, resamples: 0 })).toThrow('no bootstrap of 0 resamples')
  })
})

describe('BCa', () => {
  it('without bias and skew it is the percentile interval', () => {
    const [lower, upper] = bcaLevels(0, 0, 0.95) ?? [Number.NaN, Number.NaN]
    expect(lower).toBeCloseTo(0.025, 12)
    expect(upper).toBeCloseTo(0.975, 12)
    expect(bcaLevels(0, 1, 0.95)).toBeNull()
  })

  it('acceleration is 0 for symmetric units, and mirrors with their sign', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 9 }), (values) => {
        fc.pre(new Set(values).size > 1)
        const of = (xs: readonly number[]) => acceleration(deleteOne(xs.length, meanOf(xs)) ?? []).value ?? Number.NaN
        expect(of(values.map((x) => -x))).toBeCloseTo(-of(values), 10)
        expect(of([...values, ...values.map((x) => -x)])).toBeCloseTo(0, 10)
        expect(of(values.map((x) => 3 * x + 1))).toBeCloseTo(of(values), 8)
      }),
    )
  })

  it('refuses an estimate that no resample reaches, and units without spread', () => {
    expect(biasCorrection(0, 0, 100)).toEqual({ value: null, refused: 'estimate_outside_resamples' })
    expect(biasCorrection(50, 0, 100).value).toBe(0)
    expect(acceleration([1, 1, 1])).toEqual({ value: null, refused: 'zero_spread' })
    expect(() => enumeratedBootstrap([1, 2, 3, 4, 5, 6, 7, 8], 0.95)).toThrow('enumerated, not of 8')
  })
})

describe('simultaneous intervals', () => {
  const columns = [sample(80, 204), sample(80, 205), sample(80, 206)]
  const critical = (contrasts: readonly (readonly number[])[], resamples = 4000) =>
    maxTCriticalValue(
      {
        units: 80,
        contrasts: contrasts.length,
        values: Float64Array.from(
          { length: 80 * contrasts.length },
          (_, i) => contrasts[i % contrasts.length]?.[Math.floor(i / contrasts.length)] ?? Number.NaN,
        ),
      },
      0.95,
      { ...source, resamples },
    )

  it('one contrast needs about Student’s t, each further one more, a copy nothing', () => {
    const normal = sample(80, 207).map((x, i) => (i % 2 === 0 ? x : -x))
    expect(critical([normal]).value).toBeCloseTo(tQuantile(0.975, 79), 0)
    const [a = [], b = [], c = []] = columns
    const one = critical([a]).value ?? Number.NaN
    const two = critical([a, b]).value ?? Number.NaN
    expect(two).toBeGreaterThan(one)
    expect(critical([a, b, c]).value).toBeGreaterThan(two)
    expect(critical([a, a]).value).toBe(one)
    expect(critical([a, a.map((x) => 5 * x)]).value).toBeCloseTo(one, 8)
    expect(critical([a, a.map(() => 0.2)]).value).toBe(one)
  })

  it('refuses contrasts without spread', () => {
    expect(critical([columns[0]?.map(() => 0.1) ?? []])).toEqual({ value: null, refused: 'zero_spread' })
    expect(maxTCriticalValue({ units: 3, contrasts: 1, values: Float64Array.of(1, 2, 3) }, 0.95, source)).toEqual({
      value: null,
      refused: 'too_few_scenarios',
    })
  })
})

describe('the cost–quality frontier', () => {
  const quality = sample(40, 208)
  const cost = sample(40, 209)
  const places = (...variants: { quality: readonly number[]; cost: readonly number[] }[]) =>
    frontierPlaces(variants, 0.9, { ...source, resamples: 500 })

  it('better in every scenario is on it in every resample; worse and dearer never', () => {
    const [best, worst] = places(
      { quality: quality.map((x) => x + 1), cost },
      { quality, cost: cost.map((x) => x + 1) },
    )
    expect(best).toEqual({ onFrontier: 1, monteCarloSe: 0, rank: { lo: 1, hi: 1 } })
    expect(worst).toEqual({ onFrontier: 0, monteCarloSe: 0, rank: { lo: 2, hi: 2 } })
  })

  it('equal variants share frontier and rank', () => {
    for (const place of places({ quality, cost }, { quality, cost })) {
      expect(place).toEqual({ onFrontier: 1, monteCarloSe: 0, rank: { lo: 1.5, hi: 1.5 } })
    }
  })

  it('refuses few scenarios, and unknown costs are an error of the caller', () => {
    expect(places({ quality: [1, 2], cost: [1, 2] })[0]).toMatchObject({
      onFrontier: null,
      refused: 'too_few_scenarios',
    })
    expect(() => places({ quality, cost: cost.map(() => Number.NaN) })).toThrow('cost 0 is NaN')
    expect(() => places({ quality, cost }, { quality: [1], cost: [1] })).toThrow('the same scenarios')
  })

  const against = (
    qualityLo: number | null,
    qualityHi: number | null,
    costLo: number | null,
    costHi: number | null,
  ) => ({
    qualityLo,
    qualityHi,
    costRatioLo: costLo,
    costRatioHi: costHi,
  })
  it.each([
    ['better and cheaper is shown', against(0.01, 0.2, 0.5, 0.9), 'dominated'],
    ['better, dearer', against(0.01, 0.2, 1.1, 1.4), 'frontier'],
    ['worse', against(-0.2, -0.01, 0.5, 0.9), 'frontier'],
    ['neither shown', against(-0.1, 0.1, 0.8, 1.2), 'undecided'],
    ['cheaper, quality open', against(-0.1, 0.1, 0.5, 0.9), 'undecided'],
    ['refused', against(null, null, null, null), 'undecided'],
  ] as const)('the other one is %s: %o', (_, other, expected) => {
    expect(frontierClass([other])).toBe(expected)
    expect(frontierClass([other, against(0.1, 0.2, 0.5, 0.6)])).toBe('dominated')
  })
})
