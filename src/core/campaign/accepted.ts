/** The records in `__baselines__/<campaign>.jsonl` as comparator. */
export interface AcceptedComparator {
  readonly comparator: 'accepted'
  /** Null: each variant with its own rows. */
  readonly variant: string | null
}

/**
 * Compares with accepted records: those of an earlier run, committed in `__baselines__/<campaign>.jsonl` beside the
 * eval file by `npx vitest-campaign accept <campaign>`.
 *
 * @param variant compare all variants with the accepted rows of this one; default: each with its own
 */
export function accepted(variant?: string): AcceptedComparator {
  return Object.freeze({ comparator: 'accepted', variant: variant ?? null })
}
