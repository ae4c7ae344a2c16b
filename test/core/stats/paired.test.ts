import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cliffsDelta } from '../../../src/core/stats/cliffs-delta.ts'
import { cohenH } from '../../../src/core/stats/cohen-h.ts'
import { costPerSuccessRatio } from '../../../src/core/stats/cost-per-success.ts'
import { equivalence, nonInferiority } from '../../../src/core/stats/equivalence.ts'
import { fisherExact } from '../../../src/core/stats/fisher.ts'
import { friedman } from '../../../src/core/stats/friedman.ts'
import { hodgesLehmann } from '../../../src/core/stats/hodges-lehmann.ts'
import { mcnemarExact, mcnemarMidP } from '../../../src/core/stats/mcnemar.ts'
import { mcnemarPowerExact } from '../../../src/core/stats/mcnemar-power.ts'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { newcombePaired10 } from '../../../src/core/stats/newcombe-paired.ts'
import { signTest } from '../../../src/core/stats/sign-test.ts'
import { standardizedDifference } from '../../../src/core/stats/standardized-difference.ts'
import { tangoScoreInterval } from '../../../src/core/stats/tango.ts'
import { weightedMean } from '../../../src/core/stats/weighted-mean.ts'
import { wilcoxonPratt, wilcoxonSignedRank } from '../../../src/core/stats/wilcoxon.ts'
import { wilson } from '../../../src/core/stats/wilson.ts'
import { shuffled, uniforms } from './uniforms.ts'

const differences = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 10 })
const counts = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 }))
  .filter(([b, c, rest]) => b + c + rest > 0)

describe('McNemar', () => {
  it('is the sign test of its discordant pairs, and blind to which arm is which', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), (b, c) => {
        const signs = [...new Array<number>(b).fill(1), ...new Array<number>(c).fill(-1), 0]
        expect(mcnemarExact(b, c)).toBe(signTest(signs).p)
        expect(mcnemarExact(b, c)).toBe(mcnemarExact(c, b))
        expect(mcnemarMidP(b, c)).toBeCloseTo(mcnemarMidP(c, b), 12)
        expect(mcnemarMidP(b, c)).toBeLessThanOrEqual(mcnemarExact(b, c))
      }),
    )
  })

  it('says nothing without a discordant pair', () => {
    expect(mcnemarExact(0, 0)).toBe(1)
    expect(mcnemarMidP(0, 0)).toBe(1)
    expect(mcnemarMidP(1, 1)).toBeCloseTo(0.75, 12)
    expect(() => mcnemarExact(-1, 2)).toThrow('discordant pairs are counted')
  })

  it('the exact and the simulated power agree within 4 standard errors', () => {
    const design = { p10: 0.25, p01: 0.1, n: 40, alpha: 0.05 }
    const random = uniforms(101)
    const campaigns = 4000
    let shown = 0
    for (let campaign = 0; campaign < campaigns; campaign++) {
      let b = 0
      let c = 0
      for (let i = 0; i < design.n; i++) {
        const u = random()
        if (u < design.p10) b++
        else if (u < design.p10 + design.p01) c++
      }
      if (b > c && mcnemarExact(b, c) <= design.alpha) shown++
    }
    const power = mcnemarPowerExact(design)
    expect(Math.abs(shown / campaigns - power)).toBeLessThanOrEqual(4 * Math.sqrt((power * (1 - power)) / campaigns))
  })

  it('power grows with the scenarios, and there is none without discordance', () => {
    const power = (n: number) => mcnemarPowerExact({ p10: 0.2, p01: 0.05, n, alpha: 0.05 })
    expect(power(5)).toBe(0)
    expect(power(100)).toBeGreaterThan(power(50))
    expect(mcnemarPowerExact({ p10: 0, p01: 0, n: 50, alpha: 0.05 })).toBe(0)
    expect(() => mcnemarPowerExact({ p10: 0.7, p01: 0.7, n: 5, alpha: 0.05 })).toThrow('no design')
  })
})

describe('intervals of paired rates', () => {
  it('hold the estimate, stay in [−1, 1], and mirror when the arms swap', () => {
    fc.assert(
      fc.property(counts, ([b, c, rest]) => {
        const n = b + c + rest
        const a = Math.floor(rest / 2)
        for (const [one, other] of [
          [tangoScoreInterval({ b, c, n }, 0.95), tangoScoreInterval({ b: c, c: b, n }, 0.95)],
          [newcombePaired10({ a, b, c, d: rest - a }, 0.95), newcombePaired10({ a, b: c, c: b, d: rest - a }, 0.95)],
        ] as const) {
          const [est, lo, hi] = [one.est ?? Number.NaN, one.lo ?? Number.NaN, one.hi ?? Number.NaN]
          expect(lo).toBeLessThanOrEqual(est + 1e-12)
          expect(hi).toBeGreaterThanOrEqual(est - 1e-12)
          expect(lo).toBeGreaterThanOrEqual(-1 - 1e-12)
          expect(hi).toBeLessThanOrEqual(1 + 1e-12)
          expect(hi - lo).toBeGreaterThan(0)
          expect(other.lo).toBeCloseTo(-hi, 9)
          expect(other.hi).toBeCloseTo(-lo, 9)
        }
      }),
    )
  })

  it('without discordant pairs the score interval is Wilson’s, both ways', () => {
    for (const n of [1, 10, 200]) {
      const { lo, hi } = tangoScoreInterval({ b: 0, c: 0, n }, 0.95)
      expect(hi).toBeCloseTo(wilson(0, n, 0.95)?.[1] ?? Number.NaN, 10)
      expect(lo).toBeCloseTo(-(hi ?? Number.NaN), 12)
    }
    expect(tangoScoreInterval({ b: 6, c: 0, n: 6 }, 0.95).hi).toBe(1)
    expect(() => tangoScoreInterval({ b: 3, c: 3, n: 5 }, 0.95)).toThrow('3 + 3 discordant pairs of 5')
  })
})

describe('signed ranks', () => {
  it('the distribution is that of all sign patterns', () => {
    fc.assert(
      fc.property(differences, (values) => {
        const { v, p, n } = wilcoxonSignedRank(values)
        const moving = values.filter((value) => value !== 0).map(Math.abs)
        const ranks = moving.map(
          (x) => moving.filter((y) => y < x).length + (moving.filter((y) => y === x).length + 1) / 2,
        )
        let below = 0
        let above = 0
        for (let pattern = 0; pattern < 2 ** n; pattern++) {
          const sum = ranks.reduce((total, rank, i) => (pattern & (1 << i) ? total + rank : total), 0)
          if (sum <= (v ?? Number.NaN)) below++
          if (sum >= (v ?? Number.NaN)) above++
        }
        expect(p).toBeCloseTo(Math.min(1, (2 * Math.min(below, above)) / 2 ** n), 12)
      }),
      { numRuns: 60 },
    )
  })

  it('neither order nor unit of the differences matters, and swapping the arms mirrors V', () => {
    const random = uniforms(102)
    fc.assert(
      fc.property(differences, fc.integer({ min: 1, max: 9 }), (values, scale) => {
        for (const test of [wilcoxonSignedRank, wilcoxonPratt]) {
          const one = test(values)
          expect(test(shuffled(values, random))).toStrictEqual(one)
          expect(test(values.map((x) => x * scale))).toStrictEqual(one)
          expect(test(values.map((x) => -x)).p).toBeCloseTo(one.p ?? Number.NaN, 12)
        }
      }),
    )
  })

  it('equal tenths are ties however they were computed', () => {
    expect(wilcoxonSignedRank([0.3, 0.1 + 0.2, -0.3])).toMatchObject({ v: 4, p: 1 })
    expect(wilcoxonSignedRank([0, 0])).toMatchObject({ v: 0, n: 0, zeros: 2, p: 1 })
  })

  it('stays exact at sizes where others go normal', () => {
    const many = Array.from({ length: 120 }, (_, i) => (i % 3 === 0 ? -(i + 1) : i + 1))
    const { p, pFloor } = wilcoxonSignedRank(many)
    expect(p).toBeGreaterThan(0)
    expect(p).toBeLessThan(0.01)
    expect(pFloor).toBe(2 ** -119)
  })

  it('the Hodges–Lehmann estimate moves, scales and mirrors with its differences, byte by byte', () => {
    const random = uniforms(103)
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 6, maxLength: 12 }),
        fc.integer({ min: -9, max: 9 }),
        (values, shift) => {
          const one = hodgesLehmann(values, 0.9)
          expect(hodgesLehmann(shuffled(values, random), 0.9)).toStrictEqual(one)
          const moved = hodgesLehmann(
            values.map((x) => 2 * x + shift),
            0.9,
          )
          expect(moved.est).toBe(2 * (one.est ?? Number.NaN) + shift)
          expect(moved.lo).toBe(2 * (one.lo ?? Number.NaN) + shift)
          const mirrored = hodgesLehmann(
            values.map((x) => 0 - x),
            0.9,
          )
          expect(mirrored.hi).toBe(0 - (one.lo ?? Number.NaN))
          expect(one.coverage).toBeGreaterThanOrEqual(0.9)
        },
      ),
    )
  })
})

describe('Fisher and Friedman', () => {
  it('Fisher’s p is the share of relabelled rows at most as likely', () => {
    fc.assert(
      fc.property(fc.nat(3), fc.nat(3), fc.nat(3), fc.nat(3), (a, b, c, d) => {
        fc.pre(a + b + c + d > 0)
        const n = a + b + c + d
        const row = a + b
        const column = a + c
        const ways = new Map<number, number>()
        for (let set = 0; set < 2 ** n; set++) {
          const members = Array.from({ length: n }, (_, i) => (set >> i) & 1)
          if (members.reduce((sum, x) => sum + x, 0) !== column) continue
          const x = members.slice(0, row).reduce((sum, y) => sum + y, 0)
          ways.set(x, (ways.get(x) ?? 0) + 1)
        }
        const all = [...ways.values()]
        const total = all.reduce((sum, x) => sum + x, 0)
        const asRare = all.filter((x) => x <= (ways.get(a) ?? 0)).reduce((sum, x) => sum + x, 0)
        expect(
          fisherExact([
            [a, b],
            [c, d],
          ]),
        ).toBeCloseTo(asRare / total, 10)
      }),
      { numRuns: 40 },
    )
    expect(() =>
      fisherExact([
        [1, 2],
        [0.5, 3],
      ]),
    ).toThrow('a table holds counts, not 0.5')
  })

  it('Friedman’s χ² sees only the ranks inside scenarios, in any order of scenarios and variants', () => {
    const random = uniforms(104)
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 }), {
          minLength: 2,
          maxLength: 9,
        }),
        (rows) => {
          const one = friedman(rows)
          expect(friedman(shuffled(rows, random))).toStrictEqual(one)
          expect(friedman(rows.map((row) => row.map((y) => Math.exp(y)))).chi2).toBe(one.chi2)
          expect(friedman(rows.map((row) => [...row].reverse())).chi2).toBe(one.chi2)
        },
      ),
    )
  })
})

describe('margins and effects', () => {
  const values = fc
    .array(fc.integer({ min: -10, max: 10 }), { minLength: 3, maxLength: 12 })
    .filter((xs) => new Set(xs).size > 1)

  it('the tests at a margin and their intervals say the same', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 12 }), (xs, margin) => {
        const ni = nonInferiority(xs, margin, 0.025)
        const tost = equivalence(xs, margin, 0.025)
        expect(ni.shown).toBe((ni.p ?? 1) < 0.025)
        expect(tost.shown).toBe((tost.p ?? 1) < 0.025)
        expect(tost.p).toBeGreaterThanOrEqual(ni.p ?? 1)
      }),
    )
    expect(() => nonInferiority([1, 2], 0, 0.025)).toThrow('a margin is positive')
    expect(equivalence([0.1, 0.1, 0.1], 0.5, 0.05)).toMatchObject({ shown: false, refused: 'zero_spread' })
  })

  it('equal weights are none; a weight is the same in any unit; weight 0 leaves a scenario out', () => {
    fc.assert(
      fc.property(values, (xs) => {
        const plain = meanInterval(xs, 0.95)
        const ones = weightedMean(xs, new Array<number>(xs.length).fill(1), 0.95)
        expect(ones.se).toBeCloseTo(plain.se ?? Number.NaN, 12)
        expect(ones.lo).toBeCloseTo(plain.lo ?? Number.NaN, 10)
        const weights = xs.map((_, i) => 1 + (i % 3))
        const one = weightedMean(xs, weights, 0.95)
        const other = weightedMean([...xs, 99], [...weights.map((w) => w * 7), 0], 0.95)
        expect(other.n).toBe(one.n)
        expect(other.mean).toBeCloseTo(one.mean ?? Number.NaN, 10)
        expect(other.se).toBeCloseTo(one.se ?? Number.NaN, 10)
      }),
    )
    expect(() => weightedMean([1, 2], [1, -1], 0.95)).toThrow('weight 1 is -1')
  })

  it('effect sizes: free of the unit, negated by a swap', () => {
    const random = uniforms(105)
    fc.assert(
      fc.property(values, values, (base, changed) => {
        const delta = cliffsDelta(base, changed).value ?? Number.NaN
        expect(cliffsDelta(shuffled(base, random), shuffled(changed, random)).value).toBe(delta)
        expect(cliffsDelta(changed, base).value).toBe(0 - delta)
        expect(standardizedDifference(base.map((x) => 3 * x)).value).toBeCloseTo(
          standardizedDifference(base).value ?? Number.NaN,
          10,
        )
      }),
    )
    expect(cohenH(0.2, 0.7)).toBeCloseTo(-cohenH(0.7, 0.2), 12)
    expect(() => cohenH(0.5, 1.2)).toThrow('a rate lies in [0, 1]')
  })

  it('cost per success: free of currency, inverted by a swap, and failing cells cost', () => {
    const rows = [
      { baseCost: 10, basePasses: 3, changedCost: 8, changedPasses: 3 },
      { baseCost: 12, basePasses: 2, changedCost: 9, changedPasses: 1 },
      { baseCost: 9, basePasses: 3, changedCost: 9, changedPasses: 3 },
      { baseCost: 14, basePasses: 0, changedCost: 10, changedPasses: 2 },
    ]
    const one = costPerSuccessRatio(rows, 0.95)
    expect(one.ratio).toBeCloseTo(36 / 9 / (45 / 8), 12)
    const cents = costPerSuccessRatio(
      rows.map((row) => ({ ...row, baseCost: row.baseCost * 100, changedCost: row.changedCost * 100 })),
      0.95,
    )
    expect(cents.lo).toBeCloseTo(one.lo ?? Number.NaN, 12)
    const swapped = costPerSuccessRatio(
      rows.map((row) => ({
        baseCost: row.changedCost,
        basePasses: row.changedPasses,
        changedCost: row.baseCost,
        changedPasses: row.basePasses,
      })),
      0.95,
    )
    expect(swapped.hi).toBeCloseTo(1 / (one.lo ?? Number.NaN), 10)
    expect(() => costPerSuccessRatio([{ ...rows[0], baseCost: Number.NaN } as (typeof rows)[number]], 0.95)).toThrow(
      'baseCost 0 is NaN',
    )
  })
})
