import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanInterval, moments } from '../../../src/core/stats/mean-interval.ts'
import { skewedBounds } from '../../../src/core/stats/skewed-bounds.ts'
import { tQuantile } from '../../../src/core/stats/student-t.ts'
import { uniforms } from './uniforms.ts'

const LEVEL = 0.95
const samples = fc
  .array(fc.integer({ min: -100, max: 100 }), { minLength: 3, maxLength: 60 })
  .filter((values) => new Set(values).size > 1)

function bounds(values: readonly number[]): { readonly lo: number; readonly hi: number } {
  const found = skewedBounds(values, LEVEL)
  if (found === null) throw new Error('no bounds')
  return found
}

describe('bounds of a mean that may be skewed', () => {
  it('never lie inside the t interval', () => {
    fc.assert(
      fc.property(samples, (values) => {
        const { lo, hi } = bounds(values)
        const t = meanInterval(values, LEVEL)
        expect(lo).toBeLessThanOrEqual(t.lo ?? Number.NEGATIVE_INFINITY)
        expect(hi).toBeGreaterThanOrEqual(t.hi ?? Number.POSITIVE_INFINITY)
      }),
      { numRuns: 500 },
    )
  })

  it('mirror, shift and scale with the values', () => {
    fc.assert(
      fc.property(samples, (values) => {
        const { lo, hi } = bounds(values)
        const mirrored = bounds(values.map((value) => 5 - 2 * value))
        expect(mirrored.lo).toBeCloseTo(5 - 2 * hi, 6)
        expect(mirrored.hi).toBeCloseTo(5 - 2 * lo, 6)
      }),
      { numRuns: 500 },
    )
  })

  it('solve the transformation they name, where it and not t decides', () => {
    // A right-skewed sample: only its upper bound moves far.
    const values = [0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 5, 0, 1, 0, 0]
    const n = values.length
    const { mean, sd } = moments(values)
    const third = values.reduce((sum, value) => sum + (value - mean) ** 3, 0) / n
    const second = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n
    const adjusted = (third / second ** 1.5) * (Math.sqrt(n * (n - 1)) / (n - 2))
    const gamma = adjusted + Math.sqrt((6 * n * (n - 1)) / ((n - 2) * (n + 1) * (n + 3)))
    const T = (mean - bounds(values).hi) / sd
    const g = T + (gamma * T ** 2) / 3 + (gamma ** 2 * T ** 3) / 27 + gamma / (6 * n)
    expect(g).toBeCloseTo(-tQuantile(0.975, n - 1) / Math.sqrt(n), 9)
    expect(bounds(values).hi).toBeGreaterThan(2 * (meanInterval(values, LEVEL).hi ?? 0))
    expect(bounds(values).lo).toBe(meanInterval(values, LEVEL).lo)
  })

  it('refuse what the t interval refuses; two values have no skewness', () => {
    expect(skewedBounds([1], LEVEL)).toBeNull()
    expect(skewedBounds([1, 1, 1], LEVEL)).toBeNull()
    const { lo, hi } = meanInterval([1, 2], LEVEL)
    expect(skewedBounds([1, 2], LEVEL)).toEqual({ lo, hi })
  })

  it('hold for pass rates of 10 % where the t interval does not', () => {
    const random = uniforms(20)
    const [campaigns, scenarios] = [4_000, 20]
    let byT = 0
    let bySkewed = 0
    for (let campaign = 0; campaign < campaigns; campaign++) {
      // Three seeds that repeat their scenario's own outcome three times in four.
      const rates = Array.from({ length: scenarios }, () => {
        const own = random() < 0.1
        const passes = [0, 1, 2].map(() => (random() < 0.75 ? own : random() < 0.1))
        return passes.filter(Boolean).length / 3
      })
      if ((meanInterval(rates, LEVEL).hi ?? 1) < 0.1) byT++
      if ((skewedBounds(rates, LEVEL)?.hi ?? 1) < 0.1) bySkewed++
    }
    const most = campaigns * (0.025 + 3 * Math.sqrt((0.025 * 0.975) / campaigns))
    expect(bySkewed).toBeLessThanOrEqual(most)
    expect(byT).toBeGreaterThan(2 * most)
  })
})
