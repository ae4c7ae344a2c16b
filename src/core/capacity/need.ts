import { type MicroUsd, usdText } from '../record/usage.ts'
import type { Part } from './cell-money.ts'
import type { PermitRequest } from './events.ts'
import type { Scope } from './scope.ts'

/**
 * What must be there before a request leaves: its bound, until bills of its lane are known; then no more than twice the
 * largest of one call, and no less than its input alone. Where the lane declares the most a cell costs, what is left of
 * that. Nothing where nothing says what it may cost: then what is held for its cell is all that is known.
 */
export function needOf(
  { boundMicroUsd = null, leastMicroUsd = null }: PermitRequest,
  part: Pick<Part, 'key' | 'spent' | 'reserved'> | null,
  usdPerCell: number | undefined,
): MicroUsd {
  if (usdPerCell !== undefined) {
    const left = Math.ceil(usdPerCell * 1_000_000) - (part?.spent ?? 0) - (part?.reserved ?? 0)
    return Math.max(0, Math.min(left, boundMicroUsd ?? left))
  }
  if (boundMicroUsd === null) return 0
  const seen = part?.key.callEstimate ?? null
  return Math.ceil(seen === null ? boundMicroUsd : Math.min(boundMicroUsd, Math.max(seen, leastMicroUsd ?? 0)))
}

/** What happened and what to do. */
export function shortText(
  { tokens }: PermitRequest,
  need: MicroUsd,
  left: MicroUsd,
  { campaignId, limit }: Scope,
): string {
  const whose = campaignId === null ? 'of the run' : `of campaign ${campaignId}`
  const size =
    tokens === undefined
      ? ''
      : ` (about ${tokens.input} tokens asked, ${tokens.output === null ? 'its answer not bounded' : `${tokens.output} answered at most`})`
  return (
    `the request may cost ${usdText(need)}${size}, and ${usdText(Math.max(0, left))} of the ${usdText(limit)} budget ${whose} is ` +
    'left. Raise the budget, let the request bound its answer (max_tokens), or declare usdPerCell for its lane'
  )
}
