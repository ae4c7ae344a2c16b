import type { StatusReason } from '../record/status.ts'
import type { MicroUsd } from '../record/usage.ts'
import type { ClosureReason } from './events.ts'

/** Why something waits. Times are on the governor's clock. */
export type WaitCause =
  /** The run's cells are all in flight. */
  | { readonly kind: 'cells' }
  /** The lane's slots are taken. */
  | { readonly kind: 'slots' }
  /** Requests or tokens per minute are used up. */
  | { readonly kind: 'pace'; readonly until: number }
  | { readonly kind: 'hold'; readonly until: number; readonly reason: string }
  /** Money that is held for others must come back first. */
  | { readonly kind: 'budget'; readonly budget: 'run' | { readonly campaignId: string } }
  /** Nobody knows yet what a cell of this lane costs: the first one runs alone. */
  | { readonly kind: 'first-cell' }

export interface LaneSnapshot {
  readonly lane: string
  readonly account: string | null
  readonly cells: number
  readonly requests: number
  /** As declared. */
  readonly cap: number
  /** As throttling lets it be now; ≤ cap. */
  readonly concurrency: number
  readonly waitingCells: number
  readonly waitingJudges: number
  readonly waitingRequests: number
  /** Of the last minute; null where no limit is declared. */
  readonly requestsPerMinute: { readonly used: number; readonly limit: number } | null
  readonly tokensPerMinute: { readonly used: number; readonly limit: number } | null
  readonly hold: { readonly until: number; readonly reason: string } | null
  readonly closed: { readonly reason: ClosureReason; readonly detail: string } | null
  /** Empty where nothing waits. */
  readonly why: readonly WaitCause[]
}

export interface BudgetSnapshot {
  /** Null: the run's. */
  readonly campaignId: string | null
  readonly limitMicroUsd: MicroUsd
  readonly chargedMicroUsd: MicroUsd
  readonly heldMicroUsd: MicroUsd
  /** Kept for calls whose charge nobody knows. */
  readonly unknownMicroUsd: MicroUsd
  readonly unknownCalls: number
  /** Charges beyond what was held for them, added up. */
  readonly overshootMicroUsd: MicroUsd
}

/** In flight, waiting and caps at this moment; for the live line and status. */
export interface GovernorSnapshot {
  readonly cells: { readonly inFlight: number; readonly cap: number; readonly waiting: number }
  readonly lanes: readonly LaneSnapshot[]
  readonly budgets: readonly BudgetSnapshot[]
  readonly state: 'open' | 'draining' | 'stopped'
  readonly draining: StatusReason | null
}
