import type { PermitOutcome, PermitRequest } from './events.ts'
import type { Lane } from './lanes.ts'

/** What a request is taken to answer where neither it nor the lane's past says more. */
const UNKNOWN_OUTPUT_TOKENS = 1024

/** What the wire reported, where it can be true. */
export function reportedOf(outcome: PermitOutcome | undefined): PermitOutcome['tokens'] {
  const tokens = outcome?.tokens ?? null
  return tokens !== null && isCount(tokens.input) && isCount(tokens.output) ? tokens : null
}

const isCount = (value: number): boolean => Number.isFinite(value) && value >= 0

/** What a request weighs in tokens per minute before it leaves. */
export function tokensOf({ tokens }: PermitRequest, lane: Pick<Lane, 'largestOutput'>): number {
  const output = lane.largestOutput ?? UNKNOWN_OUTPUT_TOKENS
  const sum = tokens === undefined ? output : tokens.input + (tokens.output ?? output)
  return isCount(sum) ? sum : output
}
