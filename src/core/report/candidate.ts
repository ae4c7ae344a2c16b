import type { Arm } from './arm.ts'
import type { CandidateReport } from './candidate-report.ts'
import { changesOf } from './changes.ts'
import { compare } from './comparison.ts'
import { type Contrast, type ContrastP, contrastOf, testContrasts } from './contrast.ts'
import { decideThreshold, type Rule } from './decision.ts'
import { detectableEffect } from './detectable.ts'
import { noEstimate } from './estimate.ts'
import { type ExitCode, exitCodeOf, GRAVITY } from './exit.ts'
import { mustPassOf } from './must-pass.ts'
import { reasonOf } from './reasons.ts'
import type { Outcome } from './report.ts'
import { type Simultaneous, simultaneousTail } from './simultaneous.ts'
import { meanBounds } from './threshold.ts'
import { SHOWN_POWER, type Trial } from './trial.ts'
import { varianceOf } from './variance.ts'

/** A candidate's report with what the campaign's verdict needs of it. */
export interface Judged {
  readonly report: CandidateReport
  readonly exitCode: ExitCode
  /** Green that says something: shipped, held, or above its threshold. */
  readonly positive: boolean
  readonly unmeasuredMustPass: readonly string[]
  /** Sign-flip and t of a large campaign do not say the same. */
  readonly testsDisagree: boolean
}

/**
 * Judges every candidate. The family is all candidates on the primary score: p values by step-down max-T with the same
 * flips, intervals at the level of {@link simultaneousTail}; a threshold's intervals share the level as Bonferroni does.
 */
export function judgeCandidates({
  comparators,
  ...common
}: Omit<Trial, 'comparator'> & { readonly comparators: readonly (Arm | null)[] }): Judged[] {
  const { candidates, units, cells, scale, gate, key } = common
  const span = scale[1] - scale[0]
  const seeds = cells.seeds.length
  const contrasts = candidates.map((arm, j) => {
    const comparator = comparators[j] ?? null
    return comparator === null ? null : contrastOf(arm, comparator, units, span, seeds)
  })
  const compared = contrasts.filter((contrast) => contrast !== null)
  const tests = testContrasts(compared, key)
  const shared = simultaneousTail(compared, gate.alpha, key)
  const effect = detectableEffect(units.count, { power: SHOWN_POWER, alpha: 2 * shared.tail })
  return candidates.map((arm, j) => {
    const contrast = contrasts[j] ?? null
    const test = contrast === null ? undefined : tests[compared.indexOf(contrast)]
    const paired = contrast === null || test === undefined ? null : { contrast, test }
    return judge({ ...common, comparator: comparators[j] ?? null }, arm, shared, paired, effect)
  })
}

function judge(
  trial: Trial,
  arm: Arm,
  shared: Simultaneous,
  paired: { readonly contrast: Contrast; readonly test: ContrastP } | null,
  effect: number | null,
): Judged {
  const { cells, gate, scale, comparator, units } = trial
  const id = cells.variants[arm.variant]?.id ?? ''
  const mustPass = mustPassOf(trial.allCells, arm.variant, comparator?.variant ?? null, scale[0])
  const short = (one: Arm): boolean => one.measured < trial.coverageFloor * one.planned
  const common = { invalid: trial.invalid.length > 0, mustPassBroken: mustPass.broken.length > 0 }
  const floor =
    gate.atLeast === null ? null : meanBounds(arm, units, scale, gate.alpha / trial.candidates.length, short(arm))
  const level = 1 - 2 * shared.tail

  const threshold =
    floor === null || gate.atLeast === null
      ? null
      : decideThreshold({
          ...common,
          lower: floor.lo,
          upper: floor.hi,
          threshold: gate.atLeast,
          coverageShort: short(arm),
          judgeUnreliable: trial.judge?.carries === false,
        })
  const comparison =
    paired === null || comparator === null
      ? null
      : compare(trial, arm, comparator, paired, level, effect, {
          ...common,
          coverageShort: short(arm) || short(comparator),
        })
  const neither: Pick<Rule, 'row' | 'outcome' | 'code' | 'red'> = common.invalid
    ? { row: '1', outcome: 'invalid', code: 'invalid', red: true }
    : common.mustPassBroken
      ? { row: '2', outcome: 'regress', code: 'must_pass_broken', red: true }
      : short(arm)
        ? { row: '10', outcome: 'inconclusive', code: 'incomplete', red: true }
        : mustPass.scenarios > 0 && mustPass.unmeasured.length === 0
          ? { row: '2', outcome: gate.kind === 'release' ? 'ship' : 'hold', code: 'must_pass_held', red: false }
          : { row: '11', outcome: 'inconclusive', code: 'inconclusive', red: false }
  const rules = [comparison?.rule, threshold].filter((rule) => rule != null)
  const exitOf = ({ outcome, code }: Pick<Rule, 'outcome' | 'code'>): ExitCode =>
    exitCodeOf(outcome, gate, code === 'incomplete')
  const judged = rules.length === 0 ? [neither] : rules
  const rule = judged.toSorted((a, b) => GRAVITY.indexOf(exitOf(a)) - GRAVITY.indexOf(exitOf(b)))[0] ?? neither
  const exitCode = exitOf(rule)
  const none = noEstimate(level, units, 'not_applicable')
  const report: CandidateReport = {
    id,
    comparator: comparatorId(trial),
    outcome: rule.outcome,
    rule: rule.row,
    reasons: [],
    difference: comparison?.difference ?? null,
    completeCase: comparison?.completeCase ?? null,
    tests: comparison?.tests ?? { mcnemar: null, wilcoxon: null },
    bounds: comparison?.bounds ?? null,
    signFlip:
      paired === null
        ? null
        : {
            p: units.count < 2 ? null : paired.test.raw,
            pFloor: paired.test.pFloor,
            exact: paired.test.exact,
            resamples: paired.test.resamples,
            ...(units.count < 2 ? { refused: 'one_scenario' as const } : {}),
          },
    adjusted: {
      method: paired === null || trial.candidates.length < 2 ? 'none' : 'maxT',
      p: units.count < 2 ? null : (paired?.test.adjusted ?? null),
      intervals: shared.method,
    },
    detectableDrop: comparison?.detectable ?? { drop: null, refused: 'not_applicable' },
    unseenLoss: comparison?.unseenLoss ?? null,
    atLeast:
      floor === null || threshold === null || gate.atLeast === null
        ? null
        : { threshold: gate.atLeast, outcome: threshold.outcome, mean: floor },
    guardrails: comparison?.guardrails ?? [],
    boundedLower: comparison?.boundedLower ?? null,
    variance: comparison?.variance ?? { ...varianceOf([]), refused: 'not_applicable' },
    power: comparison?.power ?? {
      target: gate.target,
      unit: units.kind,
      requiredScenarios: null,
      requiredAtAnySeeds: null,
      requiredUsd: null,
      seedsNarrowBy: null,
      advice: null,
      refused: 'not_applicable',
    },
    costRatio: comparison?.costRatio ?? { perCell: none, perSuccess: none },
    latencyRatio: comparison?.latencyRatio ?? { clock: 'provider', median: none, p95: none },
    flakinessChange: comparison?.flakinessChange ?? none,
    mustPass: { scenarios: mustPass.scenarios, broken: mustPass.broken },
    ...(comparator === null
      ? { worst: [], changed: { worse: 0, better: 0, same: 0, missing: 0 } }
      : changesOf(cells, arm, comparator, scale)),
  }
  const code = comparison?.unchanged && rule.row === '2a' ? 'unchanged' : rule.code
  const reasons = [
    reasonOf(code, report, { trial, comparator: comparatorId(trial) }),
    ...(rule.row === '1' ? trial.invalid : []),
  ]
  const positive = (outcome: Outcome): boolean => outcome === 'ship' || outcome === 'hold'
  const green = exitCode === 0
  return {
    report: { ...report, reasons },
    exitCode,
    positive: green && (positive(rule.outcome) || threshold?.outcome === 'ship'),
    unmeasuredMustPass: mustPass.unmeasured,
    testsDisagree: comparison?.testsDisagree ?? false,
  }
}

function comparatorId({ comparator, cells }: Trial): string | null {
  return comparator === null ? null : (cells.variants[comparator.variant]?.id ?? null)
}
