import type { StatusReason } from '../record/status.ts'
import { type MicroUsd, usdText } from '../record/usage.ts'
import type { CostKey } from './cost-key.ts'
import type { Budget } from './events.ts'
import type { BudgetSnapshot } from './snapshot.ts'

/** One budget: the run's or a campaign's. Held, charged and unknown never share an amount. */
export class Scope {
  /** Null: the run's. */
  readonly campaignId: string | null
  readonly limit: MicroUsd
  held: MicroUsd = 0
  charged: MicroUsd
  unknown: MicroUsd
  unknownCalls = 0
  /** What was charged, or is kept as unknown, beyond what was held for it. */
  overshoot: MicroUsd = 0
  /** Cells that hold money here. */
  openCells = 0
  /** Those of them that wait for more money themselves, and so will free none. */
  stuckCells = 0

  /** @throws TypeError when an amount is no integer ≥ 0 */
  constructor(campaignId: string | null, budget: Budget) {
    this.campaignId = campaignId
    this.limit = amount(budget.limitMicroUsd, 'limitMicroUsd')
    this.charged = amount(budget.chargedMicroUsd ?? 0, 'chargedMicroUsd')
    this.unknown = amount(budget.unknownMicroUsd ?? 0, 'unknownMicroUsd')
  }

  get available(): MicroUsd {
    return this.limit - this.held - this.charged - this.unknown
  }

  /** True while a cell in flight may still give money back. */
  get mayFree(): boolean {
    return this.openCells > this.stuckCells
  }

  snapshot(): BudgetSnapshot {
    return {
      campaignId: this.campaignId,
      limitMicroUsd: this.limit,
      chargedMicroUsd: this.charged,
      heldMicroUsd: this.held,
      unknownMicroUsd: this.unknown,
      unknownCalls: this.unknownCalls,
      overshootMicroUsd: this.overshoot,
    }
  }
}

function amount(value: number, name: string): MicroUsd {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new TypeError(`budget: ${name} must be an integer of micro-USD ≥ 0, got ${value}`)
}

/** Why a cell is refused that the budget cannot pay for. */
export function spent(
  { campaignId, limit, charged, unknown }: Scope,
  keys: readonly CostKey[],
): { reason: StatusReason; detail: string } {
  const whose = campaignId === null ? 'of the run' : `of campaign ${campaignId}`
  if (limit === 0) return { reason: 'budget', detail: `the budget ${whose} is 0: only recordings are served` }
  const open = unknown > 0 ? ` and ${usdText(unknown)} kept for calls whose bill is unknown` : ''
  const needs = keys.flatMap(({ who, estimate }) => (estimate === null ? [] : [`${usdText(estimate)} for ${who}`]))
  const need = needs.length === 0 ? '' : `, which takes ${needs.join(' and ')}`
  const detail = `the budget ${whose} has not enough left for one more cell${need}: ${usdText(charged)} spent${open} of ${usdText(limit)}`
  return { reason: 'budget', detail }
}
