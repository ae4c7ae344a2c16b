import { type MicroUsd, toMicroUsd } from '../record/usage.ts'

/** What the journal of an earlier part of the run says of one attempt at a cell. */
export interface EarlierAttempt {
  /** `heldMicroUsd` of its `admitted` line; null where no budget was set. */
  readonly heldMicroUsd: MicroUsd | null
  /** `cost.usd` of its record, null where that is unknown; undefined: it was admitted and has no record. */
  readonly usd: number | null | undefined
}

/**
 * What a continued run begins with. An attempt that was admitted and never settled, or whose bill is unknown, keeps its
 * whole hold as unknown: that a run was killed does not make its calls free.
 */
export function carriedSpend(attempts: Iterable<EarlierAttempt>): {
  readonly chargedMicroUsd: MicroUsd
  readonly unknownMicroUsd: MicroUsd
} {
  let chargedMicroUsd = 0
  let unknownMicroUsd = 0
  for (const { heldMicroUsd, usd } of attempts) {
    if (typeof usd === 'number' && Number.isFinite(usd) && usd >= 0) chargedMicroUsd += toMicroUsd(usd)
    else unknownMicroUsd += heldMicroUsd ?? 0
  }
  return { chargedMicroUsd, unknownMicroUsd }
}
