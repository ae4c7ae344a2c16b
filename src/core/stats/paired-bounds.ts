export interface PairedBoundsInput {
  /** Planned units of each arm. */
  readonly planned: number
  readonly candidate: { readonly observed: number; readonly sum: number }
  readonly comparator: { readonly observed: number; readonly sum: number }
  readonly scale: readonly [lo: number, hi: number]
}

/**
 * Bounds of the mean difference when cells are missing, assuming nothing about why: each missing cell may have had any
 * value of the scale (Manski). `lo` puts the candidate's missing cells at the bottom and the comparator's at the top,
 * `hi` the reverse. Beside it the difference of the means of what was observed, for the record. Reference case:
 * `pairedBounds`.
 *
 * @throws RangeError when more was observed than planned, or nothing was planned
 */
export function pairedBounds({ planned, candidate, comparator, scale }: PairedBoundsInput): {
  readonly lo: number
  readonly hi: number
  readonly observed: number | null
} {
  const missingCandidate = planned - candidate.observed
  const missingComparator = planned - comparator.observed
  if (!(planned > 0) || missingCandidate < 0 || missingComparator < 0) {
    throw new RangeError(`${planned} planned, ${candidate.observed} and ${comparator.observed} observed`)
  }
  const [bottom, top] = scale
  const both = candidate.observed > 0 && comparator.observed > 0
  return {
    lo: (candidate.sum + missingCandidate * bottom - comparator.sum - missingComparator * top) / planned,
    hi: (candidate.sum + missingCandidate * top - comparator.sum - missingComparator * bottom) / planned,
    observed: both ? candidate.sum / candidate.observed - comparator.sum / comparator.observed : null,
  }
}
