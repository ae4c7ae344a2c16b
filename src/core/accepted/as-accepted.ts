import { digestOf } from '../campaign/identity.ts'
import type { CampaignPlan, PlannedGate } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import type { AcceptedRecords } from './format.ts'
import { type AcceptedRun, headerOf } from './header.ts'

/** The records of any run as if they had been accepted. */
export function asAccepted(run: AcceptedRun, records: readonly RunRecord[]): AcceptedRecords {
  const header = headerOf(run, records)
  return { header, records, digest: digestOf({ header, cells: records.map(({ cellId, score }) => [cellId, score]) }) }
}

/** The plan of a run with a gate that compares its variants with those of the same name of another run. */
export function comparedPlan(plan: CampaignPlan, candidates: readonly string[]): CampaignPlan {
  const { gate } = plan
  const compared: PlannedGate = {
    kind: 'pr',
    comparator: null,
    accepted: { variant: null },
    primary: plan.primary,
    atLeast: null,
    margin: gate?.margin ?? null,
    minGain: gate?.minGain ?? 0,
    target: gate?.target ?? null,
    alpha: gate?.alpha ?? 0.025,
    candidates,
    guardrails: [],
    onInconclusive: 'warn',
    assurance: gate?.assurance ?? 'standard',
    looks: 1,
  }
  return { ...plan, gate: compared }
}
