import { rateUpperBound } from '../stats/clopper-pearson.ts'
import { moments } from '../stats/mean-interval.ts'
import { bettingLowerBound } from '../stats/sequence/betting.ts'
import { tQuantile } from '../stats/student-t.ts'
import type { Arm } from './arm.ts'
import type { CandidateReport, GuardrailReport } from './candidate-report.ts'
import { type Contrast, type ContrastP, type Side, sides, skewedLower, tippingCells } from './contrast.ts'
import { decide, type Evidence, FEWEST_UNITS, type Rule } from './decision.ts'
import { differences, meanEstimate, noEstimate, type Range, within } from './estimate.ts'
import { flakinessChangeOf } from './flakiness.ts'
import { efficiencyOf, guardrailsOf, type Pair } from './guardrails.ts'
import type { Spent } from './money.ts'
import { sameTraffic } from './observations.ts'
import { pairedTestsOf } from './paired-tests.ts'
import type { Estimate, Variance } from './report.ts'
import { SHOWN_POWER, type Trial } from './trial.ts'
import type { Units } from './units.ts'
import { pairedRows, powerOf, unitRows, varianceOf } from './variance.ts'

const UNSEEN_LEVEL = 0.95

/** One candidate against the comparator. */
export interface Comparison {
  readonly rule: Rule
  readonly difference: Estimate
  readonly completeCase: Estimate
  readonly tests: CandidateReport['tests']
  readonly bounds: NonNullable<CandidateReport['bounds']>
  readonly detectable: CandidateReport['detectableDrop']
  readonly unseenLoss: CandidateReport['unseenLoss']
  readonly guardrails: readonly GuardrailReport[]
  readonly boundedLower: Estimate | null
  readonly variance: Variance
  readonly power: CandidateReport['power']
  readonly costRatio: CandidateReport['costRatio']
  readonly latencyRatio: CandidateReport['latencyRatio']
  readonly flakinessChange: Estimate
  readonly testsDisagree: boolean
  /** Same prompts, same outputs. */
  readonly unchanged: boolean
}

/**
 * @param level of the intervals, after correction over the candidates
 * @param effect smallest detectable effect in standard deviations; null below the fewest units
 */
export function compare(
  trial: Trial,
  arm: Arm,
  comparator: Arm,
  { contrast, test }: { readonly contrast: Contrast; readonly test: ContrastP },
  level: number,
  effect: number | null,
  known: Pick<Evidence, 'invalid' | 'mustPassBroken' | 'coverageShort'>,
): Comparison {
  const { units, gate, cells, scale } = trial
  const { lowest, highest, complete, missingCells } = contrast
  const span = scale[1] - scale[0]
  const range = differences(scale)
  const [lower, upper] = missingCells === 0 ? sides(lowest, lowest, level) : sides(lowest, highest, level)
  const same = sameTraffic(cells, arm.variant, comparator.variant)
  const pair: Pair = {
    cells,
    units,
    candidate: arm,
    comparator,
    level: 1 - 2 * gate.alpha,
    scales: trial.scales,
    passes: trial.passes,
    coverageShort: known.coverageShort,
  }
  const efficiency = efficiencyOf(pair)
  const guardrails = guardrailsOf(gate.guardrails, pair, efficiency)
  const boundedLower = gate.assurance === 'bounded' ? boundedOf(lowest, span, level, units) : null
  const spread = complete.length < 2 ? null : moments(complete)
  const drop = effect === null || spread === null || spread.equal ? null : effect * spread.sd
  const tests = pairedTestsOf({
    contrast,
    arms: [arm, comparator],
    units,
    scale,
    seeds: cells.seeds.length,
    level,
    judged: trial.judged,
  })
  const evidence: Evidence = {
    ...known,
    units: units.count,
    sameOutputs: same.outputs && missingCells === 0,
    noDifference: missingCells === 0 && lowest.every((difference) => difference === 0),
    lower: lower.bound,
    upper: upper.bound,
    skewedLower: skewedLower(lowest, level),
    zeroSpread: lower.zeroSpread || upper.zeroSpread,
    p: test.adjusted,
    alpha: gate.alpha,
    tangoLower: tests.mcnemar?.interval.lo ?? null,
    margin: gate.margin,
    minGain: gate.minGain,
    target: gate.target ?? gate.margin,
    exploratory: trial.exploratory.length > 0,
    judgeUnreliable: trial.judge?.carries === false,
    guardrailViolated: guardrails.some(({ outcome }) => outcome === 'violated'),
    guardrailOpen: guardrails.some(({ require, outcome }) => require === 'shown' && outcome !== 'ok'),
    bounded:
      boundedLower === null
        ? null
        : {
            gain: boundedLower.lo !== null && boundedLower.lo > gate.minGain,
            withinMargin: boundedLower.lo !== null && gate.margin !== null && boundedLower.lo > -gate.margin,
          },
    differing: lowest.filter((low, unit) => low > 0 || (highest[unit] ?? 0) < 0).length,
    detectable: drop,
  }
  if (arm.measured === 0 || comparator.measured === 0)
    return nothingMeasured(decide(evidence), level, trial, guardrails, { lo: lower.mean, hi: upper.mean })
  const rows = unitRows(units, pairedRows(cells, arm, comparator, scale[0]), cells.seeds.length)
  const variance = varianceOf(rows)
  const pairUsd = meanPair(efficiency.spent.comparator, efficiency.spent.candidate)
  const lost = complete.filter((difference) => difference < -span / 2).length
  return {
    rule: decide(evidence),
    difference:
      missingCells === 0
        ? meanEstimate(lowest, level, units, range)
        : boundedEstimate(lower, upper, level, units, range, known.coverageShort),
    completeCase: meanEstimate(complete, level, units, range),
    tests,
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
      complete.length < 2
        ? null
        : { lost, units: complete.length, upperRate: rateUpperBound(lost, complete.length, UNSEEN_LEVEL) },
    guardrails,
    boundedLower,
    variance,
    power: powerOf({
      rows,
      variance,
      units,
      scenarios: cells.scenarios.length,
      seeds: cells.seeds.length,
      target: evidence.target,
      power: { power: SHOWN_POWER, alpha: 1 - level },
      pairUsd,
    }),
    costRatio: efficiency.costRatio,
    latencyRatio: efficiency.latencyRatio,
    flakinessChange: flakinessChangeOf(arm, comparator, units, cells.seeds.length, level),
    unchanged: same.outputs && same.prompts,
    testsDisagree:
      units.count >= 30 &&
      !evidence.noDifference &&
      ((lower.bound ?? 0) > 0 || (upper.bound ?? 0) < 0) !== test.adjusted <= 2 * gate.alpha,
  }
}

/**
 * The interval over both extremes of the missing cells. Its middle is that of the two means, and says something only
 * while few cells are missing: below the coverage floor there is no estimate.
 */
function boundedEstimate(
  lower: Side,
  upper: Side,
  level: number,
  units: Units,
  range: Range,
  coverageShort: boolean,
): Estimate {
  const lo = lower.zeroSpread ? null : within(lower.bound, range)
  const hi = upper.zeroSpread ? null : within(upper.bound, range)
  const unbounded = units.count < 2 ? 'one_scenario' : lo === null || hi === null ? 'zero_spread' : undefined
  return {
    ...noEstimate(level, units, coverageShort ? 'missing_cells' : unbounded),
    est: coverageShort ? null : (lower.mean + upper.mean) / 2,
    lo,
    hi,
    df: units.count < 2 ? null : units.count - 1,
    n: units.count,
    method: 'bounds',
    descriptive: units.count < FEWEST_UNITS,
  }
}

/** An arm without one measured cell: intervals over the whole scale would look like a finding. */
function nothingMeasured(
  rule: Rule,
  level: number,
  { units, gate }: Trial,
  guardrails: readonly GuardrailReport[],
  worst: { readonly lo: number; readonly hi: number },
): Comparison {
  const none = noEstimate(level, units, 'no_data')
  return {
    rule,
    difference: none,
    completeCase: none,
    tests: { mcnemar: null, wilcoxon: null },
    bounds: { ...worst, tippingCells: null },
    detectable: { drop: null, refused: 'no_data' },
    unseenLoss: null,
    guardrails,
    boundedLower: gate.assurance === 'bounded' ? none : null,
    variance: varianceOf([]),
    power: {
      target: gate.target ?? gate.margin,
      unit: units.kind,
      requiredScenarios: null,
      requiredAtAnySeeds: null,
      requiredUsd: null,
      seedsNarrowBy: null,
      advice: null,
      refused: 'no_data',
    },
    costRatio: { perCell: none, perSuccess: none },
    latencyRatio: { clock: 'provider', median: none, p95: none },
    flakinessChange: none,
    testsDisagree: false,
    unchanged: false,
  }
}

/** Mean cost of one cell of either arm together, over the scenarios where both are known. */
function meanPair(comparator: Spent, candidate: Spent): number | null {
  if (comparator.uncaptured || candidate.uncaptured) return null
  const sums = candidate.cost.flatMap((cost, scenario) => {
    const before = comparator.cost[scenario] ?? null
    return cost === null || before === null ? [] : [cost + before]
  })
  return sums.length === 0 ? null : sums.reduce((sum, value) => sum + value, 0) / sums.length
}

/**
 * Lower bound that needs no assumption but the scale: differences, in the order of the units, mapped from
 * [−span, span] to [0, 1].
 */
function boundedOf(lowest: Float64Array, span: number, level: number, units: Units): Estimate {
  const found = bettingLowerBound(
    Array.from(lowest, (difference) => Math.min(1, Math.max(0, (difference + span) / (2 * span)))),
    (1 - level) / 2,
  )
  const base = {
    ...noEstimate(level, units, found.refused ?? 'not_applicable'),
    n: lowest.length,
    method: 'betting',
  } as const
  if (found.value === null) return base
  return { ...base, est: moments(lowest).mean, lo: found.value * 2 * span - span, descriptive: false }
}
