import type { RunRecord } from '../record/record.ts'
import { type CostPerSuccess, costPerSuccessRatio } from '../stats/cost-per-success.ts'
import { pairedLogRatio } from '../stats/log-ratio.ts'
import { passOf, recordAt } from './arm.ts'
import type { CandidateReport } from './candidate-report.ts'
import type { Cells } from './cells.ts'
import { isFreeWithTokens } from './cost.ts'
import type { Estimate, RefusalCode } from './report.ts'
import type { Units } from './units.ts'

/** What the subject of one cell cost, without its judges: what a user of the variant would pay. Null: unknown. */
export function subjectCost(record: RunRecord | undefined): number | null {
  if (record === undefined || record.attempts === 0 || isFreeWithTokens(record)) return null
  return record.cost.subjectUsd
}

/** Cost and passes of one variant, each the mean over the seeds of a scenario; null where a seed does not say. */
export interface Spent {
  readonly cost: readonly (number | null)[]
  readonly passes: readonly (number | null)[]
  /** Some cell ran, and nobody knows what it cost. */
  readonly uncaptured: boolean
}

export function spentOf(cells: Cells, variant: number): Spent {
  let uncaptured = false
  const cost: (number | null)[] = []
  const passes: (number | null)[] = []
  const mean = (values: readonly (number | null)[]): number | null => {
    let sum = 0
    for (const value of values) {
      if (value === null) return null
      sum += value
    }
    return sum / values.length
  }
  cells.scenarios.forEach((_, scenario) => {
    const records = cells.seeds.map((_seed, seed) => recordAt(cells, variant, scenario, seed))
    const costs = records.map(subjectCost)
    if (records.some((record, at) => record !== undefined && record.attempts > 0 && costs[at] === null))
      uncaptured = true
    cost.push(mean(costs.toSorted((a, b) => (a ?? 0) - (b ?? 0))))
    passes.push(mean(records.map(passOf).map((pass) => (pass === null ? null : Number(pass)))))
  })
  return { cost, passes, uncaptured }
}

/** Numbers of both arms over the units where both are known. */
export interface SpentPairs {
  readonly baseCost: readonly number[]
  readonly cost: readonly number[]
  readonly basePasses: readonly number[]
  readonly passes: readonly number[]
  readonly refused?: RefusalCode
}

/** @param withPasses leave out scenarios whose passes are not known either */
export function pairSpent(comparator: Spent, candidate: Spent, units: Units, withPasses: boolean): SpentPairs {
  const sums = Array.from({ length: units.count }, () => ({ n: 0, baseCost: 0, cost: 0, basePasses: 0, passes: 0 }))
  candidate.cost.forEach((cost, scenario) => {
    const baseCost = comparator.cost[scenario] ?? null
    const [basePasses, passes] = [comparator.passes[scenario] ?? null, candidate.passes[scenario] ?? null]
    const unit = sums[units.of[scenario] ?? -1]
    if (cost === null || baseCost === null || unit === undefined) return
    if (withPasses && (basePasses === null || passes === null)) return
    unit.n++
    unit.baseCost += baseCost
    unit.cost += cost
    unit.basePasses += basePasses ?? 0
    unit.passes += passes ?? 0
  })
  const filled = sums.filter(({ n }) => n > 0)
  const pairs = {
    baseCost: filled.map(({ n, baseCost }) => baseCost / n),
    cost: filled.map(({ n, cost }) => cost / n),
    basePasses: filled.map(({ n, basePasses }) => basePasses / n),
    passes: filled.map(({ n, passes }) => passes / n),
  }
  // One unknown charge may be the largest of all.
  if (comparator.uncaptured || candidate.uncaptured) return { ...pairs, refused: 'uncaptured' }
  return filled.length === 0 ? { ...pairs, refused: 'no_data' } : pairs
}

/** candidate / comparator of the cost per cell, and per success: failures are paid for by the successes around them. */
export function costRatioOf(
  comparator: Spent,
  candidate: Spent,
  units: Units,
  level: number,
): CandidateReport['costRatio'] {
  const cells = pairSpent(comparator, candidate, units, false)
  const successes = pairSpent(comparator, candidate, units, true)
  const perSuccess = successes.cost.map((changedCost, unit) => ({
    baseCost: successes.baseCost[unit] ?? 0,
    basePasses: successes.basePasses[unit] ?? 0,
    changedCost,
    changedPasses: successes.passes[unit] ?? 0,
  }))
  return {
    perCell: ratioEstimate(pairedLogRatio(cells.baseCost, cells.cost, level), cells, level, units),
    perSuccess: ratioEstimate(costPerSuccessRatio(perSuccess, level), successes, level, units),
  }
}

function ratioEstimate(found: CostPerSuccess, { refused, cost }: SpentPairs, level: number, units: Units): Estimate {
  const n = cost.length
  const base = { level, se: null, df: n > 1 ? n - 1 : null, n, unit: units.kind, method: 'log-ratio-t' } as const
  if (refused !== undefined) return { ...base, est: null, lo: null, hi: null, descriptive: true, refused }
  const { ratio, lo, hi } = found
  const why = found.refused === undefined ? {} : { refused: found.refused }
  return { ...base, est: ratio, lo, hi, descriptive: n < 10, ...why }
}
