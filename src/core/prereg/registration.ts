import { z } from 'zod'
import { canonicalJson, type Json } from '../campaign/canonical-json.ts'
import { digestOf } from '../campaign/identity.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import { byCodeUnit } from '../report/cells.ts'
import type { Preregistration } from '../report/report.ts'
import { type Terms, termsOf } from './terms.ts'

/** Whether a file stands in the repository as it is. */
const COMMIT_STATES = ['committed', 'changed', 'untracked', 'shallow', 'no-repository'] as const

/** A preregistration as it was found when the run began. */
export const Registration = z.strictObject({
  /** Where it was found, relative to the project root. */
  source: z.string(),
  claim: z.string(),
  terms: z.record(z.string(), z.json() as z.ZodType<Json>),
  /** The last commit that touched the file, which is an ancestor of what ran. */
  commit: z.strictObject({ state: z.enum(COMMIT_STATES), sha: z.string().nullable(), at: z.iso.datetime().nullable() }),
})
export type Registration = z.infer<typeof Registration>

/**
 * What a preregistration is worth for these records.
 *
 * @param seen when a look at the same answers was counted before: measuring them again does not make them new
 */
export function preregistrationOf(
  registration: Registration,
  plan: CampaignPlan,
  records: Iterable<RunRecord | undefined>,
  seen: string | null = null,
): Preregistration {
  const { source, claim, terms, commit } = registration
  const deviations = deviationsOf(terms, termsOf(plan))
  const measured = earliest(records)
  const first = measured !== null && seen !== null && Date.parse(seen) < Date.parse(measured) ? seen : measured
  const order = orderOf(commit, first)
  return {
    hash: digestOf(terms, 'terms'),
    claim,
    source,
    commit: commit.sha,
    order,
    verified: deviations.length === 0 && order === 'before',
    deviations,
  }
}

/**
 * When the registered file was committed against when the first of these records was measured: for a replayed record
 * that is the moment of its recording. Without a repository, or a part of one, nobody knows.
 */
function orderOf({ state, at }: Registration['commit'], first: string | null): Preregistration['order'] {
  if (state === 'changed' || state === 'untracked') return 'uncommitted'
  if (state !== 'committed' || at === null || first === null) return 'unknown'
  // Git keeps whole seconds: what was measured within that of the commit may have come before it.
  return Date.parse(at) + 1000 <= Date.parse(first) ? 'before' : 'after'
}

function earliest(records: Iterable<RunRecord | undefined>): string | null {
  let first: string | null = null
  for (const record of records) {
    if (record === undefined || record.attempts === 0) continue
    const at = record.recordedAt ?? record.startedAt
    if (at !== null && (first === null || at < first)) first = at
  }
  return first
}

/** Every term in which what runs is not what was registered; of variants and scenarios each by itself. */
function deviationsOf(planned: Terms, actual: Terms): Preregistration['deviations'] {
  const fields = [...new Set([...Object.keys(actual), ...Object.keys(planned)])].sort(byCodeUnit)
  return fields.flatMap((field) => {
    const [before, now] = [planned[field] ?? null, actual[field] ?? null]
    if (Object.hasOwn(planned, field) && same(before, now)) return []
    if (isRecord(before) && isRecord(now) && (field === 'variants' || field === 'scenarios')) {
      const ids = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort(byCodeUnit)
      return ids.flatMap((id) => {
        const [one, other] = [before[id] ?? null, now[id] ?? null]
        return same(one, other) ? [] : [{ field: `${field}.${id}`, planned: one, actual: other }]
      })
    }
    return [{ field, planned: before, actual: now }]
  })
}

function same(one: Json, other: Json): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
