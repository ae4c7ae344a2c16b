import { type Digest, digestOf } from './identity.ts'
import type { CampaignPlan } from './plan.ts'

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/**
 * Digest of what a plan measures and how it decides, without the code. The order in which variants, scenarios and
 * seeds are written does not enter, nor do the place of the file, lanes and tags.
 */
export function definitionDigestOf(plan: Omit<CampaignPlan, 'definitionDigest'>): Digest {
  const { campaignId, scorerDigest, gate, coverage, timeoutMs, capture } = plan
  return digestOf({
    campaignId,
    variants: plan.variants.toSorted(byId).map(({ id, digest }) => ({ id, digest })),
    scenarios: plan.scenarios
      .toSorted(byId)
      .map(({ id, digest, family, split, mustPass }) => ({ id, digest, family, split, mustPass })),
    seeds: plan.seeds.toSorted((a, b) => a - b),
    scorerDigest,
    gate: gate === null ? null : { ...gate, candidates: gate.candidates.toSorted() },
    coverage,
    timeoutMs,
    capture,
  })
}

/** Identity of a campaign: its definition and its code. Equal fingerprints measure the same thing the same way. */
export function fingerprintOf(
  { definitionDigest }: Pick<CampaignPlan, 'definitionDigest'>,
  codeDigest: Digest,
): Digest {
  return digestOf({ definition: definitionDigest, code: codeDigest })
}
