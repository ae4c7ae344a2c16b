import type { LeaseRequest } from './events.ts'

/**
 * Order of admission: whole seed blocks one after the other and variants interleaved inside a block, so that a run that
 * ends early measured every variant equally. It is read off the data alone; the cell id settles ties, never arrival.
 */
export function compareRank(a: LeaseRequest, b: LeaseRequest): number {
  const [seedA, scenarioA, variantA, campaignA] = a.rank
  const [seedB, scenarioB, variantB, campaignB] = b.rank
  return (
    seedA - seedB ||
    scenarioA - scenarioB ||
    variantA - variantB ||
    compareText(campaignA, campaignB) ||
    compareText(a.cellId, b.cellId)
  )
}

/** Code-unit order: a locale would make the order the machine's. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
