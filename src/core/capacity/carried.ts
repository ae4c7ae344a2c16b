import { type MicroUsd, toMicroUsd, toUsd } from '../record/usage.ts'

/** What the journal of an earlier part of the run says of attempts at a cell. */
export interface EarlierAttempt {
  /** `heldMicroUsd` of its `admitted` lines, added up; null where no budget was set. */
  readonly heldMicroUsd: MicroUsd | null
  /** `cost.usd` of its record, null where that is unknown; undefined: it was admitted and has no record. */
  readonly usd: number | null | undefined
}

/** Calls of attempts whose records, if they have any, do not say what they cost. */
interface EarlierCalls {
  readonly microUsd: MicroUsd
  readonly unknownCalls: number
  /** Null: nothing bounds them. */
  readonly boundMicroUsd: MicroUsd | null
}

/** The part of them that is known, and the part that is not, with its bound as what was held for it. */
export function attemptsOfCalls({ microUsd, boundMicroUsd, unknownCalls }: EarlierCalls): EarlierAttempt[] {
  const known = { heldMicroUsd: null, usd: toUsd(microUsd) }
  return unknownCalls === 0 ? [known] : [known, { heldMicroUsd: boundMicroUsd, usd: undefined }]
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
