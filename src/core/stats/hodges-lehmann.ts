import { requireFinite } from './finite.ts'
import { requireLevel } from './mean-interval.ts'
import { medianOfSorted } from './quantile-interval.ts'
import { signDistribution } from './wilcoxon.ts'

export interface HodgesLehmann {
  readonly est: number | null
  readonly lo: number | null
  readonly hi: number | null
  /** Exact coverage of [lo, hi] without ties; at least the level. */
  readonly coverage: number | null
  readonly refused?: 'no_data' | 'too_few_scenarios'
}

/**
 * Hodges–Lehmann estimate of the pseudo-median: the median of the n(n+1)/2 Walsh averages (Δ_i + Δ_j)/2, i ≤ j, with
 * the interval between the order statistics of them that the signed-rank distribution picks (Tukey). Reported beside the
 * signed-rank test. Reference: `hodges-lehmann-hw`. Hollander & Wolfe 1999, 3.2 and 3.3.
 *
 * Assumes differences symmetric about the pseudo-median; with ties the coverage is at least the stated one. Refuses the
 * interval where 2^(1−n) exceeds 1 − level: every interval would fall short.
 *
 * @throws RangeError for a difference that is not finite
 */
export function hodgesLehmann(differences: readonly number[], level: number): HodgesLehmann {
  requireLevel(level)
  requireFinite(differences, 'difference')
  const n = differences.length
  if (n === 0) return { est: null, lo: null, hi: null, coverage: null, refused: 'no_data' }
  const walsh = new Float64Array((n * (n + 1)) / 2)
  let at = 0
  for (let i = 0; i < n; i++) {
    // Adding 0 makes −0 a 0: sort puts −0 first, and it would leave as the estimate or an end of equal differences.
    for (let j = i; j < n; j++) walsh[at++] = ((differences[i] ?? Number.NaN) + (differences[j] ?? Number.NaN)) / 2 + 0
  }
  walsh.sort()
  const est = medianOfSorted(walsh)
  const density = signDistribution(Array.from({ length: n }, (_, i) => i + 1))
  const tail = (1 - level) / 2
  let rank = 0
  let left = 0
  while (left + (density[rank] ?? 1) <= tail * (1 + 1e-12)) left += density[rank++] ?? 1
  if (rank === 0) return { est, lo: null, hi: null, coverage: null, refused: 'too_few_scenarios' }
  return { est, lo: walsh[rank - 1] ?? null, hi: walsh[walsh.length - rank] ?? null, coverage: 1 - 2 * left }
}
