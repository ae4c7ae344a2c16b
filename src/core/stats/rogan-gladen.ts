import { requireCounts } from './clopper-pearson.ts'
import { requireLevel } from './mean-interval.ts'
import { normalQuantile } from './normal.ts'
import { LEAST_LABELS } from './ppi.ts'
import { wilson } from './wilson.ts'

/** Least Youden index (sensitivity + specificity − 1) that is divided by. */
export const LEAST_YOUDEN = 0.2

/** A judge against human labels of pass and fail. */
export interface JudgeLabels {
  readonly truePass: number
  readonly falseFail: number
  readonly trueFail: number
  readonly falsePass: number
}

export interface JudgeAccuracy {
  readonly sensitivity: number | null
  readonly specificity: number | null
  /** Wilson intervals. */
  readonly sensitivityInterval: readonly [lo: number, hi: number] | null
  readonly specificityInterval: readonly [lo: number, hi: number] | null
  readonly youden: number | null
  /** Some class has no label at all. */
  readonly refused?: 'no_data'
}

/** Sensitivity and specificity of a judge with Wilson intervals; refuses what a class without labels would need. */
export function judgeAccuracy({ truePass, falseFail, trueFail, falsePass }: JudgeLabels, level: number): JudgeAccuracy {
  const passes = truePass + falseFail
  const fails = trueFail + falsePass
  const sensitivityInterval = wilson(truePass, passes, level)
  const specificityInterval = wilson(trueFail, fails, level)
  const sensitivity = passes === 0 ? null : truePass / passes
  const specificity = fails === 0 ? null : trueFail / fails
  const youden = sensitivity === null || specificity === null ? null : sensitivity + specificity - 1
  const accuracy = { sensitivity, specificity, sensitivityInterval, specificityInterval, youden }
  return youden === null ? { ...accuracy, refused: 'no_data' } : accuracy
}

export interface CorrectedRate {
  readonly est: number | null
  readonly se: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly refused?: 'no_data' | 'too_few_labels' | 'weak_judge'
}

/**
 * Rate corrected for a judge's errors (Rogan & Gladen 1978): θ = (p + sp − 1)/(se + sp − 1), cut to [0, 1]. Its variance
 * by the delta method is [p(1−p)/n + θ² se(1−se)/n₁ + (1−θ)² sp(1−sp)/n₀] / (se + sp − 1)². Reference: `rogan-gladen`.
 *
 * Assumes that the labelled rows are judged like the others, per variant: a judge whose error differs between variants
 * biases their difference. Refuses fewer than ten labels in a class and a Youden index below .2.
 *
 * @param passed runs the judge passed, of `judged`
 */
export function roganGladen(passed: number, judged: number, labels: JudgeLabels, level: number): CorrectedRate {
  requireCounts(passed, judged)
  requireLevel(level)
  const none = { est: null, se: null, lo: null, hi: null }
  if (judged === 0) return { ...none, refused: 'no_data' }
  const passes = labels.truePass + labels.falseFail
  const fails = labels.trueFail + labels.falsePass
  const { sensitivity, specificity, youden } = judgeAccuracy(labels, level)
  if (sensitivity === null || specificity === null || youden === null || Math.min(passes, fails) < LEAST_LABELS) {
    return { ...none, refused: 'too_few_labels' }
  }
  if (youden < LEAST_YOUDEN) return { ...none, refused: 'weak_judge' }
  const p = passed / judged
  const clip = (rate: number): number => Math.min(1, Math.max(0, rate))
  const est = clip((p + specificity - 1) / youden)
  const variance =
    (p * (1 - p)) / judged +
    (est * est * sensitivity * (1 - sensitivity)) / passes +
    ((1 - est) ** 2 * specificity * (1 - specificity)) / fails
  const se = Math.sqrt(variance) / youden
  const reach = normalQuantile((1 + level) / 2) * se
  return { est, se, lo: clip(est - reach), hi: clip(est + reach) }
}
