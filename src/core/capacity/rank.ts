import type { LeaseRequest } from './events.ts'

/**
 * Order of admission: whole seed blocks one after the other and variants interleaved inside a block, so that a run that
 * ends early measured every variant equally; cells that run again come last in their block. It is read off the data
 * alone; the cell id settles ties, never arrival.
 */
export function compareRank(a: LeaseRequest, b: LeaseRequest): number {
  const left = a.rank
  const right = b.rank
  // By index, not by destructuring: this runs some 30 times per cell.
  return (
    left[0] - right[0] ||
    (a.rerun ?? 0) - (b.rerun ?? 0) ||
    left[1] - right[1] ||
    left[2] - right[2] ||
    compareText(left[3], right[3]) ||
    compareText(a.cellId, b.cellId)
  )
}

/** Code-unit order: a locale would make the order the machine's. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
