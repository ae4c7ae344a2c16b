import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fleissKappa } from '../../../../src/core/stats/agreement/fleiss.ts'
import { intraclass } from '../../../../src/core/stats/agreement/intraclass.ts'
import { krippendorffAlpha, RATING_SCALES, readAlpha } from '../../../../src/core/stats/agreement/krippendorff.ts'
import { cohenKappa, dominatedByOneCategory, gwetAc1 } from '../../../../src/core/stats/agreement/two-judges.ts'
import { ppiMean } from '../../../../src/core/stats/ppi.ts'
import { judgeAccuracy, roganGladen } from '../../../../src/core/stats/rogan-gladen.ts'
import { shuffled, uniforms } from '../uniforms.ts'

const pairs = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })), { minLength: 3, maxLength: 20 })
  .filter((given) => new Set(given.flat()).size > 1)
const ratings = fc
  .array(fc.array(fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }), { minLength: 3, maxLength: 3 }), {
    minLength: 3,
    maxLength: 12,
  })
  .filter((units) => krippendorffAlpha(units, 'nominal').refused === undefined)

function table(given: readonly (readonly [number, number])[]): number[][] {
  return [1, 2, 3].map((i) => [1, 2, 3].map((j) => given.filter(([a, b]) => a === i && b === j).length))
}

describe('two judges', () => {
  it('agreement is symmetric, at most 1, and 1 where they agree', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const swapped = table(given.map(([a, b]) => [b, a]))
        const agreed = table(given.map(([a]) => [a, a]))
        for (const statistic of [
          gwetAc1,
          (t: number[][]) => cohenKappa(t),
          (t: number[][]) => cohenKappa(t, 'quadratic'),
        ]) {
          const { value } = statistic(table(given))
          if (value !== null) {
            expect(value).toBeLessThanOrEqual(1)
            expect(statistic(swapped).value).toBeCloseTo(value, 12)
          }
          if (new Set(given.map(([a]) => a)).size > 1) expect(statistic(agreed).value).toBe(1)
        }
      }),
    )
  })

  it('Fleiss’ κ of two judges is Scott’s π: κ with the mean margins', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const counts = given.map(([a, b]) => [1, 2, 3].map((j) => Number(a === j) + Number(b === j)))
        const both = table([...given, ...given.map(([a, b]) => [b, a] as const)])
        expect(fleissKappa(counts).value).toBeCloseTo(cohenKappa(both).value ?? Number.NaN, 10)
      }),
    )
  })

  it('says when one category hides the agreement from κ', () => {
    expect(
      dominatedByOneCategory([
        [118, 5],
        [2, 0],
      ]),
    ).toBe(true)
    expect(
      dominatedByOneCategory([
        [20, 5],
        [10, 15],
      ]),
    ).toBe(false)
    expect(() => cohenKappa([[1, 2]])).toThrow('square, not 1 × 2')
    expect(() => gwetAc1([[0.5]])).toThrow('holds counts, not 0.5')
    expect(() =>
      fleissKappa([
        [1, 1],
        [2, 1],
      ]),
    ).toThrow('same number of ratings')
  })
})

describe('Krippendorff’s α', () => {
  it('does not depend on the order of units or judges, to the last bit', () => {
    const random = uniforms(109)
    fc.assert(
      fc.property(ratings, (units) => {
        const others = shuffled(units, random).map((unit) => shuffled(unit, random))
        for (const scale of RATING_SCALES) {
          expect(krippendorffAlpha(others, scale)).toStrictEqual(krippendorffAlpha(units, scale))
        }
      }),
    )
  })

  it('each scale forgets what it has no meaning for', () => {
    fc.assert(
      fc.property(ratings, (units) => {
        const mapped = (f: (rating: number) => number) =>
          units.map((unit) => unit.map((rating) => (rating === null ? null : f(rating))))
        const same = (scale: (typeof RATING_SCALES)[number], f: (rating: number) => number) =>
          expect(krippendorffAlpha(mapped(f), scale).value).toBeCloseTo(
            krippendorffAlpha(units, scale).value ?? Number.NaN,
            9,
          )
        same('nominal', (x) => (x * 3) % 7)
        same('ordinal', (x) => x ** 3)
        same('interval', (x) => 4 * x - 9)
        same('ratio', (x) => 4 * x)
      }),
    )
  })

  it('a unit with one rating changes nothing', () => {
    fc.assert(
      fc.property(ratings, (units) => {
        for (const scale of RATING_SCALES) {
          expect(krippendorffAlpha([...units, [5, null, null], []], scale)).toStrictEqual(
            krippendorffAlpha(units, scale),
          )
        }
      }),
    )
  })

  it.each([
    [0.8, 'reliable'],
    [0.799, 'tentative'],
    [0.667, 'tentative'],
    [0.66, 'unreliable'],
  ] as const)('%f reads as %s', (alpha, reading) => {
    expect(readAlpha(alpha)).toBe(reading)
  })
})

describe('intraclass correlations', () => {
  const scores = fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }), {
    minLength: 3,
    maxLength: 9,
  })

  it('are free of unit and zero point; consistency alone forgives a strict judge', () => {
    fc.assert(
      fc.property(scores, (rows) => {
        const one = intraclass(rows)
        fc.pre(one.refused === undefined)
        const scaled = intraclass(rows.map((row) => row.map((y) => 5 * y + 2)))
        const strict = intraclass(rows.map(([a = 0, ...rest]) => [a - 4, ...rest]))
        for (const name of ['icc1', 'icc2', 'icc3'] as const) {
          expect(scaled[name]).toBeCloseTo(one[name] ?? Number.NaN, 8)
        }
        expect(strict.icc3).toBeCloseTo(one.icc3 ?? Number.NaN, 8)
      }),
    )
    // The denominator of ICC(2,k), MSR + (MSC − MSE)/n, is exactly 0 here.
    const pole = intraclass([
      [9, 5, 1],
      [3, 7, 9],
      [8, 8, 6],
      [7, 2, 9],
    ])
    expect(pole).toMatchObject({ icc2k: null, refused: 'not_applicable' })
    expect(pole.icc2).toBeLessThan(0)
    expect(() => intraclass([[1, 2], [3]])).toThrow('one score of every judge')
  })
})

describe('correcting a judge', () => {
  it('a perfect judge needs no correction, a known error is taken back', () => {
    const perfect = { truePass: 20, falseFail: 0, trueFail: 20, falsePass: 0 }
    expect(roganGladen(30, 100, perfect, 0.95).est).toBeCloseTo(0.3, 12)
    const lenient = { truePass: 20, falseFail: 0, trueFail: 10, falsePass: 10 }
    // All true passes and half of the fails pass: .3 + .7 / 2.
    expect(roganGladen(65, 100, lenient, 0.95).est).toBeCloseTo(0.3, 12)
    expect(roganGladen(10, 100, lenient, 0.95)).toMatchObject({ est: 0, lo: 0 })
    expect(judgeAccuracy(lenient, 0.95)).toMatchObject({ sensitivity: 1, specificity: 0.5, youden: 0.5 })
  })

  it('a judge that is right by and large is shifted, not scaled', () => {
    const labelled = Array.from({ length: 12 }, (_, i) => ({ human: i % 2, judge: (i % 2) + 0.1 }))
    const judged = [0.2, 0.6, 1.1, 0.4]
    expect(ppiMean(labelled, judged, 0.95).est).toBeCloseTo(0.575 - 0.1, 12)
  })
})
