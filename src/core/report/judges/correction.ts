import { ppiMean } from '../../stats/ppi.ts'
import { type JudgeLabels, judgeAccuracy, roganGladen } from '../../stats/rogan-gladen.ts'
import { within } from '../estimate.ts'
import type { Estimate } from '../report.ts'
import type { Rated } from './ratings.ts'
import type { JudgeReport } from './report.ts'

const LEVEL = 0.95

/** The judge against people on the outputs that both passed or failed. */
export function labelsOf(rated: readonly Rated[]): JudgeLabels {
  const counts = { truePass: 0, falseFail: 0, trueFail: 0, falsePass: 0 }
  for (const { pass, peoplePass } of rated) {
    if (pass === null || peoplePass === null) continue
    if (peoplePass) counts[pass ? 'truePass' : 'falseFail']++
    else counts[pass ? 'falsePass' : 'trueFail']++
  }
  return counts
}

export function accuracyOf(rated: readonly Rated[]): NonNullable<JudgeReport['human']>['accuracy'] {
  const labels = labelsOf(rated)
  if (Object.values(labels).every((count) => count === 0)) return null
  const { sensitivity, specificity, sensitivityInterval, specificityInterval, youden } = judgeAccuracy(labels, LEVEL)
  const rate = (est: number | null, interval: readonly [number, number] | null) =>
    est === null || interval === null ? null : { est, lo: interval[0], hi: interval[1] }
  return {
    sensitivity: rate(sensitivity, sensitivityInterval),
    specificity: rate(specificity, specificityInterval),
    youden,
  }
}

/**
 * Rates of one variant corrected with the labels of that same variant: a judge that errs otherwise on one arm would
 * bend the difference of the two. The pass rate by Rogan & Gladen is of independent runs, so there is none with several
 * seeds; the mean by prediction-powered inference is of scenario means, over scenarios labelled whole and not at all.
 */
export function correctedOf(
  rated: readonly Rated[],
  seeds: number,
  scale: readonly [number, number] | null,
): Pick<JudgeReport['corrected'][number], 'passRate' | 'mean'> {
  const none = {
    est: null,
    lo: null,
    hi: null,
    level: LEVEL,
    se: null,
    df: null,
    n: 0,
    unit: 'scenario',
    descriptive: true,
  } as const
  return { passRate: passRateOf(rated, seeds, none), mean: meanOf(rated, scale, none) }
}

type None = Omit<Estimate, 'method' | 'refused'>

function passRateOf(rated: readonly Rated[], seeds: number, none: None): Estimate {
  const method = 'rogan-gladen'
  if (seeds !== 1) return { ...none, method, refused: 'not_applicable' }
  const judged = rated.filter(({ pass }) => pass !== null)
  const passed = judged.filter(({ pass }) => pass).length
  const { est, se, lo, hi, refused } = roganGladen(passed, judged.length, labelsOf(rated), LEVEL)
  return { ...none, est, se, lo, hi, n: judged.length, method, ...(refused === undefined ? {} : { refused }) }
}

function meanOf(rated: readonly Rated[], scale: readonly [number, number] | null, none: None): Estimate {
  const byScenario = new Map<number, Rated[]>()
  for (const one of rated) byScenario.set(one.scenario, [...(byScenario.get(one.scenario) ?? []), one])
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const labelled: { human: number; judge: number }[] = []
  const others: number[] = []
  for (const scenario of [...byScenario.keys()].sort((a, b) => a - b)) {
    const outputs = byScenario.get(scenario) ?? []
    const judges = outputs.flatMap(({ judges: [own] }) => own ?? [])
    if (judges.length < outputs.length) continue
    const people = outputs.flatMap((one) => (one.people.length === 0 ? [] : [mean(one.people)]))
    if (people.length === outputs.length) labelled.push({ human: mean(people), judge: mean(judges) })
    else if (people.length === 0) others.push(mean(judges))
  }
  const { est, se, lo, hi, refused } = ppiMean(labelled, others, LEVEL)
  return {
    ...none,
    est: within(est, scale),
    se,
    lo: within(lo, scale),
    hi: within(hi, scale),
    n: labelled.length + others.length,
    method: 'ppi',
    ...(refused === undefined ? {} : { refused }),
  }
}
