import type { PlannedGuardrail } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import { meanInterval } from '../stats/mean-interval.ts'
import { medianOfSorted } from '../stats/quantile-interval.ts'
import { skewedBounds } from '../stats/skewed-bounds.ts'
import { type Arm, passOf, recordAt } from './arm.ts'
import type { CandidateReport, GuardrailReport } from './candidate-report.ts'
import type { Cells } from './cells.ts'
import { T_UNITS } from './decision.ts'
import { differences, meanEstimate, noEstimate, within } from './estimate.ts'
import { type Clock, compareP95, isLive, medianOfPairs, p95Of, runTime } from './latency.ts'
import { costRatioOf, pairSpent, type Spent, spentOf } from './money.ts'
import type { Estimate } from './report.ts'
import { type Units, unitMeans } from './units.ts'

export interface Pair {
  readonly cells: Cells
  readonly units: Units
  readonly candidate: Arm
  readonly comparator: Arm
  /** 1 − 2α: one-sided α on either side. Every guardrail is tested at the full level, and all must hold. */
  readonly level: number
  /** Scales of the scorers beside the primary one; null is unbounded. */
  readonly scales: ReadonlyMap<string, readonly [number, number] | null>
  /** Whether the primary score says pass or fail: then cost is cost per success. */
  readonly passes: boolean
  /** An arm has too few measured cells: what complete cells say may be what the others would not. */
  readonly coverageShort: boolean
}

/** Cost and latency of a pair, which the report shows whether or not a guardrail limits them. */
export interface Efficiency {
  readonly costRatio: CandidateReport['costRatio']
  readonly latencyRatio: CandidateReport['latencyRatio']
  readonly spent: { readonly comparator: Spent; readonly candidate: Spent }
  readonly times: {
    readonly comparator: readonly (readonly number[])[]
    readonly candidate: readonly (readonly number[])[]
  }
  readonly clock: Clock
}

export function efficiencyOf({ cells, units, candidate, comparator, level }: Pair): Efficiency {
  const spent = { comparator: spentOf(cells, comparator.variant), candidate: spentOf(cells, candidate.variant) }
  // The provider's clock says the same live and replayed. Only where no call was timed the wall clock stands in.
  const both = [candidate, comparator].flatMap((arm) => recordsOf(cells, arm.variant).flat())
  const timed = both.some((record) => runTime(record, 'provider') !== null)
  const clock = !timed && isLive(both) ? 'wall' : 'provider'
  const times = (arm: Arm): number[][] =>
    recordsOf(cells, arm.variant).map((records) => records.flatMap((record) => runTime(record, clock) ?? []))
  const [before, after] = [times(comparator), times(candidate)]
  return {
    spent,
    times: { comparator: before, candidate: after },
    clock,
    costRatio: costRatioOf(spent.comparator, spent.candidate, units, level),
    latencyRatio: {
      clock,
      median: medianOfPairs(timePairs(before, after, units), 'ratio', level, units.kind),
      p95: compareP95(p95Of(before), p95Of(after), 'ratio'),
    },
  }
}

function recordsOf(cells: Cells, variant: number): RunRecord[][] {
  return cells.scenarios.map((_, scenario) =>
    cells.seeds.flatMap((_seed, seed) => recordAt(cells, variant, scenario, seed) ?? []),
  )
}

const ascending = (a: number, b: number): number => a - b

/** Median times of both arms by unit, over the units where both have some. */
function timePairs(
  before: readonly (readonly number[])[],
  after: readonly (readonly number[])[],
  units: Units,
): (readonly [number, number])[] {
  const byUnit = Array.from({ length: units.count }, (): [number[], number[]] => [[], []])
  units.of.forEach((unit, scenario) => {
    const [a, b] = [before[scenario] ?? [], after[scenario] ?? []]
    if (a.length === 0 || b.length === 0) return
    byUnit[unit]?.[0].push(...a)
    byUnit[unit]?.[1].push(...b)
  })
  return byUnit
    .filter(([a]) => a.length > 0)
    .map(([a, b]) => [medianOfSorted(a.sort(ascending)), medianOfSorted(b.sort(ascending))])
}

export function guardrailsOf(
  planned: readonly PlannedGuardrail[],
  pair: Pair,
  efficiency: Efficiency,
): GuardrailReport[] {
  return planned.map((rail) => {
    const found = measure(rail, pair, efficiency)
    const timed = rail.endpoint === 'latency' || rail.endpoint === 'latencyP95'
    return { ...rail, ...found, outcome: outcomeOf(rail, found.estimate, pair), clock: timed ? efficiency.clock : null }
  })
}

/** Scores must not fall, cost and time must not grow: a limit is one-sided, and so is what shows it broken or kept. */
function outcomeOf(rail: PlannedGuardrail, estimate: Estimate, pair: Pair): GuardrailReport['outcome'] {
  const score = rail.endpoint === 'score' || rail.endpoint === 'passRate'
  // Complete cells of a short arm prove nothing; scores have every missing cell at its worst already.
  if (pair.coverageShort && !score) return 'unproven'
  const ranked = estimate.method === 'order-statistic' || estimate.method === 'mover'
  if (!ranked && estimate.n < T_UNITS) return 'unproven'
  // The same everywhere: no interval, and nothing else to say either.
  const exact = estimate.refused === 'zero_spread' && !score
  const lo = exact ? estimate.est : estimate.lo
  const hi = exact ? estimate.est : estimate.hi
  const limit = rail.ratio ?? rail.diff ?? 0
  if (score) {
    if (hi !== null && hi < -limit) return 'violated'
    return lo !== null && lo >= -limit ? 'ok' : 'unproven'
  }
  if (lo !== null && lo > limit) return 'violated'
  return hi !== null && hi <= limit ? 'ok' : 'unproven'
}

type Measured = Pick<GuardrailReport, 'comparator' | 'candidate' | 'estimate'>

function measure(rail: PlannedGuardrail, pair: Pair, efficiency: Efficiency): Measured {
  const { units, level } = pair
  const { spent, times, costRatio, latencyRatio } = efficiency
  const as = rail.ratio === null ? 'difference' : 'ratio'
  switch (rail.endpoint) {
    case 'cost': {
      const pairs = pairSpent(spent.comparator, spent.candidate, units, pair.passes && as === 'ratio')
      const mean = (values: readonly number[]): number | null =>
        pairs.refused !== undefined ? null : values.reduce((sum, value) => sum + value, 0) / values.length
      if (as === 'difference') {
        const moved = Float64Array.from(pairs.cost, (cost, unit) => cost - (pairs.baseCost[unit] ?? 0))
        const estimate =
          pairs.refused === undefined
            ? meanEstimate(moved, level, units, null)
            : noEstimate(level, units, pairs.refused)
        return { comparator: mean(pairs.baseCost), candidate: mean(pairs.cost), estimate }
      }
      const per = (cost: readonly number[], passes: readonly number[]): number | null => {
        const [money, rate] = [mean(cost), pair.passes ? mean(passes) : 1]
        return money === null || !rate ? null : money / rate
      }
      return {
        comparator: per(pairs.baseCost, pairs.basePasses),
        candidate: per(pairs.cost, pairs.passes),
        estimate: pair.passes ? costRatio.perSuccess : costRatio.perCell,
      }
    }
    case 'latency': {
      const pairs = timePairs(times.comparator, times.candidate, units)
      const median = (side: 0 | 1): number | null => {
        const value = pairs.length === 0 ? Number.NaN : medianOfSorted(pairs.map((both) => both[side]).sort(ascending))
        return Number.isFinite(value) ? value : null
      }
      const estimate = as === 'ratio' ? latencyRatio.median : medianOfPairs(pairs, as, level, units.kind)
      return { comparator: median(0), candidate: median(1), estimate }
    }
    case 'latencyP95': {
      const [before, after] = [p95Of(times.comparator), p95Of(times.candidate)]
      return { comparator: before.est, candidate: after.est, estimate: compareP95(before, after, as) }
    }
    case 'passRate':
      return scores(pair, [0, 1], (record) => {
        const pass = passOf(record)
        return pass === null ? 'missing' : Number(pass)
      })
    case 'score': {
      const scale = pair.scales.get(rail.name) ?? null
      return scores(pair, scale, (record) => {
        if (record?.status === 'task_fail') return scale === null ? 'missing' : scale[0]
        const score = record?.status === 'scored' ? record.scores[rail.name] : undefined
        if (record?.status !== 'scored' || score?.error !== undefined) return 'missing'
        return score?.value ?? 'no opinion'
      })
    }
  }
}

/** Difference of another score, by unit, with missing cells at either end of the scale; complete pairs where it has none. */
function scores(
  pair: Pair,
  scale: readonly [number, number] | null,
  read: (record: RunRecord | undefined) => number | 'missing' | 'no opinion',
): Measured {
  const { cells, units, level } = pair
  const arms = [pair.comparator, pair.candidate].map(({ variant }) =>
    cells.scenarios.map((_, scenario) =>
      cells.seeds.map((_seed, seed) => read(recordAt(cells, variant, scenario, seed))),
    ),
  )
  const applies = cells.scenarios.map((_, scenario) =>
    arms.some((arm) => arm[scenario]?.some((value) => typeof value === 'number')),
  )
  const end = (arm: number, missing: number): Float64Array =>
    Float64Array.from(cells.scenarios, (_, scenario) => {
      if (!applies[scenario]) return Number.NaN
      const values = (arms[arm]?.[scenario] ?? []).map((value) => (typeof value === 'number' ? value : missing))
      return values.sort(ascending).reduce((sum, value) => sum + value, 0) / values.length
    })
  const [bottom, top] = scale ?? [Number.NaN, Number.NaN]
  const minus = (a: Float64Array, b: Float64Array): Float64Array =>
    unitMeans(
      units,
      a.map((value, scenario) => value - (b[scenario] ?? Number.NaN)),
    )
  const lowest = minus(end(1, bottom), end(0, top))
  const highest = minus(end(1, top), end(0, bottom))
  const known = (arm: number): number | null => {
    const values = unitMeans(units, end(arm, Number.NaN))
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
  }
  const unmeasured = arms.some((arm) => !arm.some((values) => values.some((value) => typeof value === 'number')))
  const estimate =
    lowest.length === 0 || unmeasured
      ? noEstimate(level, units, 'no_data')
      : scale === null && lowest.length < units.count
        ? { ...meanEstimate(lowest, level, units, null), lo: null, hi: null, refused: 'missing_cells' as const }
        : withoutMiddle(bounded(lowest, highest, level, units, scale), pair.coverageShort)
  return { comparator: known(0), candidate: known(1), estimate }
}

/**
 * [lower bound of the lowest, upper bound of the highest]. The lower one says that a limit is kept, so it allows for
 * skewed differences, as the margin does. Where all differences are equal, the share of units that may
 * still differ is bounded as in {@link meanBounds}: with n that agree, at most 1 − tail^(1/n), at worst by the whole scale.
 */
function bounded(
  lowest: Float64Array,
  highest: Float64Array,
  level: number,
  units: Units,
  scale: readonly [number, number] | null,
): Estimate {
  const n = lowest.length
  const range = differences(scale)
  const plain = { ...meanEstimate(lowest, level, units, range), descriptive: n < T_UNITS }
  const [low, high] = [meanInterval(lowest, level), meanInterval(highest, level)]
  if (scale === null || low.mean === null || high.mean === null) return plain
  const est = (low.mean + high.mean) / 2
  if (n < 2) return { ...plain, est }
  const unseen = 1 - ((1 - level) / 2) ** (1 / n)
  const span = scale[1] - scale[0]
  const lo =
    low.refused === 'zero_spread' ? low.mean - unseen * (span + low.mean) : (skewedBounds(lowest, level)?.lo ?? null)
  const hi = high.refused === 'zero_spread' ? high.mean + unseen * (span - high.mean) : high.hi
  const { refused: _, ...rest } = plain
  return { ...rest, est, lo: within(lo, range), hi: within(hi, range), se: null, method: 'bounds' }
}

/** Below the coverage floor the middle between the extremes of the missing cells is nobody's difference. */
function withoutMiddle(estimate: Estimate, coverageShort: boolean): Estimate {
  return coverageShort && estimate.method === 'bounds'
    ? { ...estimate, est: null, refused: estimate.refused ?? 'missing_cells' }
    : estimate
}
