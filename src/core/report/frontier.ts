import { type Dominance, frontierClass, frontierPlaces } from '../stats/bootstrap/frontier.ts'
import { pairedLogRatio } from '../stats/log-ratio.ts'
import { meanInterval } from '../stats/mean-interval.ts'
import type { PhiloxKey } from '../stats/philox.ts'
import type { Arm } from './arm.ts'
import type { Cells } from './cells.ts'
import { T_UNITS } from './decision.ts'
import { spentOf } from './money.ts'
import { type Units, unitMeans } from './units.ts'
import type { VariantSummary } from './variant-report.ts'

type Frontier = VariantSummary['frontier']

/** Resamples are a description here; 2,000 give a share to ± 1.1 points. */
const RESAMPLES = 2_000
const STREAM = 7

/**
 * Who is better and cheaper than whom. Dominance needs both intervals, simultaneous over all ordered pairs; a variant
 * with an unknown charge has no place, and takes none from others. Over the scenarios that all placed variants have.
 *
 * @param alpha one-sided level before it is shared among the pairs
 * @returns one entry per arm
 */
export function frontierOf(
  cells: Cells,
  arms: readonly Arm[],
  units: Units,
  alpha: number,
  key: PhiloxKey,
): readonly Frontier[] {
  const none = (refused: NonNullable<Frontier['refused']>): Frontier => ({
    class: null,
    dominatedBy: [],
    probability: null,
    refused,
  })
  if (arms.length < 2) return arms.map(() => none('not_applicable'))
  const seeds = cells.seeds.length
  const spent = arms.map((arm) => spentOf(cells, arm.variant))
  const placed = arms.flatMap((arm, at) => (arm.measured > 0 && spent[at]?.uncaptured === false ? [at] : []))
  const common = cells.scenarios.map((_, scenario) =>
    placed.every((at) => arms[at]?.observed[scenario] === seeds && (spent[at]?.cost[scenario] ?? null) !== null),
  )
  const byUnit = (of: (scenario: number) => number): number[] =>
    Array.from(
      unitMeans(
        units,
        Float64Array.from(common, (both, scenario) => (both ? of(scenario) : Number.NaN)),
      ),
    )
  const points = placed.map((at) => ({
    quality: byUnit((scenario) => arms[at]?.mean[scenario] ?? Number.NaN),
    cost: byUnit((scenario) => spent[at]?.cost[scenario] ?? Number.NaN),
  }))
  const n = points[0]?.quality.length ?? 0
  const pairs = Math.max(1, placed.length * (placed.length - 1))
  const level = 1 - (2 * alpha) / pairs
  const places = placed.length < 2 ? [] : frontierPlaces(points, level, { key, stream: STREAM, resamples: RESAMPLES })
  const dominance = (one: number, other: number): Dominance => {
    const [a, b] = [points[one], points[other]]
    if (a === undefined || b === undefined) {
      return { qualityLo: null, qualityHi: null, costRatioLo: null, costRatioHi: null }
    }
    const quality = meanInterval(
      b.quality.map((value, unit) => value - (a.quality[unit] ?? Number.NaN)),
      level,
    )
    const same = quality.refused === 'zero_spread'
    const ratio = pairedLogRatio(a.cost, b.cost, level)
    const exact = ratio.refused === 'zero_spread'
    return {
      qualityLo: same ? quality.mean : quality.lo,
      qualityHi: same ? quality.mean : quality.hi,
      costRatioLo: exact ? ratio.ratio : ratio.lo,
      costRatioHi: exact ? ratio.ratio : ratio.hi,
    }
  }
  return arms.map((arm, at) => {
    const own = placed.indexOf(at)
    if (arm.measured === 0) return none('no_data')
    if (own < 0) return none('uncaptured')
    if (placed.length < 2) return none('not_applicable')
    if (n < T_UNITS) return none('too_few_scenarios')
    const others = placed.flatMap((id, i) => (i === own ? [] : [{ id, against: dominance(own, i) }]))
    return {
      class: frontierClass(others.map(({ against }) => against)),
      dominatedBy: others
        .filter(({ against }) => frontierClass([against]) === 'dominated')
        .map(({ id }) => cells.variants[arms[id]?.variant ?? -1]?.id ?? ''),
      probability: places[own]?.onFrontier ?? null,
    }
  })
}
