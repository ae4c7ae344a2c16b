import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { clopperPearson } from '../../../src/core/stats/clopper-pearson.ts'
import { clusteredMean } from '../../../src/core/stats/clustered-mean.ts'
import { holm } from '../../../src/core/stats/holm.ts'
import { pairedLogRatio } from '../../../src/core/stats/log-ratio.ts'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { pairedBounds } from '../../../src/core/stats/paired-bounds.ts'
import { pairedT } from '../../../src/core/stats/paired-t.ts'
import { passAtK } from '../../../src/core/stats/pass-at-k.ts'
import { philox } from '../../../src/core/stats/philox.ts'
import { pairedTMde, pairedTPowerN, requiredScenarios } from '../../../src/core/stats/power.ts'
import { quantileRanks } from '../../../src/core/stats/quantile-interval.ts'
import { signFlip } from '../../../src/core/stats/sign-flip.ts'
import { tQuantile } from '../../../src/core/stats/student-t.ts'
import { wilson } from '../../../src/core/stats/wilson.ts'

interface Case {
  readonly id: string
  readonly fn: string
  // The shape of the arguments differs from function to function; each adapter below knows its own.
  readonly args: never
  readonly expect: unknown
  readonly tol: number
}

const { cases } = JSON.parse(readFileSync(new URL('./reference-values.json', import.meta.url), 'utf8')) as {
  cases: readonly Case[]
}

const mean = (rows: readonly number[]) => rows.reduce((sum, y) => sum + y, 0) / rows.length
/** The vectors abbreviate "all bits set" and "all zero". */
const words = (text: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    text === 'ff..' ? 0xffffffff : Number.parseInt(text.split(' ')[i] ?? '', 16),
  )
const flip = (contrasts: readonly (readonly number[])[]) => {
  const units = contrasts[0]?.length ?? 0
  const values = Float64Array.from({ length: units * contrasts.length }, (_, i) => {
    return contrasts[i % contrasts.length]?.[Math.floor(i / contrasts.length)] ?? Number.NaN
  })
  return signFlip({ units, contrasts: contrasts.length, values }, { key: [0, 0], stream: 0 })
}
const t = (differences: readonly number[]) => {
  const { t: statistic, df, p, lo, hi } = pairedT(differences, 0.95)
  return { t: statistic, df, p, ci: [lo, hi] }
}

const functions: { readonly [fn: string]: (...args: never[]) => unknown } = {
  wilson,
  clopperPearson,
  holm,
  pairedT: t,
  signFlipExact: (differences: readonly number[]) => ({ p2: flip([differences]).raw[0] }),
  signFlipMaxT: (contrasts: readonly (readonly number[])[]) => {
    const { raw, stepDown, singleStep } = flip(contrasts)
    return { raw, stepdown: stepDown, singleStep }
  },
  scenarioMeanT: (scenarios: readonly (readonly number[])[]) => {
    const { mean: m, se, lo, hi, df } = meanInterval(scenarios.map(mean), 0.95)
    return { mean: m, se, ci: [lo, hi], df }
  },
  clusteredSE: ({ g, y }: { g: readonly number[]; y: readonly number[] }) => {
    const clusters = [...new Set(g)].map((key) => y.filter((_, i) => g[i] === key))
    const { mean: m, iid, cr0, se } = clusteredMean(clusters, 0.95)
    return { mean: m, iid, CR0: cr0, CR0adj: se }
  },
  passAtK: (...rows: (readonly [number, number, number])[]) => rows.map(([n, c, k]) => passAtK(n, c, k)),
  quantileOrderCI: (...rows: { n: number; q: number }[]) =>
    rows.map(({ n, q }) => {
      const { lower, upper, coverage } = quantileRanks(n, q, 0.95)
      return [lower, upper, coverage]
    }),
  'tInv(.975)': (dfs: readonly number[]) => dfs.map((df) => tQuantile(0.975, df)),
  pairedTPowerN: (o: { delta: number; sd: number; power: number; alpha: number }) => pairedTPowerN(o.delta, o.sd, o),
  pairedTMde: (o: { n: readonly number[]; power: number; alpha: number }) => o.n.map((n) => pairedTMde(n, o)),
  requiredScenarios: (o: {
    delta: number
    tau2: number
    s2: number
    K: readonly (number | 'inf')[]
    power: number
    alpha: number
  }) =>
    o.K.map((K) =>
      requiredScenarios(
        { delta: o.delta, tau2: o.tau2, sigma2: o.s2, seeds: K === 'inf' ? Number.POSITIVE_INFINITY : K },
        o,
      ),
    ),
  pairedBounds: (o: { n: number; candObs: number; candSum: number; baseSum: number }) => {
    const bounds = pairedBounds({
      planned: o.n,
      candidate: { observed: o.candObs, sum: o.candSum },
      comparator: { observed: o.n, sum: o.baseSum },
      scale: [0, 1],
    })
    return { lo: bounds.lo, hi: bounds.hi, completeCaseUnpaired: bounds.observed }
  },
  pairedLogRatio: (base: readonly number[], changed: readonly number[]) => {
    const { ratio, lo, hi } = pairedLogRatio(base, changed, 0.95)
    return { ratio, ci: [lo, hi] }
  },
  'philox4x32-10': (...rows: (readonly [string, string])[]) =>
    rows.map(([counter, key]) => {
      const out = new Uint32Array(4)
      const [c0 = 0, c1 = 0, c2 = 0, c3 = 0] = words(counter, 4)
      const [k0 = 0, k1 = 0] = words(key, 2)
      philox(out, c0, c1, c2, c3, [k0, k1])
      return Array.from(out, (word) => word.toString(16).padStart(8, '0')).join(' ')
    }),
}

function expectClose(actual: unknown, expected: unknown, tolerance: number, path: string): void {
  if (typeof expected === 'number') {
    expect(typeof actual, path).toBe('number')
    expect(Math.abs(Number(actual) - expected), `${path}: ${actual} against ${expected}`).toBeLessThanOrEqual(tolerance)
  } else if (typeof expected === 'object' && expected !== null) {
    for (const [key, value] of Object.entries(expected)) {
      expectClose(Reflect.get(Object(actual), key), value, tolerance, `${path}.${key}`)
    }
  } else {
    expect(actual, path).toBe(expected)
  }
}

describe('reference values', () => {
  const covered = cases.filter((c) => functions[c.fn] !== undefined)

  it('covers the statistics that exist, and only they are covered', () => {
    expect(new Set(covered.map((c) => c.fn))).toEqual(new Set(Object.keys(functions)))
    expect(covered).toHaveLength(22)
  })

  it.each(covered)('$id', ({ id, fn, args, expect: expected, tol }) => {
    const call = functions[fn]
    expect(call).toBeDefined()
    expectClose(call?.(...(args as never[])), expected, tol, id)
  })
})
