import type { CampaignPlan, PlannedVariant } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import { byCodeUnit, type Cells } from '../report/cells.ts'
import type { AcceptedReport, Mismatch, MismatchCode } from '../report/report.ts'
import type { AcceptedRecords } from './format.ts'

/** Accepted rows beside the run's own: as further arms of the same scenarios and seeds. */
export interface Joined {
  /** The run's cells, with the accepted arms behind them. */
  readonly cells: Cells
  /** Arm that a candidate is compared with, by candidate; a candidate without accepted rows is not in it. */
  readonly comparatorOf: ReadonlyMap<string, string>
  readonly report: AcceptedReport
}

/** What a row must have in common with the run, most basic first. */
const CHECKS: readonly MismatchCode[] = ['no_row', 'scenario_changed', 'scorer_changed', 'judge_changed']

/**
 * Puts accepted rows beside the cells of a run. A row counts where scenario contents, scorers and judges are those of
 * the run; elsewhere the pair is missing, and the report says which rows do not match.
 */
export function joinAccepted(
  plan: CampaignPlan,
  own: Cells,
  accepted: AcceptedRecords,
  candidates: readonly string[],
): Joined {
  const one = plan.gate?.accepted?.variant ?? null
  const rows = new Map<string, RunRecord>()
  const known = new Set<string>()
  for (const record of accepted.records) {
    known.add(record.variantId)
    rows.set(JSON.stringify([record.variantId, record.scenarioId, record.seed]), record)
  }
  const paired = candidates.flatMap((candidate) => {
    const variant = one ?? candidate
    return known.has(variant) ? [{ candidate, variant }] : []
  })
  const taken = new Set(own.variants.map(({ id }) => id))
  const arms = [...new Set(paired.map(({ variant }) => variant))].sort(byCodeUnit).map((variant) => {
    const id = freeName(`${variant} (${accepted.as ?? 'accepted'})`, taken)
    const partners = paired.filter((pair) => pair.variant === variant).map(({ candidate }) => candidate)
    return { variant, id, partners, ...armOf(plan, own, variant, rows, partners) }
  })
  const records = [...own.records]
  const variants: PlannedVariant[] = [...own.variants]
  for (const arm of arms) {
    const found = accepted.header.variants.find(({ id }) => id === arm.variant)
    variants.push({ id: arm.id, digest: found?.digest ?? plan.scorerDigest, lane: null })
    records.push(...arm.records)
  }
  const { runId, commit, measured } = accepted.header
  return {
    cells: { ...own, variants, records },
    comparatorOf: new Map(
      paired.flatMap(({ candidate, variant }) => {
        const arm = arms.find((found) => found.variant === variant)
        return arm === undefined ? [] : [[candidate, arm.id]]
      }),
    ),
    report: {
      digest: accepted.digest,
      runId,
      commit: commit.sha,
      measuredFrom: measured.from,
      measuredTo: measured.to,
      arms: arms.map(({ variant, id, partners, pairs, mismatches, models }) => ({
        id,
        variant,
        candidates: partners,
        paired: pairs,
        mismatches,
        models,
      })),
      without: candidates.filter((candidate) => !known.has(one ?? candidate)),
    },
  }
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  while (taken.has(name)) name = `${name}'`
  taken.add(name)
  return name
}

function armOf(
  plan: CampaignPlan,
  own: Cells,
  variant: string,
  rows: ReadonlyMap<string, RunRecord>,
  partners: readonly string[],
) {
  const records: (RunRecord | undefined)[] = []
  const judges = judgesOf(own)
  const counts = new Map<MismatchCode, { count: number; example: string }>()
  let pairs = 0
  for (const scenario of own.scenarios) {
    for (const seed of own.seeds) {
      const row = rows.get(JSON.stringify([variant, scenario.id, seed]))
      const code = CHECKS.find((check) => {
        if (row === undefined) return check === 'no_row'
        if (check === 'scenario_changed') return row.scenarioDigest !== scenario.digest
        if (check === 'scorer_changed') return row.scorerDigest !== plan.scorerDigest
        return check === 'judge_changed' && judgesDiffer(row, judges)
      })
      if (code === undefined) pairs++
      else {
        const found = counts.get(code) ?? { count: 0, example: scenario.id }
        counts.set(code, { ...found, count: found.count + 1 })
      }
      records.push(code === undefined ? row : undefined)
    }
  }
  const mismatches = CHECKS.flatMap((code): Mismatch[] => {
    const found = counts.get(code)
    return found === undefined ? [] : [{ code, ...found }]
  })
  return { records, pairs, mismatches, models: driftedModels(own, partners, records) }
}

/** Judges of the run: with which models they answered. */
function judgesOf(own: Cells): ReadonlyMap<string, ReadonlySet<string>> {
  const judges = new Map<string, Set<string>>()
  for (const record of own.records) {
    for (const [name, { model }] of Object.entries(record?.judges ?? {})) {
      const models = judges.get(name) ?? new Set()
      judges.set(name, models)
      if (model !== null) models.add(model)
    }
  }
  return judges
}

/** The digest of a judge is that of the scorers, which is checked before. */
function judgesDiffer(row: RunRecord, judges: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return Object.entries(row.judges).some(([name, { model }]) => {
    const models = judges.get(name)
    return model !== null && models !== undefined && models.size > 0 && !models.has(model)
  })
}

/** Models asked for by one name in both arms and answered by different snapshots: the provider moved, not the prompt. */
function driftedModels(
  own: Cells,
  partners: readonly string[],
  accepted: readonly (RunRecord | undefined)[],
): AcceptedReport['arms'][number]['models'] {
  const then = servedBy(accepted)
  const now = servedBy(own.records.filter((record) => record !== undefined && partners.includes(record.variantId)))
  return [...then.keys()].sort(byCodeUnit).flatMap((requested) => {
    const [before, after] = [then.get(requested) ?? new Set<string>(), now.get(requested) ?? new Set<string>()]
    if (before.size === 0 || after.size === 0) return []
    const same = before.size === after.size && [...before].every((model) => after.has(model))
    const sorted = (set: ReadonlySet<string>): string[] => [...set].sort(byCodeUnit)
    return same ? [] : [{ requested, accepted: sorted(before), now: sorted(after) }]
  })
}

function servedBy(records: readonly (RunRecord | undefined)[]): Map<string, Set<string>> {
  const served = new Map<string, Set<string>>()
  for (const record of records) {
    const [requested, ...others] = record?.model.requested ?? []
    // With several models in one cell nobody knows which answer belongs to which name.
    if (record === undefined || requested === undefined || others.length > 0) continue
    const models = served.get(requested) ?? new Set()
    served.set(requested, models)
    for (const model of record.model.served) models.add(model)
  }
  return served
}
