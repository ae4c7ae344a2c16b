import { digestOf } from '../../core/campaign/identity.ts'
import type { LookCount } from '../../core/looks/count.ts'
import { evidenceOf } from '../../core/looks/evidence.ts'
import type { CampaignState } from './campaign-state.ts'
import { LookLedger } from './look-ledger.ts'
import type { RunJournal } from './run-journal.ts'

interface LookOf {
  readonly root: string
  readonly runId: string
  readonly journal: RunJournal
}

/** Looks are counted for preregistered release gates; they spend error rate before anybody sees the verdict. */
export async function countedLook(state: CampaignState, { root, runId, journal }: LookOf): Promise<LookCount | null> {
  const { plan, registration } = state
  if (registration === null || plan.gate?.kind !== 'release' || state.interrupted > 0) return null
  const evidence = evidenceOf(state.records())
  if (evidence.cells === 0) return null
  const facts = { prereg: digestOf(registration.terms, 'terms'), runId }
  const look = await new LookLedger(root, plan).count(evidence, facts)
  await journal.append({ kind: 'look', campaignId: plan.campaignId, ...look })
  return look
}
