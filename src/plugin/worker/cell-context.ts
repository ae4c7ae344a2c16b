import type { Payload } from '../../core/campaign/listing.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { GrantedLease, RegisteredCampaign, WorkerBridge } from './bridge.ts'
import { Deadline } from './deadline.ts'
import type { Notes } from './subject.ts'

/** A cell that a lease lets run. */
export interface LeasedCell {
  readonly registered: RegisteredCampaign
  readonly planned: NonNullable<RegisteredCampaign['planned']>
  readonly cell: PlannedCell
  readonly lease: GrantedLease
}

/** What one execution of a cell has in its hands from its start. */
export interface CellContext extends LeasedCell {
  readonly bridge: WorkerBridge
  readonly variant: Payload
  readonly scenario: Payload
  readonly deadline: Deadline
  readonly notes: Notes
  readonly startedAt: string
  /** Of the bridge's clock. */
  readonly started: number
}

export function cellContext(bridge: WorkerBridge, leased: LeasedCell): CellContext {
  const { campaign } = leased.registered
  const { variant, scenario } = leased.cell
  return {
    ...leased,
    bridge,
    variant: campaign.variants.get(variant.id) ?? { id: variant.id },
    scenario: campaign.scenarios.get(scenario.id) ?? { id: scenario.id },
    startedAt: bridge.clock.instant(),
    started: bridge.clock.now(),
    deadline: new Deadline(campaign.plan.timeoutMs, bridge.clock),
    notes: { metrics: {}, tags: {}, profile: null },
  }
}
