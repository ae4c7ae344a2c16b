import type { CellTraffic } from '../replay/traffic.ts'
import type { CellContext } from './cell-context.ts'

/** Null where the campaign captures nothing, and while tests are only collected. */
export function openTraffic(context: CellContext): CellTraffic | Promise<CellTraffic> | null {
  const { bridge, cell, lease, deadline, scenario } = context
  const { campaign } = context.registered
  const { plan } = campaign
  if (plan.capture === 'off' || bridge.traffic === null) return null
  const { canary } = scenario
  return bridge.traffic.openCell({
    cellId: cell.cellId,
    coordinates: {
      campaignId: plan.campaignId,
      variantId: cell.variant.id,
      scenarioId: cell.scenario.id,
      seed: cell.seed,
    },
    attempt: lease.attempt,
    evalFile: bridge.file ?? '',
    declaredLane: cell.variant.lane,
    get signal() {
      return deadline.signal
    },
    timeoutMs: deadline.limitMs,
    leftMs: () => deadline.leftMs,
    routes: campaign.routes,
    mocks: campaign.mocks,
    canaries: typeof canary === 'string' ? [canary] : [],
  })
}
