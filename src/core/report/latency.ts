import type { RunRecord } from '../record/record.ts'
import { clusteredMean } from '../stats/clustered-mean.ts'
import { quantileOfSorted } from '../stats/quantile.ts'
import { medianOfSorted, quantileRanks } from '../stats/quantile-interval.ts'
import type { Estimate } from './report.ts'
import type { VariantSummary } from './variant-report.ts'

const LEVEL = 0.95
const P95 = 0.95
/** Two-sided; one-sided 95 %, which 59 independent runs reach. */
export const P95_LEVEL = 0.9

/**
 * `provider`: the sum of the provider calls' durations, the same live and replayed. `wall`: the cell's own clock, which
 * only a live cell has. The two are never mixed in one number, nor in one table.
 */
export const CLOCKS = ['provider', 'wall'] as const
export type Clock = (typeof CLOCKS)[number]

const RAN_TO_AN_END: ReadonlySet<RunRecord['status']> = new Set(['scored', 'task_fail', 'judge_error'])

/** Milliseconds of a cell that ran to an end; Infinity where it was cut off at its limit; null where nobody knows. */
export function runTime(record: RunRecord, clock: Clock): number | null {
  if (!RAN_TO_AN_END.has(record.status)) return null
  const time = clock === 'wall' ? record.wallMs : record.providerMs
  if (time === null) return null
  return record.failure?.class === 'timeout' ? Number.POSITIVE_INFINITY : time
}

/** Every cell that ran to an end was live, and there is one: a wall clock means something. */
export function isLive(records: Iterable<RunRecord | undefined>): boolean {
  let some = false
  for (const record of records) {
    if (record === undefined || !RAN_TO_AN_END.has(record.status)) continue
    if (record.wallMs === null) return false
    some = true
  }
  return some
}

/**
 * Latency of one variant by the provider's durations and, where every cell of the campaign was live, by the wall clock.
 * A cell cut off at its deadline took at least that long: it ranks last and never lends its limit as a number.
 *
 * @param scenarios records of each scenario
 * @param wall every cell of the campaign was live
 */
export function latencyOf(
  scenarios: readonly (readonly RunRecord[])[],
  limitMs: number,
  wall: boolean,
): VariantSummary['latency'] {
  const timed = scenarios.flat().filter((record) => runTime(record, 'provider') !== null)
  const recorded = timed.filter(({ provenance }) => provenance !== 'live').length
  const provider = timesOf(scenarios, 'provider')
  const cutOff = wall ? timesOf(scenarios, 'wall') : provider
  return {
    ...quantilesOf(provider),
    censored: cutOff.flat().filter((time) => time === Number.POSITIVE_INFINITY).length,
    limitMs,
    source: timed.length === 0 ? 'none' : recorded === 0 ? 'live' : recorded === timed.length ? 'recorded' : 'mixed',
    wall: wall ? quantilesOf(timesOf(scenarios, 'wall')) : WALL_REFUSED,
  }
}

function timesOf(scenarios: readonly (readonly RunRecord[])[], clock: Clock): number[][] {
  return scenarios.map((records) => records.flatMap((record) => runTime(record, clock) ?? []))
}

function quantilesOf(runs: readonly (readonly number[])[]): Pick<VariantSummary['latency'], 'medianMs' | 'p95Ms'> {
  const medians = runs.filter((times) => times.length > 0).map((times) => medianOfSorted(times.toSorted(ascending)))
  return { medianMs: medianEstimate(medians.sort(ascending)), p95Ms: p95Of(runs) }
}

const ascending = (a: number, b: number): number => a - b
const finite = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : value

const NONE = {
  est: null,
  lo: null,
  hi: null,
  se: null,
  df: null,
  method: 'order-statistic',
  descriptive: true,
} as const satisfies Partial<Estimate>

const WALL_REFUSED: VariantSummary['latency']['wall'] = {
  medianMs: { ...NONE, level: LEVEL, n: 0, unit: 'scenario', refused: 'replayed' },
  p95Ms: { ...NONE, level: P95_LEVEL, n: 0, unit: 'run', refused: 'replayed' },
}

function medianEstimate(sorted: readonly number[]): Estimate {
  const n = sorted.length
  const base = { ...NONE, level: LEVEL, n, unit: 'scenario' } as const
  if (n === 0) return { ...base, refused: 'no_data' }
  const median = medianOfSorted(sorted)
  const { lower, upper } = quantileRanks(n, 0.5, LEVEL)
  const at = (rank: number | null): number | null => (rank === null ? null : finite(sorted[rank - 1]))
  const [lo, hi] = [at(lower), at(upper)]
  // More than half ran into their deadline: the median lies beyond it.
  if (!Number.isFinite(median)) return { ...base, lo, refused: 'beyond_limit' }
  if (lo !== null && hi !== null) return { ...base, est: median, lo, hi }
  return { ...base, est: median, lo, hi, refused: upper === null ? 'too_few_scenarios' : 'beyond_limit' }
}

/**
 * 95th percentile over all runs with order-statistic bounds. Seeds of one scenario are not independent: the ranks are
 * those of so many runs as are left after the design effect of being beyond the percentile (Woodruff 1952).
 *
 * @param runs milliseconds by scenario
 */
export function p95Of(runs: readonly (readonly number[])[]): Estimate {
  const sorted = runs.flat().sort(ascending)
  const n = sorted.length
  const base = { ...NONE, level: P95_LEVEL, n, unit: 'run' } as const
  if (n === 0) return { ...base, refused: 'no_data' }
  const threshold = sorted[Math.ceil(P95 * n) - 1] ?? 0
  const beyond = clusteredMean(
    runs.map((times) => times.map((time) => Number(time >= threshold))),
    LEVEL,
  )
  const inflation = beyond.se === null || !beyond.iid ? 1 : Math.max(1, (beyond.se / beyond.iid) ** 2)
  const effective = Math.max(1, Math.floor(n / inflation + 1e-9))
  const { lower, upper } = quantileRanks(effective, P95, P95_LEVEL)
  const lo = lower === null ? null : finite(sorted[Math.max(1, Math.floor((lower / effective) * n)) - 1])
  const hi = upper === null ? null : finite(sorted[Math.ceil((upper / effective) * n) - 1])
  const est = finite(quantileOfSorted(sorted, P95))
  if (est === null) return { ...base, lo, refused: 'beyond_limit' }
  if (lo !== null && hi !== null) return { ...base, est, lo, hi }
  return { ...base, est, lo, hi, refused: upper === null || lower === null ? 'too_few_scenarios' : 'beyond_limit' }
}

export type Comparing = 'ratio' | 'difference'

/**
 * Median over units of candidate / comparator (or candidate − comparator) with order-statistic bounds. A pair of which
 * one run was cut off lies at an end; one of which both were may lie anywhere.
 *
 * @param pairs [comparator, candidate] by unit, milliseconds
 */
export function medianOfPairs(
  pairs: readonly (readonly [number, number])[],
  as: Comparing,
  level: number,
  unit: Estimate['unit'],
): Estimate {
  const n = pairs.length
  const base = { ...NONE, level, n, unit } as const
  if (n === 0) return { ...base, refused: 'no_data' }
  const low: number[] = []
  const high: number[] = []
  for (const [before, after] of pairs) {
    const open = !Number.isFinite(before) && !Number.isFinite(after)
    const value = as === 'ratio' ? after / before : after - before
    low.push(open ? Number.NEGATIVE_INFINITY : value)
    high.push(open ? Number.POSITIVE_INFINITY : value)
  }
  low.sort(ascending)
  high.sort(ascending)
  const { lower, upper } = quantileRanks(n, 0.5, level)
  const lo = lower === null ? null : finite(low[lower - 1])
  const hi = upper === null ? null : finite(high[upper - 1])
  const [least, most] = [medianOfSorted(low), medianOfSorted(high)]
  const est = least === most ? finite(least) : null
  const refused = lower === null || upper === null ? 'too_few_scenarios' : 'beyond_limit'
  if (est === null || lo === null || hi === null) return { ...base, est, lo, hi, refused }
  return { ...base, est, lo, hi, descriptive: false }
}

/**
 * Ratio or difference of two percentiles from their own intervals, which need not be symmetric (MOVER: Zou & Donner
 * 2008): each bound takes the nearer side of both.
 */
export function compareP95(comparator: Estimate, candidate: Estimate, as: Comparing): Estimate {
  const base = {
    ...NONE,
    level: P95_LEVEL,
    n: Math.min(comparator.n, candidate.n),
    unit: 'run',
    method: 'mover',
  } as const
  const to = as === 'ratio' ? Math.log : (value: number): number => value
  const from = as === 'ratio' ? Math.exp : (value: number): number => value
  const refused = comparator.refused ?? candidate.refused
  const side = (estimate: Estimate): readonly [lo: number | null, est: number | null, hi: number | null] => [
    estimate.lo === null ? null : to(estimate.lo),
    estimate.est === null ? null : to(estimate.est),
    estimate.hi === null ? null : to(estimate.hi),
  ]
  const [bl, b, bh] = side(comparator)
  const [cl, c, ch] = side(candidate)
  const lowest =
    cl === null || bh === null ? null : b === null || c === null ? cl - bh : c - b - Math.hypot(c - cl, bh - b)
  const highest = ch === null || bl === null || b === null || c === null ? null : c - b + Math.hypot(ch - c, b - bl)
  const est = b === null || c === null ? null : finite(from(c - b))
  const lo = lowest === null ? null : finite(from(lowest))
  const hi = highest === null ? null : finite(from(highest))
  if (est === null || lo === null || hi === null) return { ...base, est, lo, hi, refused: refused ?? 'not_applicable' }
  return { ...base, est, lo, hi, descriptive: false }
}
