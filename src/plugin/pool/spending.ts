import { join } from 'node:path'
import type { CampaignPlan, PlannedCell } from '../../core/campaign/plan.ts'
import type { Shard } from '../../core/campaign/shard.ts'
import type { LeaseRequest } from '../../core/capacity/events.ts'
import { type MicroUsd, toMicroUsd } from '../../core/record/usage.ts'
import type { BudgetBasis } from '../../core/report/budget.ts'
import type { ResolvedOptions } from '../options.ts'
import { findRecording } from '../replay/disk.ts'
import { recordingPlace } from '../replay/path.ts'
import type { CampaignState } from './campaign-state.ts'
import type { Policy } from './policy.ts'

export interface SpendingContext {
  /** Absolute root of the project. */
  readonly root: string
  readonly options: Pick<ResolvedOptions, 'capacity'>
  readonly policy: Policy
  /** The run's budget, or null. */
  readonly budget: MicroUsd | null
  /** The part of the cells that is run here; null: all. */
  readonly shard: Shard | null
}

/** What a granted lease says of money and lane. */
export interface Granted {
  readonly heldMicroUsd?: MicroUsd
  readonly failover?: string
}

/** What money has to do with the cells of a run: who spends any, what is held for them, what has no price. */
export class Spending {
  readonly #context: SpendingContext
  /** Cells that the governor let go without money, because a recording serves them. */
  readonly #served = new Set<string>()
  readonly #granted = new Map<string, Granted>()

  constructor(context: SpendingContext) {
    this.#context = context
  }

  /** The run's budget, or null; a shard has its share, as of everything that all of them have together. */
  get budget(): MicroUsd | null {
    return this.#share(this.#context.budget)
  }

  /** The budget of its own that a campaign has, or null; a shard's share. */
  budgetOf({ budgetUsd }: CampaignPlan): MicroUsd | null {
    return this.#share(budgetUsd === undefined ? null : toMicroUsd(budgetUsd))
  }

  /** What the cell asks the governor for beside its place in the order. */
  ask({ plan }: CampaignState, cell: PlannedCell): Pick<LeaseRequest, 'lane' | 'spends'> {
    const { lane } = cell.variant
    if (plan.capture === 'off') return { lane, spends: false }
    if (this.#isServed(plan, cell)) {
      this.#served.add(cell.cellId)
      return { lane: null, spends: false }
    }
    return { lane }
  }

  granted(cellId: string, { heldMicroUsd, failover }: Granted): void {
    const granted = {
      ...(heldMicroUsd === undefined ? {} : { heldMicroUsd }),
      ...(failover === undefined ? {} : { failover }),
    }
    if (heldMicroUsd === undefined && failover === undefined) this.#granted.delete(cellId)
    else this.#granted.set(cellId, granted)
  }

  /**
   * What the cell's `admitted` line says of money and lane.
   *
   * @throws Error for a cell that a recording was to serve: nothing is held for what it would buy
   */
  admitted(state: CampaignState, cellId: string): Granted {
    if (this.#served.has(cellId) && this.#isBound(state.plan)) {
      throw new Error('the recording that was to serve this cell is gone, and nothing of the budget is held for it')
    }
    const granted = this.#granted.get(cellId) ?? {}
    if (granted.failover === undefined) state.failovers.delete(cellId)
    else state.failovers.set(cellId, granted.failover)
    state.heldMicroUsd.set(cellId, (state.heldMicroUsd.get(cellId) ?? 0) + (granted.heldMicroUsd ?? 0))
    return granted
  }

  /** What the campaign's report says of money. */
  basis({ plan, heldMicroUsd: held }: CampaignState): BudgetBasis {
    const nobody = new Set<string>()
    const limitMicroUsd = plan.budgetUsd === undefined ? null : toMicroUsd(plan.budgetUsd)
    return { limitMicroUsd, runLimitMicroUsd: this.budget, held, open: nobody, reconciled: nobody }
  }

  /**
   * Why a campaign may not run under its budget: a lane that its cells would buy from has no price that anybody knows.
   * Null where every declared lane has one, and where it does not say whose price list it is: that shows on the wire,
   * where the request is refused.
   */
  async unpriced(plan: CampaignPlan, spends: (variantId: string) => Iterable<PlannedCell>): Promise<string | null> {
    if (!this.#isBound(plan) || plan.capture === 'off' || this.#context.policy.traffic === 'replay') return null
    // The price list is large: a run without a budget does not load it here.
    const { isListed } = await import('../../core/record/cost.ts')
    const { lanes = [] } = this.#context.options.capacity
    const { matchesGlob } = await import('../../core/capacity/glob.ts')
    const isUnknown = (lane: string): boolean => {
      const { price, usdPerCell } = lanes.find(({ match }) => matchesGlob(match, lane)) ?? {}
      return price === undefined && usdPerCell === undefined && isListed(lane, new Date()) === false
    }
    const judges = plan.scorers.flatMap(({ lane }) => (lane !== null && isUnknown(lane) ? [lane] : []))
    const unknown = new Set<string>()
    for (const { id, lane } of plan.variants) {
      const lanes = [...(lane !== null && isUnknown(lane) ? [lane] : []), ...judges]
      if (lanes.length === 0 || lanes.every((name) => unknown.has(name))) continue
      for (const cell of spends(id)) {
        if (this.#isServed(plan, cell)) continue
        for (const name of lanes) unknown.add(name)
        break
      }
    }
    if (unknown.size === 0) return null
    const names = [...unknown]
    const entries = names.map((lane) => `{ match: ${JSON.stringify(lane)}, price: { input, output } }`).join(', ')
    return (
      `a budget is set, and nobody knows the price of ${names.join(' and ')}: nothing was sent. Declare ` +
      `capacity.lanes: [${entries}] in USD per million tokens, price: 0 where nothing is paid, or usdPerCell as the ` +
      'most a cell may cost'
    )
  }

  #share(whole: MicroUsd | null): MicroUsd | null {
    const { shard } = this.#context
    return whole === null || shard === null ? whole : Math.floor(whole / shard.count)
  }

  #isBound({ budgetUsd }: CampaignPlan): boolean {
    return this.#context.budget !== null || budgetUsd !== undefined
  }

  /** Looked up on the disk only where it makes a difference. */
  #isServed(plan: CampaignPlan, { campaignId, variant, scenario, seed }: PlannedCell): boolean {
    const { policy, root } = this.#context
    if (policy.traffic === 'replay') return true
    if (policy.traffic !== 'new' || !this.#isBound(plan)) return false
    const coordinates = { campaignId, variantId: variant.id, scenarioId: scenario.id, seed }
    try {
      return findRecording(recordingPlace(join(root, plan.file), coordinates)) !== null
    } catch {
      // A link on the way: the cell says so when it opens, and until then it is taken to spend.
      return false
    }
  }
}
