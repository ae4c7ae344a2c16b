import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fleissKappa } from '../../../src/core/stats/agreement/fleiss.ts'
import { intraclass } from '../../../src/core/stats/agreement/intraclass.ts'
import { krippendorffAlpha, RATING_SCALES } from '../../../src/core/stats/agreement/krippendorff.ts'
import { type AgreementTable, cohenKappa, gwetAc1 } from '../../../src/core/stats/agreement/two-judges.ts'
import { acceleration } from '../../../src/core/stats/bootstrap/bca.ts'
import { enumeratedBootstrap } from '../../../src/core/stats/bootstrap/enumeration.ts'
import { chiSquareUpper } from '../../../src/core/stats/chi-square.ts'
import { cliffsDelta } from '../../../src/core/stats/cliffs-delta.ts'
import { cleanRunsForRate, clopperPearson } from '../../../src/core/stats/clopper-pearson.ts'
import { clusteredMean } from '../../../src/core/stats/clustered-mean.ts'
import { clusteredRegression } from '../../../src/core/stats/clustered-regression.ts'
import { cohenH } from '../../../src/core/stats/cohen-h.ts'
import { equivalence, nonInferiorityScenarios } from '../../../src/core/stats/equivalence.ts'
import { benjaminiHochberg, benjaminiYekutieli } from '../../../src/core/stats/false-discovery.ts'
import { fisherExact } from '../../../src/core/stats/fisher.ts'
import { friedman } from '../../../src/core/stats/friedman.ts'
import { harrellDavis } from '../../../src/core/stats/harrell-davis.ts'
import { hochberg } from '../../../src/core/stats/hochberg.ts'
import { hodgesLehmann } from '../../../src/core/stats/hodges-lehmann.ts'
import { holm } from '../../../src/core/stats/holm.ts'
import { pairedLogRatio } from '../../../src/core/stats/log-ratio.ts'
import { mcnemarExact, mcnemarMidP } from '../../../src/core/stats/mcnemar.ts'
import { type McnemarDesign, mcnemarPowerExact } from '../../../src/core/stats/mcnemar-power.ts'
import { meanInterval } from '../../../src/core/stats/mean-interval.ts'
import { newcombePaired10, type PairedTable } from '../../../src/core/stats/newcombe-paired.ts'
import { pairedBounds } from '../../../src/core/stats/paired-bounds.ts'
import { pairedT } from '../../../src/core/stats/paired-t.ts'
import { passAtK, passHatK } from '../../../src/core/stats/pass-at-k.ts'
import { philox } from '../../../src/core/stats/philox.ts'
import { pairedTMde, pairedTPowerN, requiredScenarios } from '../../../src/core/stats/power.ts'
import { ppiMean } from '../../../src/core/stats/ppi.ts'
import { quantileOfSorted } from '../../../src/core/stats/quantile.ts'
import { minRunsForQuantileBound, quantileRanks } from '../../../src/core/stats/quantile-interval.ts'
import { type JudgeLabels, roganGladen } from '../../../src/core/stats/rogan-gladen.ts'
import { bernoulliSequence } from '../../../src/core/stats/sequence/bernoulli.ts'
import { bettingSequence } from '../../../src/core/stats/sequence/betting.ts'
import { empiricalBernsteinSequence } from '../../../src/core/stats/sequence/empirical-bernstein.ts'
import { empiricalProcessLil } from '../../../src/core/stats/sequence/empirical-process.ts'
import { normalMixtureBound } from '../../../src/core/stats/sequence/normal-mixture.ts'
import { polynomialStitchingBound } from '../../../src/core/stats/sequence/polynomial-stitching.ts'
import { signFlip } from '../../../src/core/stats/sign-flip.ts'
import { signTest } from '../../../src/core/stats/sign-test.ts'
import { tQuantile } from '../../../src/core/stats/student-t.ts'
import { type PairedCounts, tangoScoreInterval } from '../../../src/core/stats/tango.ts'
import { varianceComponents } from '../../../src/core/stats/variance-components.ts'
import { weightedMean } from '../../../src/core/stats/weighted-mean.ts'
import { wilcoxonPratt, wilcoxonSignedRank } from '../../../src/core/stats/wilcoxon.ts'
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

const bothEnds = ({ lo, hi }: { readonly lo: number | null; readonly hi: number | null }) => [lo, hi]
const ranked = ({ v, p }: { readonly v: number | null; readonly p: number | null }) => ({ V: v, p2: p })

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
  mcnemarExact,
  mcnemarMidP,
  tangoScoreCI: ({ conf = 0.95, ...counts }: PairedCounts & { conf?: number }) => {
    const interval = tangoScoreInterval(counts, conf)
    return [interval.est, interval.lo, interval.hi]
  },
  newcombePaired10: (table: PairedTable) => {
    const interval = newcombePaired10(table, 0.95)
    return [interval.est, interval.lo, interval.hi]
  },
  signTest: (differences: readonly number[]) => signTest(differences).p,
  wilcoxonSignedRankExact: (differences: readonly number[]) => ranked(wilcoxonSignedRank(differences)),
  wilcoxonPrattExact: (differences: readonly number[]) => ranked(wilcoxonPratt(differences)),
  hodgesLehmann: (differences: readonly number[]) => {
    const { est, coverage, ...ends } = hodgesLehmann(differences, 0.95)
    return { est, ci: bothEnds(ends), coverage }
  },
  bh: benjaminiHochberg,
  by: benjaminiYekutieli,
  hochberg,
  mcnemarPowerExact: (design: McnemarDesign) => mcnemarPowerExact(design),
  cohenKappa: (table: AgreementTable) => cohenKappa(table).value,
  'cohenKappa+quadratic': (table: AgreementTable) => [cohenKappa(table).value, cohenKappa(table, 'quadratic').value],
  gwetAC1: (table: AgreementTable) => gwetAc1(table).value,
  fleissKappa: (counts: readonly (readonly number[])[]) => fleissKappa(counts).value,
  icc: intraclass,
  krippendorffAlpha: (units: readonly (readonly (number | null)[])[]) =>
    RATING_SCALES.map((scale) => krippendorffAlpha(units, scale).value),
  bcaExact: (values: readonly number[]) => {
    const { bca, adjusted, percentile } = enumeratedBootstrap(values, 0.95)
    return { z0: bca.z0, a: bca.a, adj: adjusted, ci: bothEnds(bca), percentile: bothEnds(percentile) }
  },
  clusterBootstrapExact: (clusters: readonly (readonly number[])[]) => {
    const { mean: m, seIdeal, bca, percentile } = enumeratedBootstrap(clusters.map(mean), 0.95)
    return { mean: m, seIdeal, percentile: bothEnds(percentile), z0: bca.z0, a: bca.a, bca: bothEnds(bca) }
  },
  'acceleration(var)': (values: readonly number[]) => {
    const plugInVariance = (rows: readonly number[]) => mean(rows.map((y) => (y - mean(rows)) ** 2))
    return acceleration(values.map((_, i) => plugInVariance(values.filter((_value, j) => j !== i)))).value
  },
  'clusteredSE(regression)': ({ g, x, y }: { g: readonly number[]; x: readonly number[]; y: readonly number[] }) => {
    const rows = g.map((cluster, i) => ({ cluster, x: [x[i] ?? Number.NaN], y: y[i] ?? Number.NaN }))
    const coefficients = clusteredRegression(rows, 0.95).coefficients ?? []
    return { est: coefficients.map(({ est }) => est), int: coefficients[0]?.se, slope: coefficients[1]?.se }
  },
  fisherExact,
  friedman,
  ppiMean: ({ Y, f, F }: { Y: readonly number[]; f: readonly number[]; F: readonly number[] }) =>
    ppiMean(
      Y.map((human, i) => ({ human, judge: f[i] ?? Number.NaN })),
      F,
      0.95,
    ),
  harrellDavis: (values: readonly number[]) => {
    const sorted = Float64Array.from(values).sort()
    return {
      p50: harrellDavis(values, 0.5).value,
      p95: harrellDavis(values, 0.95).value,
      type7: [quantileOfSorted(sorted, 0.5), quantileOfSorted(sorted, 0.95)],
    }
  },
  cliffsDelta: (base: readonly number[], changed: readonly number[]) => cliffsDelta(base, changed).value,
  cohenH,
  bernoulliCS: (...rows: (readonly [number, number, number, number])[]) =>
    rows.map(([passes, runs, alpha, tOpt]) => bothEnds(bernoulliSequence(passes, runs, alpha, { tOpt }))),
  normalMixtureBound: (...rows: (readonly [number, number, number, number, 'one-sided' | 'two-sided'])[]) =>
    rows.map(([v, alpha, vOpt, alphaOpt, sides]) => normalMixtureBound(v, alpha, { vOpt, alphaOpt }, sides)),
  polynomialStitchingBound: (...rows: (readonly [number, number, number, number])[]) =>
    rows.map(([v, alpha, vMin, c]) => polynomialStitchingBound(v, alpha, { vMin, c })),
  empiricalProcessLIL: ([t1, alpha, tMin, a]: readonly [number, number, number, number]) =>
    empiricalProcessLil(t1, alpha, { tMin, a }),
  hedgedBettingCS: (values: readonly number[]) => bothEnds(bettingSequence(values, 0.05)),
  empiricalBernsteinSequence: (values: readonly number[]) => bothEnds(empiricalBernsteinSequence(values, 0.05)),
  equivalence: (differences: readonly number[], margin: number) => {
    const { p, ...ends } = equivalence(differences, margin, 0.05)
    return { p, ci: bothEnds(ends) }
  },
  nonInferiorityScenarios: (o: { margin: number; sd: number; power: number; alpha: readonly number[] }) =>
    o.alpha.map((alpha) => nonInferiorityScenarios(o, { power: o.power, alpha })),
  cleanRunsForRate,
  minRunsForQuantileBound,
  passHatK: (...rows: (readonly [number, number, number])[]) => rows.map(([n, c, k]) => passHatK(n, c, k)),
  varianceComponents,
  weightedMean: (values: readonly number[], weights: readonly number[]) => weightedMean(values, weights, 0.95),
  roganGladen: ({ passed, judged, ...labels }: JudgeLabels & { passed: number; judged: number }) =>
    roganGladen(passed, judged, labels, 0.95),
  chiSquareUpper: (...rows: (readonly [number, number])[]) => rows.map(([x, df]) => chiSquareUpper(x, df)),
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

/** Cases whose data are not kept here; their source says where they are. */
const WITHOUT_DATA = ['petersen']

describe('reference values', () => {
  const covered = cases.filter(({ id }) => !WITHOUT_DATA.includes(id))

  it('has a function for every case, and a case for every function', () => {
    expect(new Set(covered.map((c) => c.fn))).toEqual(new Set(Object.keys(functions)))
    expect(covered).toHaveLength(cases.length - WITHOUT_DATA.length)
  })

  it.each(covered)('$id', ({ id, fn, args, expect: expected, tol }) => {
    const call = functions[fn]
    expect(call).toBeDefined()
    expectClose(call?.(...(args as never[])), expected, tol, id)
  })
})
