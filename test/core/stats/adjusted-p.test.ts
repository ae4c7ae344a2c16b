import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { benjaminiHochberg, benjaminiYekutieli, falseCoverageLevel } from '../../../src/core/stats/false-discovery.ts'
import { hochberg } from '../../../src/core/stats/hochberg.ts'
import { holm } from '../../../src/core/stats/holm.ts'
import { shuffled, uniforms } from './uniforms.ts'

const pValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

describe.each([
  ['Benjamini–Hochberg', benjaminiHochberg],
  ['Benjamini–Yekutieli', benjaminiYekutieli],
  ['Hochberg', hochberg],
  ['Holm', holm],
])('%s', (_, adjust) => {
  it('never lowers a p, never passes 1, keeps the order, and follows its values', () => {
    const random = uniforms(106)
    fc.assert(
      fc.property(pValues, (p) => {
        const adjusted = adjust(p)
        p.forEach((value, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(value)
          expect(adjusted[i]).toBeLessThanOrEqual(1)
          p.forEach((other, j) => {
            if (other >= value) expect(adjusted[j]).toBeGreaterThanOrEqual(adjusted[i] ?? 1)
          })
        })
        const order = shuffled(
          p.map((_value, i) => i),
          random,
        )
        expect(adjust(order.map((i) => p[i] ?? 1))).toEqual(order.map((i) => adjusted[i]))
      }),
    )
  })
})

it('discovery rates adjust least, any dependence most, step-up less than step-down', () => {
  fc.assert(
    fc.property(pValues, (p) => {
      const [bh, by, up, down] = [benjaminiHochberg(p), benjaminiYekutieli(p), hochberg(p), holm(p)]
      p.forEach((_, i) => {
        expect(bh[i]).toBeLessThanOrEqual((up[i] ?? 1) + 1e-12)
        expect(up[i]).toBeLessThanOrEqual((down[i] ?? 1) + 1e-12)
        expect(bh[i]).toBeLessThanOrEqual((by[i] ?? 1) + 1e-12)
      })
    }),
  )
})

it('intervals of picked rows are wider, and none is picked from nothing', () => {
  expect(falseCoverageLevel(0.05, 2, 20)).toBeCloseTo(0.995, 12)
  expect(falseCoverageLevel(0.05, 20, 20)).toBeCloseTo(0.95, 12)
  expect(() => falseCoverageLevel(0.05, 0, 20)).toThrow('0 of 20 rows')
  expect(() => benjaminiHochberg([0.1, 1.2])).toThrow('a p value lies in [0, 1], not 1.2')
})
