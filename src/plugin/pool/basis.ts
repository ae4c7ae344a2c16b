import type { CampaignPlan } from '../../core/campaign/plan.ts'
import { evalsVariable } from '../env.ts'
import { type Baseline, loadBaseline } from './baselines.ts'
import type { Basis } from './campaign-state.ts'
import { LookLedger } from './look-ledger.ts'
import { findRegistration } from './registrations.ts'

export interface LoadedBasis extends Basis {
  readonly baseline: Baseline | null
}

/**
 * What a campaign will be judged by, read before anything of it is admitted.
 *
 * @throws Error saying why the campaign must not run: nothing was spent yet
 */
export async function loadBasis(root: string, plan: CampaignPlan, skipped: boolean): Promise<LoadedBasis> {
  if (skipped) return { baseline: null, accepted: null, registration: null }
  const baseline = await loadBaseline(root, plan, evalsVariable('EVALS_BASELINE'))
  const registration = await findRegistration(root, plan)
  // A ledger that cannot be read would be found out after the money is gone.
  if (registration !== null && plan.gate?.kind === 'release') await new LookLedger(root, plan).read()
  return { baseline, accepted: baseline?.accepted ?? null, registration }
}
