import { requireFinite } from '../finite.ts'
import { BOOTSTRAP_RESAMPLES, PERCENTILE_UNITS } from './cluster.ts'
import { drawUnits, type ResampleSource } from './resample.ts'

/** One variant's mean quality (more is better) and mean cost (less is better) per scenario, scenarios in one order. */
export interface FrontierVariant {
  readonly quality: readonly number[]
  readonly cost: readonly number[]
}

export interface FrontierPlace {
  /** Share of resamples in which no other variant is at least as good on both and better on one; null where refused. */
  readonly onFrontier: number | null
  /** Simulation error of that share. */
  readonly monteCarloSe: number | null
  /** Ranks by quality (1 best, ties share) that hold the middle `level` of the resamples. */
  readonly rank: { readonly lo: number | null; readonly hi: number | null }
  readonly refused?: 'no_data' | 'too_few_scenarios'
}

/**
 * How sure a variant's place is: joint resamples of the scenarios, the same ones for all variants, and in each who is on
 * the quality–cost frontier and who ranks where. A description: dominance is claimed only by
 * {@link frontierClass}.
 *
 * Refuses fewer than 30 scenarios.
 *
 * @throws RangeError for variants with different numbers of scenarios or a cost that is unknown
 */
export function frontierPlaces(
  variants: readonly FrontierVariant[],
  level: number,
  source: ResampleSource & { readonly resamples?: number },
): FrontierPlace[] {
  const units = variants[0]?.quality.length ?? 0
  for (const { quality, cost } of variants) {
    if (quality.length !== units || cost.length !== units) throw new RangeError('variants need the same scenarios')
    requireFinite(quality, 'quality')
    requireFinite(cost, 'cost')
  }
  if (units < PERCENTILE_UNITS) {
    const refused = units === 0 ? 'no_data' : 'too_few_scenarios'
    return variants.map(() => ({ onFrontier: null, monteCarloSe: null, rank: { lo: null, hi: null }, refused }))
  }
  const resamples = source.resamples ?? BOOTSTRAP_RESAMPLES
  const indices = new Uint32Array(units)
  const hits = variants.map(() => 0)
  const ranks = variants.map(() => new Float64Array(resamples))
  for (let r = 0; r < resamples; r++) {
    drawUnits(indices, r, source)
    const points = variants.map(({ quality, cost }) => ({
      quality: sumOf(quality, indices),
      cost: sumOf(cost, indices),
    }))
    points.forEach((point, v) => {
      if (!points.some((other) => dominates(other, point))) hits[v] = (hits[v] ?? 0) + 1
      const better = points.filter((other) => other.quality > point.quality).length
      const same = points.filter((other) => other.quality === point.quality).length
      const column = ranks[v]
      if (column !== undefined) column[r] = better + (same + 1) / 2
    })
  }
  return variants.map((_, v) => {
    const share = (hits[v] ?? 0) / resamples
    const sorted = ranks[v]?.sort() ?? new Float64Array()
    const at = (p: number): number | null => sorted[Math.min(resamples - 1, Math.floor(p * resamples))] ?? null
    return {
      onFrontier: share,
      monteCarloSe: Math.sqrt((share * (1 - share)) / resamples),
      rank: { lo: at((1 - level) / 2), hi: at((1 + level) / 2) },
    }
  })
}

export const FRONTIER_CLASSES = ['frontier', 'undecided', 'dominated'] as const
export type FrontierClass = (typeof FRONTIER_CLASSES)[number]

/** Simultaneous intervals of one variant against another; null where an interval was refused. */
export interface Dominance {
  /** Lower end of the quality difference, other − this. */
  readonly qualityLo: number | null
  readonly qualityHi: number | null
  /** Ends of the cost ratio, other / this. */
  readonly costRatioLo: number | null
  readonly costRatioHi: number | null
}

/**
 * Where a variant stands against all others. `dominated`: some other one is shown to be better *and* cheaper (quality
 * difference above 0, cost ratio below 1). `frontier`: against every other one it is shown to be better or cheaper.
 * `undecided`: everything else, refused intervals included.
 */
export function frontierClass(others: readonly Dominance[]): FrontierClass {
  const shownWorse = ({ qualityLo, costRatioHi }: Dominance): boolean =>
    qualityLo !== null && costRatioHi !== null && qualityLo > 0 && costRatioHi < 1
  const shownBetter = ({ qualityHi, costRatioLo }: Dominance): boolean =>
    (qualityHi !== null && qualityHi < 0) || (costRatioLo !== null && costRatioLo > 1)
  if (others.some(shownWorse)) return 'dominated'
  return others.every(shownBetter) ? 'frontier' : 'undecided'
}

interface Point {
  readonly quality: number
  readonly cost: number
}

function dominates(one: Point, other: Point): boolean {
  const notWorse = one.quality >= other.quality && one.cost <= other.cost
  return notWorse && (one.quality > other.quality || one.cost < other.cost)
}

function sumOf(values: readonly number[], indices: Uint32Array): number {
  let sum = 0
  for (let i = 0; i < indices.length; i++) sum += values[indices[i] ?? 0] ?? 0
  return sum
}
