import { cellIdOf } from './identity.ts'
import type { CampaignPlan, PlannedCell } from './plan.ts'

/** The cells of a plan, by position: seed blocks first to last, in each scenario by scenario, variants side by side. */
export function cellsOf(plan: CampaignPlan): PlannedCell[] {
  const { campaignId } = plan
  const cells: PlannedCell[] = []
  for (const [s, seed] of plan.seeds.entries()) {
    for (const [c, scenario] of plan.scenarios.entries()) {
      for (const [v, variant] of plan.variants.entries()) {
        const cellId = cellIdOf({ campaignId, variantId: variant.id, scenarioId: scenario.id, seed })
        cells.push({ cellId, campaignId, variant, scenario, seed, position: [s, c, v] })
      }
    }
  }
  return cells
}

/** The title of a cell's test below its campaign, and what messages call the cell. */
export function cellName({ variant, scenario, seed }: Pick<PlannedCell, 'variant' | 'scenario' | 'seed'>): string {
  return `${variant.id} > ${scenario.id} > seed ${seed}`
}
