import type { Json } from '../campaign/canonical-json.ts'
import type { CampaignPlan, PlannedGate } from '../campaign/plan.ts'

/** What a preregistration fixes before any data, by field. */
export type Terms = { readonly [field: string]: Json }

/**
 * The terms of a plan: everything that decides what is measured and how it is judged, in one canonical form. The order
 * in which variants, scenarios, seeds and candidates are written does not enter.
 */
export function termsOf(plan: CampaignPlan): Terms {
  const { gate } = plan
  const primary = plan.scorers.find(({ name }) => name === plan.primary)
  return {
    campaign: plan.campaignId,
    comparator: comparatorOf(gate),
    candidates: gate === null ? [] : gate.candidates.toSorted(),
    primary: plan.primary,
    scale: primary?.scale == null ? null : [...primary.scale],
    kind: gate?.kind ?? null,
    atLeast: gate?.atLeast ?? null,
    margin: gate?.margin ?? null,
    minGain: gate?.minGain ?? null,
    target: gate?.target ?? null,
    alpha: gate?.alpha ?? null,
    assurance: gate?.assurance ?? null,
    onInconclusive: gate?.onInconclusive ?? null,
    looks: gate?.looks ?? null,
    guardrails: Object.fromEntries(
      (gate?.guardrails ?? []).map(({ name, endpoint, ratio, diff, require }) => [
        name,
        { endpoint, ratio, diff, require },
      ]),
    ),
    coverage: plan.coverage,
    timeoutMs: plan.timeoutMs,
    seeds: plan.seeds.toSorted((a, b) => a - b),
    variants: Object.fromEntries(plan.variants.map(({ id, digest }) => [id, digest])),
    scenarios: Object.fromEntries(
      plan.scenarios.map(({ id, digest, split, family, mustPass }) => [id, { digest, split, family, mustPass }]),
    ),
    scorers: plan.scorerDigest,
  }
}

function comparatorOf(gate: PlannedGate | null): Json {
  return gate?.accepted == null ? (gate?.comparator ?? null) : { accepted: gate.accepted.variant }
}
