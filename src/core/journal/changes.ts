import { canonicalJson } from '../campaign/canonical-json.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import type { EntryOf } from './entry.ts'

/** What a fingerprint is made of. */
export type FingerprintParts = Pick<EntryOf<'plan'>, 'plan' | 'code'>

/** Names that are listed before the rest is counted. */
const SHOWN = 3

/** Which parts of a campaign differ between two plans of it, in words; empty where nothing that was journalled does. */
export function changedParts(before: FingerprintParts, now: FingerprintParts): string[] {
  const [old, plan] = [before.plan, now.plan]
  const settings = (['coverage', 'timeoutMs', 'capture'] as const).filter((name) => old[name] !== plan[name])
  return [
    ...listed('variant', digests(old.variants), digests(plan.variants)),
    ...listed('scenario', digests(old.scenarios), digests(plan.scenarios)),
    ...(sorted(old.seeds) === sorted(plan.seeds) ? [] : ['the seeds']),
    ...(old.scorerDigest === plan.scorerDigest ? [] : ['the scorers']),
    ...(gateOf(old) === gateOf(plan) ? [] : ['the gate']),
    ...settings.map((name) => (name === 'timeoutMs' ? 'timeout' : name)),
    ...(before.code === undefined || now.code === undefined ? [] : listed('file', before.code, now.code)),
  ]
}

type Digests = { readonly [name: string]: string }

function digests(members: CampaignPlan['variants'] | CampaignPlan['scenarios']): Digests {
  // Neither lanes nor whether a split was declared is part of what is measured.
  return Object.fromEntries(
    members.map((member) => [
      member.id,
      'split' in member ? canonicalJson([member.digest, member.family, member.split, member.mustPass]) : member.digest,
    ]),
  )
}

const sorted = (seeds: readonly number[]): string => JSON.stringify(seeds.toSorted((a, b) => a - b))
const gateOf = ({ gate }: CampaignPlan): string =>
  canonicalJson(gate === null ? null : { ...gate, candidates: gate.candidates.toSorted() })

function listed(noun: string, before: Digests, now: Digests): string[] {
  const names = (of: readonly string[], what: string): string[] => {
    if (of.length === 0) return []
    const more = of.length > SHOWN ? ` and ${of.length - SHOWN} more` : ''
    return [`${noun} ${of.slice(0, SHOWN).join(', ')}${more} ${what}`]
  }
  const own = (digestsOf: Digests, name: string): boolean => Object.hasOwn(digestsOf, name)
  return [
    ...names(
      Object.keys(now).filter((name) => own(before, name) && before[name] !== now[name]),
      'changed',
    ),
    ...names(
      Object.keys(now).filter((name) => !own(before, name)),
      'added',
    ),
    ...names(
      Object.keys(before).filter((name) => !own(now, name)),
      'removed',
    ),
  ]
}
