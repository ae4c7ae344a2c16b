import type { RunRecord } from '../record/record.ts'
import { medianOfSorted, quantileRanks } from '../stats/quantile-interval.ts'
import type { Estimate, VariantSummary } from './report.ts'

const LEVEL = 0.95

/**
 * Median over scenarios of the median over seeds, with order-statistic bounds. The wall clock where the cell was live,
 * else the provider's durations as recorded. A cell cut off at its deadline took at least that long: it ranks last and
 * never lends its limit as a number.
 *
 * @param scenarios records of each scenario
 */
export function latencyOf(scenarios: readonly (readonly RunRecord[])[]): VariantSummary['latency'] {
  let live = 0
  let recorded = 0
  const medians: number[] = []
  for (const records of scenarios) {
    const times: number[] = []
    for (const record of records) {
      if (record.status !== 'scored' && record.status !== 'task_fail' && record.status !== 'judge_error') continue
      const time = record.wallMs ?? record.providerMs
      if (time === null) continue
      if (record.wallMs === null) recorded++
      else live++
      times.push(record.failure?.class === 'timeout' ? Number.POSITIVE_INFINITY : time)
    }
    if (times.length > 0) medians.push(medianOfSorted(times.sort((a, b) => a - b)))
  }
  const source = live > 0 && recorded > 0 ? 'mixed' : live > 0 ? 'live' : recorded > 0 ? 'recorded' : 'none'
  return { medianMs: medianEstimate(medians.sort((a, b) => a - b)), source }
}

function medianEstimate(sorted: readonly number[]): Estimate {
  const n = sorted.length
  const base = {
    lo: null,
    hi: null,
    level: LEVEL,
    se: null,
    df: null,
    n,
    unit: 'scenario',
    method: 'order-statistic',
    descriptive: true,
  } as const
  if (n === 0) return { ...base, est: null, refused: 'no_data' }
  const median = medianOfSorted(sorted)
  const { lower, upper } = quantileRanks(n, 0.5, LEVEL)
  const finite = (rank: number | null): number | null => {
    const value = rank === null ? undefined : sorted[rank - 1]
    return value === undefined || !Number.isFinite(value) ? null : value
  }
  const [lo, hi] = [finite(lower), finite(upper)]
  // More than half ran into their deadline: the median lies beyond it.
  if (!Number.isFinite(median)) return { ...base, est: null, lo, refused: 'not_applicable' }
  return lo === null || hi === null
    ? { ...base, est: median, lo, hi, refused: 'too_few_scenarios' }
    : { ...base, est: median, lo, hi }
}
