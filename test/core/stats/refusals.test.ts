import { describe, expect, it } from 'vitest'
import { fleissKappa } from '../../../src/core/stats/agreement/fleiss.ts'
import { intraclass } from '../../../src/core/stats/agreement/intraclass.ts'
import { krippendorffAlpha } from '../../../src/core/stats/agreement/krippendorff.ts'
import { cohenKappa, gwetAc1 } from '../../../src/core/stats/agreement/two-judges.ts'
import { acceleration } from '../../../src/core/stats/bootstrap/bca.ts'
import { cliffsDelta } from '../../../src/core/stats/cliffs-delta.ts'
import { clusteredMean } from '../../../src/core/stats/clustered-mean.ts'
import { clusteredRegression } from '../../../src/core/stats/clustered-regression.ts'
import { costPerSuccessRatio } from '../../../src/core/stats/cost-per-success.ts'
import { equivalence, nonInferiority } from '../../../src/core/stats/equivalence.ts'
import { friedman } from '../../../src/core/stats/friedman.ts'
import { harrellDavis } from '../../../src/core/stats/harrell-davis.ts'
import { hodgesLehmann } from '../../../src/core/stats/hodges-lehmann.ts'
import { newcombePaired10 } from '../../../src/core/stats/newcombe-paired.ts'
import { ppiMean } from '../../../src/core/stats/ppi.ts'
import { STATISTIC_REFUSALS } from '../../../src/core/stats/refusal.ts'
import { judgeAccuracy, roganGladen } from '../../../src/core/stats/rogan-gladen.ts'
import { bernoulliSequence } from '../../../src/core/stats/sequence/bernoulli.ts'
import { bettingLowerBound, bettingSequence } from '../../../src/core/stats/sequence/betting.ts'
import { empiricalBernsteinSequence } from '../../../src/core/stats/sequence/empirical-bernstein.ts'
import { signTest } from '../../../src/core/stats/sign-test.ts'
import { standardizedDifference } from '../../../src/core/stats/standardized-difference.ts'
import { tangoScoreInterval } from '../../../src/core/stats/tango.ts'
import { varianceComponents } from '../../../src/core/stats/variance-components.ts'
import { weightedMean } from '../../../src/core/stats/weighted-mean.ts'
import { wilcoxonPratt, wilcoxonSignedRank } from '../../../src/core/stats/wilcoxon.ts'

const labels = { truePass: 20, falseFail: 0, trueFail: 20, falsePass: 0 }
const twelve = Array.from({ length: 12 }, () => ({ human: 1, judge: 1 }))
const pay = (baseCost: number, basePasses: number) => ({ baseCost, basePasses, changedCost: 1, changedPasses: 1 })

const refused: readonly (readonly [what: string, result: object, code: (typeof STATISTIC_REFUSALS)[number]])[] = [
  ['sign test of nothing', signTest([]), 'no_data'],
  ['signed ranks of nothing', wilcoxonSignedRank([]), 'no_data'],
  ['Pratt of nothing', wilcoxonPratt([]), 'no_data'],
  ['Hodges–Lehmann of nothing', hodgesLehmann([], 0.95), 'no_data'],
  ['Hodges–Lehmann interval of 5', hodgesLehmann([1, 2, 3, 4, 5], 0.95), 'too_few_scenarios'],
  ['Tango without pairs', tangoScoreInterval({ b: 0, c: 0, n: 0 }, 0.95), 'no_data'],
  ['Newcombe without pairs', newcombePaired10({ a: 0, b: 0, c: 0, d: 0 }, 0.95), 'no_data'],
  ['non-inferiority of one', nonInferiority([0.1], 0.1, 0.025), 'one_scenario'],
  ['equivalence of nothing', equivalence([], 0.1, 0.05), 'no_data'],
  ['weighted mean of weight 0', weightedMean([1, 2], [0, 0], 0.95), 'no_data'],
  ['weighted mean of one', weightedMean([1, 2], [0, 1], 0.95), 'one_scenario'],
  ['weighted mean of equals', weightedMean([0.1, 0.1], [1, 2], 0.95), 'zero_spread'],
  ['clustered mean of nothing', clusteredMean([[], []], 0.95), 'no_data'],
  ['clustered mean of one cluster', clusteredMean([[1, 2]], 0.95), 'one_scenario'],
  ['regression on too few rows', clusteredRegression([{ cluster: 1, y: 1, x: [1] }], 0.95), 'no_data'],
  [
    'regression on one cluster',
    clusteredRegression(
      [1, 2, 3].map((x) => ({ cluster: 1, y: x, x: [] })),
      0.95,
    ),
    'one_scenario',
  ],
  ['components of nothing', varianceComponents([]), 'no_data'],
  ['components of one scenario', varianceComponents([[1, 2]]), 'one_scenario'],
  ['components at one seed', varianceComponents([[1], [2]]), 'zero_variance_unidentified'],
  [
    'components of equals',
    varianceComponents([
      [0.1, 0.1],
      [0.1, 0.1],
    ]),
    'no_variation',
  ],
  ['d_z of one', standardizedDifference([1]), 'one_scenario'],
  ['d_z of equals', standardizedDifference([0.2, 0.2, 0.2]), 'zero_spread'],
  ['Cliff’s δ without a base', cliffsDelta([], [1]), 'no_data'],
  ['Friedman of nothing', friedman([]), 'no_data'],
  ['Friedman of one scenario', friedman([[1, 2, 3]]), 'one_scenario'],
  [
    'Friedman of ties',
    friedman([
      [1, 1],
      [2, 2],
    ]),
    'no_variation',
  ],
  ['Harrell–Davis of nothing', harrellDavis([], 0.5), 'no_data'],
  ['cost per success of nothing', costPerSuccessRatio([], 0.95), 'no_data'],
  ['cost per success without one', costPerSuccessRatio([pay(1, 0), pay(2, 0)], 0.95), 'no_successes'],
  ['cost per success without cost', costPerSuccessRatio([pay(0, 1), pay(0, 1)], 0.95), 'not_applicable'],
  ['cost per success of one', costPerSuccessRatio([pay(1, 1)], 0.95), 'one_scenario'],
  ['cost per success of equals', costPerSuccessRatio([pay(1, 1), pay(1, 1)], 0.95), 'zero_spread'],
  ['κ of nothing', cohenKappa([[0]]), 'no_data'],
  ['κ of one category', cohenKappa([[9]]), 'no_variation'],
  [
    'AC1 of one category',
    gwetAc1([
      [9, 0],
      [0, 0],
    ]),
    'no_variation',
  ],
  ['Fleiss of nothing', fleissKappa([]), 'no_data'],
  [
    'Fleiss of single ratings',
    fleissKappa([
      [1, 0],
      [0, 1],
    ]),
    'no_pairs',
  ],
  ['Fleiss of one category', fleissKappa([[3, 0]]), 'no_variation'],
  ['ICC of one unit', intraclass([[1, 2]]), 'no_data'],
  ['ICC of one judge', intraclass([[1], [2]]), 'no_pairs'],
  [
    'ICC of equals',
    intraclass([
      [0.1, 0.1],
      [0.1, 0.1],
    ]),
    'no_variation',
  ],
  ['α of nothing', krippendorffAlpha([[null, null]], 'nominal'), 'no_data'],
  ['α of single ratings', krippendorffAlpha([[1, null], [2]], 'nominal'), 'no_pairs'],
  [
    'α of equals',
    krippendorffAlpha(
      [
        [3, 3],
        [3, 3],
      ],
      'interval',
    ),
    'no_variation',
  ],
  ['accuracy without fails', judgeAccuracy({ ...labels, trueFail: 0 }, 0.95), 'no_data'],
  ['correction of nothing', roganGladen(0, 0, labels, 0.95), 'no_data'],
  ['correction by nine labels', roganGladen(1, 2, { ...labels, trueFail: 9 }, 0.95), 'too_few_labels'],
  ['correction of a coin', roganGladen(1, 2, { ...labels, falsePass: 90 }, 0.95), 'weak_judge'],
  ['PPI of nine labels', ppiMean(twelve.slice(0, 9), [0.1, 0.2], 0.95), 'too_few_labels'],
  ['PPI of one judged row', ppiMean(twelve, [0.1], 0.95), 'no_data'],
  ['PPI of equals', ppiMean(twelve, [0.1, 0.1], 0.95), 'zero_spread'],
  ['acceleration of nothing', acceleration([]), 'no_data'],
  ['pass rate of no runs', bernoulliSequence(0, 0, 0.05, { tOpt: 10 }), 'no_data'],
  ['betting on nothing', bettingLowerBound([], 0.05), 'no_data'],
  ['hedging nothing', bettingSequence([], 0.05), 'no_data'],
  ['Bernstein on nothing', empiricalBernsteinSequence([], 0.05), 'no_data'],
]

describe('refusals', () => {
  it.each(refused)('%s', (_, result, code) => {
    expect(STATISTIC_REFUSALS).toContain(code)
    expect(result).toMatchObject({ refused: code })
    expect(Object.values(result)).toContain(null)
    for (const value of Object.values(result)) expect(value).not.toBe(Number.NaN)
  })

  it('a value that is no number is an error that names it, never a result', () => {
    const bad = [0.1, Number.NaN, 0.3]
    expect(() => signTest(bad)).toThrow('difference 1 is NaN')
    expect(() => wilcoxonSignedRank(bad)).toThrow('difference 1 is NaN')
    expect(() => hodgesLehmann(bad, 0.95)).toThrow('difference 1 is NaN')
    expect(() => weightedMean(bad, [1, 1, 1], 0.95)).toThrow('value 1 is NaN')
    expect(() => clusteredMean([[1], bad], 0.95)).toThrow('row 2 is NaN')
    expect(() => varianceComponents([bad, [1]])).toThrow('row 1 is NaN')
    expect(() => friedman([bad, bad])).toThrow('score 1 is NaN')
    expect(() => harrellDavis(bad, 0.5)).toThrow('value 1 is NaN')
    expect(() => cliffsDelta([1], bad)).toThrow('changed value 1 is NaN')
    expect(() => intraclass([bad, bad])).toThrow('rating 1 is NaN')
    expect(() => krippendorffAlpha([bad], 'interval')).toThrow('rating')
    expect(() => krippendorffAlpha([[-1, 2]], 'ratio')).toThrow('not negative')
    expect(() => standardizedDifference([1, Number.POSITIVE_INFINITY])).toThrow('difference 1 is Infinity')
  })
})
