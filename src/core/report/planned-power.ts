import type { CampaignPlan } from '../campaign/plan.ts'
import { alphaPerLook } from '../stats/sequence/alpha-spending.ts'
import { FEWEST_UNITS } from './decision.ts'
import { detectableEffect } from './detectable.ts'
import { roundedUp } from './numbers.ts'
import type { CampaignReport } from './report.ts'
import { SHOWN_POWER } from './trial.ts'
import { unitsOf } from './units.ts'

/** Of the scale: differences spread this much where, say, one scenario in four passes in one arm alone. */
export const ASSUMED_SPREAD = 0.5

/** The smallest drop a campaign could show, before it has any data. */
export type PlannedPower =
  | {
      /** In points of the primary score, rounded up. */
      readonly drop: number
      readonly scale: readonly [number, number]
      readonly units: number
      readonly unit: 'scenario' | 'family'
      /** Standard deviation that the differences between scenarios are taken to have, and who says so. */
      readonly spread: number
      readonly spreadFrom: 'earlier-run' | 'assumed'
    }
  | { readonly drop: null; readonly why: string }

/**
 * What drop the gate would show 4 times in 5, over the planned scenarios and at the level of one look, shared by the
 * candidates as Bonferroni does: the verdict's own intervals are never wider. The spread of the differences is an earlier
 * run's where there is one, else {@link ASSUMED_SPREAD} of the scale.
 *
 * @param earlier report of an earlier run of the campaign, or null
 */
export function plannedPower(plan: CampaignPlan, earlier: CampaignReport | null): PlannedPower {
  const { gate } = plan
  if (gate === null) return { drop: null, why: 'it declares no gate' }
  if (gate.comparator === null && gate.accepted === null) {
    return { drop: null, why: 'its gate compares with a threshold, not with another arm' }
  }
  const scale = plan.scorers.find(({ name }) => name === plan.primary)?.scale ?? null
  if (scale === null) return { drop: null, why: `the primary scorer ${plan.primary} has no bounded scale` }
  const holdout = plan.scenarios.filter(({ split }) => split === 'holdout')
  const units = unitsOf(holdout.length === 0 ? plan.scenarios : holdout)
  const candidates = Math.max(1, gate.candidates.length)
  const tail = alphaPerLook(gate.alpha, gate.looks) / candidates
  const effect = detectableEffect(units.count, { power: SHOWN_POWER, alpha: 2 * tail })
  const many = units.kind === 'family' ? 'families' : 'scenarios'
  if (effect === null) {
    const needed = units.count < FEWEST_UNITS ? `${FEWEST_UNITS} are the fewest` : 'more are needed'
    return { drop: null, why: `no drop of any size is shown by ${units.count} ${many}: ${needed}` }
  }
  const span = scale[1] - scale[0]
  const seen = earlier === null ? null : spreadOf(earlier, plan)
  const spread = seen ?? ASSUMED_SPREAD * span
  const drop = roundedUp(effect * spread, scale)
  if (drop > span) {
    return { drop: null, why: `${units.count} ${many} are too few to show even a drop of the whole scale` }
  }
  return {
    drop,
    scale,
    units: units.count,
    unit: units.kind,
    spread,
    spreadFrom: seen === null ? 'assumed' : 'earlier-run',
  }
}

/** The widest spread among the candidates of an earlier run, at the seeds of this one; null where it has none to go by. */
function spreadOf({ candidates, design }: CampaignReport, { gate, seeds, primary }: CampaignPlan): number | null {
  if (design.primary !== primary) return null
  let widest: number | null = null
  for (const { id, completeCase, variance } of candidates) {
    if (gate?.candidates.includes(id) !== true) continue
    const { tau2, sigma2 } = variance
    const sd =
      tau2 !== null && sigma2 !== null
        ? Math.sqrt(tau2 + sigma2 / seeds.length)
        : completeCase?.se != null && design.seeds === seeds.length
          ? completeCase.se * Math.sqrt(completeCase.n)
          : null
    // All differences equal says nothing of how far others may spread.
    if (sd !== null && sd > 0) widest = Math.max(widest ?? 0, sd)
  }
  return widest
}
