import { z } from 'zod'
import { digest } from '../journal/plan.ts'
import type { RunRecord } from '../record/record.ts'
import { byCodeUnit } from '../report/cells.ts'

export const ACCEPTED_SCHEMA = 'vitest-campaign/accepted@1'

/** Line 1 of accepted records: what they are of, and what has to match before anything is compared with them. */
export const AcceptedHeader = z.strictObject({
  campaignId: z.string(),
  /** Eval file, relative to the project root. */
  file: z.string(),
  /** The run that was accepted, and when it started. */
  runId: z.string(),
  startedAt: z.iso.datetime(),
  commit: z.strictObject({ sha: z.string().nullable(), dirty: z.boolean() }),
  fingerprint: digest,
  scorerDigest: digest,
  primary: z.string(),
  /** Earliest and latest moment of measurement: of its recording where a cell was replayed. */
  measured: z.strictObject({ from: z.iso.datetime().nullable(), to: z.iso.datetime().nullable() }),
  variants: z.array(
    z.strictObject({
      id: z.string(),
      digest,
      /** As asked for, and as the provider said it answered with. */
      models: z.strictObject({ requested: z.array(z.string()), served: z.array(z.string()) }),
    }),
  ),
  judges: z.record(z.string(), z.strictObject({ models: z.array(z.string()), digests: z.array(digest) })),
  rows: z.number().int().nonnegative(),
})
export type AcceptedHeader = z.infer<typeof AcceptedHeader>

/** Facts of the run whose records are accepted. */
export type AcceptedRun = Pick<
  AcceptedHeader,
  'campaignId' | 'file' | 'runId' | 'startedAt' | 'commit' | 'fingerprint' | 'scorerDigest' | 'primary'
>

/** The header of these records. Sorted throughout: the order of records does not show. */
export function headerOf(run: AcceptedRun, records: Iterable<RunRecord>): AcceptedHeader {
  const variants = new Map<
    string,
    { digest: AcceptedHeader['fingerprint']; requested: Set<string>; served: Set<string> }
  >()
  const judges = new Map<string, { models: Set<string>; digests: Set<AcceptedHeader['fingerprint']> }>()
  let from: string | null = null
  let to: string | null = null
  let rows = 0
  for (const record of records) {
    rows++
    const variant = variants.get(record.variantId) ?? {
      digest: record.variantDigest as AcceptedHeader['fingerprint'],
      requested: new Set(),
      served: new Set(),
    }
    variants.set(record.variantId, variant)
    for (const model of record.model.requested) variant.requested.add(model)
    for (const model of record.model.served) variant.served.add(model)
    for (const [name, { model, digest: of }] of Object.entries(record.judges)) {
      const judge = judges.get(name) ?? { models: new Set(), digests: new Set() }
      judges.set(name, judge)
      if (model !== null) judge.models.add(model)
      judge.digests.add(of as AcceptedHeader['fingerprint'])
    }
    const at = record.recordedAt ?? record.startedAt
    if (at === null) continue
    if (from === null || at < from) from = at
    if (to === null || at > to) to = at
  }
  const sorted = <T extends string>(set: Set<T>): T[] => [...set].sort(byCodeUnit)
  return {
    ...run,
    measured: { from, to },
    variants: [...variants.keys()].sort(byCodeUnit).flatMap((id) => {
      const found = variants.get(id)
      if (found === undefined) return []
      const models = { requested: sorted(found.requested), served: sorted(found.served) }
      return [{ id, digest: found.digest, models }]
    }),
    judges: Object.fromEntries(
      [...judges.keys()].sort(byCodeUnit).map((name) => {
        const found = judges.get(name)
        return [name, { models: sorted(found?.models ?? new Set()), digests: sorted(found?.digests ?? new Set()) }]
      }),
    ),
    rows,
  }
}
