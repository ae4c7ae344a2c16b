import type { PlannedGate } from '../campaign/plan.ts'
import { rateUpperBound } from '../stats/clopper-pearson.ts'
import { moments } from '../stats/mean-interval.ts'
import type { PhiloxKey } from '../stats/philox.ts'
import { pairedTMde } from '../stats/power.ts'
import { tQuantile } from '../stats/student-t.ts'
import type { Arm } from './arm.ts'
import type { Cells } from './cells.ts'
import { changesOf } from './changes.ts'
import { type Contrast, type ContrastP, contrastOf, type Side, sides, testContrasts, tippingCells } from './contrast.ts'
import { decide, decideThreshold, type Evidence, FEWEST_UNITS, type Rule } from './decision.ts'
import { meanEstimate, noEstimate } from './estimate.ts'
import { mustPassOf } from './must-pass.ts'
import { sameTraffic } from './observations.ts'
import { reasonOf } from './reasons.ts'
import type { CandidateReport, Estimate, Outcome, Reason } from './report.ts'
import { meanBounds } from './threshold.ts'
import type { Units } from './units.ts'

const POWER = 0.8
const UNSEEN_LEVEL = 0.95

export interface Trial {
  readonly cells: Cells
  readonly arms: readonly Arm[]
  readonly units: Units
  readonly gate: PlannedGate
  readonly scale: readonly [number, number]
  readonly comparator: Arm | null
  readonly candidates: readonly Arm[]
  readonly coverageFloor: number
  readonly invalid: readonly Reason[]
  readonly key: PhiloxKey
}

/** A candidate's report with what the campaign's verdict needs of it. */
export interface Judged {
  readonly report: CandidateReport
  readonly red: boolean
  /** Green that says something: shipped, held, or above its threshold. */
  readonly positive: boolean
  readonly unmeasuredMustPass: readonly string[]
  /** Sign-flip and t of a large campaign do not say the same. */
  readonly testsDisagree: boolean
}

/**
 * Judges every candidate. The family is all candidates on the primary score: p values by step-down max-T with the same
 * flips, intervals at Bonferroni's level 1 − 2α/J. The latter are simultaneous for any correlation, and wider than
 * those of the max-T critical value.
 */
export function judgeCandidates(trial: Trial): Judged[] {
  const { comparator, candidates, units, cells, scale } = trial
  const tail = trial.gate.alpha / Math.max(1, candidates.length)
  const span = scale[1] - scale[0]
  const seeds = cells.seeds.length
  const contrasts = comparator === null ? [] : candidates.map((arm) => contrastOf(arm, comparator, units, span, seeds))
  const tests = testContrasts(contrasts, trial.key)
  const effect = units.count < FEWEST_UNITS ? null : pairedTMde(units.count, { power: POWER, alpha: 2 * tail })
  return candidates.map((arm, j) => {
    const contrast = contrasts[j]
    const test = tests[j]
    return judge(trial, arm, tail, contrast === undefined || test === undefined ? null : { contrast, test }, effect)
  })
}

function judge(
  trial: Trial,
  arm: Arm,
  tail: number,
  paired: { readonly contrast: Contrast; readonly test: ContrastP } | null,
  effect: number | null,
): Judged {
  const { cells, gate, scale, comparator, units } = trial
  const id = cells.variants[arm.variant]?.id ?? ''
  const mustPass = mustPassOf(cells, arm.variant, comparator?.variant ?? null, scale[0])
  const short = (one: Arm): boolean => one.measured < trial.coverageFloor * one.planned
  const common = { invalid: trial.invalid.length > 0, mustPassBroken: mustPass.broken.length > 0 }
  const floor = gate.atLeast === null ? null : meanBounds(arm, units, scale, tail)
  const level = 1 - 2 * tail

  const threshold =
    floor === null || gate.atLeast === null
      ? null
      : decideThreshold({
          ...common,
          lower: floor.lo,
          upper: floor.hi,
          threshold: gate.atLeast,
          coverageShort: short(arm),
        })
  const comparison =
    paired === null || comparator === null
      ? null
      : compare(trial, arm, paired, level, effect, { ...common, coverageShort: short(arm) || short(comparator) })
  const neither: Pick<Rule, 'row' | 'outcome' | 'code' | 'red'> = common.invalid
    ? { row: '1', outcome: 'invalid', code: 'invalid', red: true }
    : common.mustPassBroken
      ? { row: '2', outcome: 'regress', code: 'must_pass_broken', red: true }
      : short(arm)
        ? { row: '10', outcome: 'inconclusive', code: 'incomplete', red: true }
        : mustPass.scenarios > 0 && mustPass.unmeasured.length === 0
          ? { row: '2', outcome: 'hold', code: 'must_pass_held', red: false }
          : { row: '11', outcome: 'inconclusive', code: 'inconclusive', red: false }
  const rules = [comparison?.rule, threshold].filter((rule) => rule != null)
  const rule = rules.find(({ red }) => red) ?? rules[0] ?? neither
  const report: CandidateReport = {
    id,
    outcome: rule.outcome,
    rule: rule.row,
    reasons: [],
    difference: comparison?.difference ?? null,
    completeCase: comparison?.completeCase ?? null,
    bounds: comparison?.bounds ?? null,
    signFlip:
      paired === null
        ? null
        : {
            p: paired.test.raw,
            pFloor: paired.test.pFloor,
            exact: paired.test.exact,
            resamples: paired.test.resamples,
          },
    adjusted: {
      method: paired === null || trial.candidates.length < 2 ? 'none' : 'maxT',
      p: paired?.test.adjusted ?? null,
    },
    detectableDrop: comparison?.detectable ?? { drop: null, refused: 'not_applicable' },
    unseenLoss: comparison?.unseenLoss ?? null,
    atLeast:
      floor === null || threshold === null || gate.atLeast === null
        ? null
        : { threshold: gate.atLeast, outcome: threshold.outcome, mean: floor },
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
  const green = !rule.red
  return {
    report: { ...report, reasons },
    red: rule.red,
    positive: green && (positive(rule.outcome) || threshold?.outcome === 'ship'),
    unmeasuredMustPass: mustPass.unmeasured,
    testsDisagree: comparison?.testsDisagree ?? false,
  }
}

function comparatorId({ comparator, cells }: Trial): string | null {
  return comparator === null ? null : (cells.variants[comparator.variant]?.id ?? null)
}

interface Comparison {
  readonly rule: Rule
  readonly difference: Estimate
  readonly completeCase: Estimate
  readonly bounds: NonNullable<CandidateReport['bounds']>
  readonly detectable: CandidateReport['detectableDrop']
  readonly unseenLoss: CandidateReport['unseenLoss']
  readonly testsDisagree: boolean
  /** Same prompts, same outputs. */
  readonly unchanged: boolean
}

function compare(
  trial: Trial,
  arm: Arm,
  { contrast, test }: { readonly contrast: Contrast; readonly test: ContrastP },
  level: number,
  effect: number | null,
  known: Pick<Evidence, 'invalid' | 'mustPassBroken' | 'coverageShort'>,
): Comparison {
  const { units, gate, cells, scale } = trial
  const { lowest, highest, complete, missingCells } = contrast
  const span = scale[1] - scale[0]
  const [lower, upper] = missingCells === 0 ? sides(lowest, lowest, level) : sides(lowest, highest, level)
  const same =
    trial.comparator === null
      ? { outputs: false, prompts: false }
      : sameTraffic(cells, arm.variant, trial.comparator.variant)
  const spread = complete.length < 2 ? null : moments(complete)
  const drop = effect === null || spread === null || spread.equal ? null : effect * spread.sd
  const evidence: Evidence = {
    ...known,
    units: units.count,
    sameOutputs: same.outputs && missingCells === 0,
    noDifference: missingCells === 0 && lowest.every((difference) => difference === 0),
    lower: lower.bound,
    upper: upper.bound,
    zeroSpread: lower.zeroSpread || upper.zeroSpread,
    p: test.adjusted,
    alpha: gate.alpha,
    margin: gate.margin,
    minGain: gate.minGain,
    target: gate.target ?? gate.margin,
    exploratory: cells.scenarios.some(({ split }) => split !== 'holdout'),
    differing: lowest.filter((low, unit) => low > 0 || (highest[unit] ?? 0) < 0).length,
    detectable: drop,
  }
  const lost = complete.filter((difference) => difference < -span / 2).length
  return {
    rule: decide(evidence),
    difference: missingCells === 0 ? meanEstimate(lowest, level, units) : boundedEstimate(lower, upper, level, units),
    completeCase: meanEstimate(complete, level, units),
    bounds: {
      lo: lower.mean,
      hi: upper.mean,
      tippingCells:
        units.count < 2
          ? null
          : tippingCells(arm, contrast, units, cells.seeds.length, span, tQuantile((1 + level) / 2, units.count - 1)),
    },
    detectable:
      drop !== null
        ? { drop }
        : {
            drop: null,
            refused: effect === null ? 'too_few_scenarios' : spread === null ? 'missing_cells' : 'zero_spread',
          },
    unseenLoss:
      complete.length === 0
        ? null
        : { lost, units: complete.length, upperRate: rateUpperBound(lost, complete.length, UNSEEN_LEVEL) },
    unchanged: same.outputs && same.prompts,
    testsDisagree:
      units.count >= 30 &&
      !evidence.noDifference &&
      ((lower.bound ?? 0) > 0 || (upper.bound ?? 0) < 0) !== test.adjusted <= 2 * gate.alpha,
  }
}

/** The interval over both extremes of the missing cells; its middle is that of the two means. */
function boundedEstimate(lower: Side, upper: Side, level: number, units: Units): Estimate {
  const lo = lower.zeroSpread ? null : lower.bound
  const hi = upper.zeroSpread ? null : upper.bound
  const refused = units.count < 2 ? 'one_scenario' : lo === null || hi === null ? 'zero_spread' : undefined
  return {
    ...noEstimate(level, units, refused),
    est: (lower.mean + upper.mean) / 2,
    lo,
    hi,
    df: units.count < 2 ? null : units.count - 1,
    n: units.count,
    method: 'bounds',
    descriptive: units.count < FEWEST_UNITS,
  }
}
