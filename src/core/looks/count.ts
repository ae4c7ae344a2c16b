import type { Evidence } from './evidence.ts'
import { type Look, looksAt } from './ledger.ts'

/** How often these scenarios have been looked at, this time included. */
export interface LookCount {
  /** Number of this look, from 1. */
  readonly used: number
  /** One-sided error rate spent by it and all before it. */
  readonly spent: number
  /** When these answers were first looked at, where that was before: they are at least as old. Else null. */
  readonly since: string | null
}

/** The number of the look with this evidence; null where the ledger does not have it. */
export function countLook(looks: readonly Look[], scenarios: readonly string[], evidence: Evidence): LookCount | null {
  const counted = looksAt(looks, scenarios)
  const at = counted.findIndex((look) => look.evidence === evidence.digest)
  return at === -1 ? null : { used: at + 1, spent: spentBy(counted.slice(0, at + 1)), since: counted[at]?.at ?? null }
}

/** The number that a look has which the ledger does not hold, and which spends `alpha`. */
export function nextLook(looks: readonly Look[], scenarios: readonly string[], alpha: number): LookCount {
  const counted = looksAt(looks, scenarios)
  return { used: counted.length + 1, spent: spentBy(counted) + alpha, since: null }
}

function spentBy(looks: readonly Look[]): number {
  return looks.reduce((sum, { alpha }) => sum + alpha, 0)
}
