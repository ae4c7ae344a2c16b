import type { Json } from '../campaign/canonical-json.ts'
import { type CellCoordinates, cellIdOf } from '../campaign/identity.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import type { EntryOf, JournalEntry } from './entry.ts'

/** A cell that was admitted and never settled: its calls may have been paid, what they gave is not known. */
export interface UnsettledCell {
  readonly cellId: string
  /** Null when no plan of the journal has this cell. */
  readonly cell: CellCoordinates | null
  readonly attempt: number
  readonly lane: string | null
  readonly admittedAt: string
  /** What the subject answered, or the file that holds it, where that much was journalled. */
  readonly output: { readonly value: Json } | { readonly file: string } | null
}

export interface DerivedCampaign {
  readonly plan: CampaignPlan
  readonly fingerprint: EntryOf<'plan'>['fingerprint']
  readonly selection: EntryOf<'plan'>['selection']
  readonly skipped: boolean
  /** The last record of each cell, in plan order: seeds, then scenarios, then variants. */
  readonly records: readonly RunRecord[]
  /** Records of an attempt that already had one, in file order; the last of them counts. */
  readonly duplicates: readonly RunRecord[]
  readonly unsettled: readonly UnsettledCell[]
  readonly problems: readonly { readonly code: string; readonly text: string }[]
  readonly verdict: EntryOf<'verdict'> | null
  /** What it was carried over from; null where it began afresh. */
  readonly resumed: EntryOf<'resumed'> | null
}

/** Everything a journal says about its run. */
export interface DerivedRun {
  readonly run: EntryOf<'run'> | null
  /** In the order of their plans; where one campaign was planned twice, its last plan. */
  readonly campaigns: ReadonlyMap<string, DerivedCampaign>
  readonly problems: readonly { readonly code: string; readonly text: string }[]
  /** Records and admissions that belong to no planned cell. */
  readonly strays: { readonly records: readonly RunRecord[]; readonly unsettled: readonly UnsettledCell[] }
  /** Null when the run did not reach its end. */
  readonly end: EntryOf<'end'>['reason'] | null
  /** The last run that went on with a campaign of this one. */
  readonly continuedBy: string | null
}

/** Derives the state of a run; the order of lines between cells does not change it. */
export function deriveRun(entries: Iterable<JournalEntry>): DerivedRun {
  let run: EntryOf<'run'> | null = null
  let end: EntryOf<'end'>['reason'] | null = null
  let continuedBy: string | null = null
  const plans = new Map<string, EntryOf<'plan'>>()
  const verdicts = new Map<string, EntryOf<'verdict'>>()
  const problems: EntryOf<'problem'>[] = []
  const resumed = new Map<string, EntryOf<'resumed'>>()
  const admitted = new Map<string, EntryOf<'admitted'>>()
  const outputs = new Map<string, EntryOf<'subject-settled'>>()
  const records = new Map<string, RunRecord>()
  const settledAttempts = new Set<string>()
  const duplicates: RunRecord[] = []

  for (const entry of entries) {
    switch (entry.kind) {
      case 'run':
        run = entry
        break
      case 'plan':
        plans.set(entry.plan.campaignId, entry)
        break
      case 'admitted':
        admitted.set(entry.cellId, entry)
        break
      case 'subject-settled':
        outputs.set(entry.cellId, entry)
        break
      case 'settled': {
        const { record } = entry
        const attempt = `${record.cellId}.${record.attempts}`
        if (settledAttempts.has(attempt)) duplicates.push(record)
        settledAttempts.add(attempt)
        records.set(record.cellId, record)
        break
      }
      case 'problem':
        problems.push(entry)
        break
      case 'verdict':
        verdicts.set(entry.campaignId, entry)
        break
      case 'fenced':
        continuedBy = entry.by
        break
      case 'resumed':
        resumed.set(entry.campaignId, entry)
        break
      case 'end':
        end = entry.reason
        break
    }
  }

  const unsettled = unsettledCells(admitted, outputs, records)
  place(unsettled, plans)
  const byCampaign = groupBy(records.values(), (record) => record.campaignId)
  const campaigns = new Map<string, DerivedCampaign>()
  const strayRecords: RunRecord[] = []
  for (const [campaignId, { plan, fingerprint, selection, skipped }] of plans) {
    const { inPlan, strays } = inPlanOrder(plan, byCampaign.get(campaignId) ?? [])
    byCampaign.delete(campaignId)
    strayRecords.push(...strays)
    campaigns.set(campaignId, {
      plan,
      fingerprint,
      selection,
      skipped,
      records: inPlan,
      duplicates: duplicates.filter((record) => record.campaignId === campaignId),
      unsettled: unsettled.filter(({ cell }) => cell?.campaignId === campaignId),
      problems: textsOf(problems, campaignId),
      verdict: verdicts.get(campaignId) ?? null,
      resumed: resumed.get(campaignId) ?? null,
    })
  }
  for (const rest of byCampaign.values()) strayRecords.push(...rest)
  return {
    run,
    campaigns,
    problems: textsOf(problems, null),
    strays: { records: strayRecords, unsettled: unsettled.filter(({ cell }) => cell === null) },
    end,
    continuedBy,
  }
}

type Open = { -readonly [K in keyof UnsettledCell]: UnsettledCell[K] }

function unsettledCells(
  admitted: ReadonlyMap<string, EntryOf<'admitted'>>,
  outputs: ReadonlyMap<string, EntryOf<'subject-settled'>>,
  records: ReadonlyMap<string, RunRecord>,
): Open[] {
  const open: Open[] = []
  for (const { cellId, attempt, lane, at } of admitted.values()) {
    const record = records.get(cellId)
    if (record !== undefined && record.attempts >= attempt) continue
    const settled = outputs.get(cellId)
    const output = settled?.attempt === attempt ? outputOf(settled) : null
    open.push({ cellId, cell: null, attempt, lane, admittedAt: at, output })
  }
  return open
}

function outputOf({ output, file }: EntryOf<'subject-settled'>): Open['output'] {
  if (file !== undefined) return { file }
  return output === undefined ? null : { value: output }
}

/** Finds the coordinates of the cells, which the journal names by id alone. Hashes plan cells only while some are left. */
function place(open: readonly Open[], plans: ReadonlyMap<string, EntryOf<'plan'>>): void {
  const left = new Map(open.map((cell) => [cell.cellId, cell]))
  for (const [campaignId, { plan }] of plans) {
    for (const seed of plan.seeds) {
      for (const { id: scenarioId } of plan.scenarios) {
        for (const { id: variantId } of plan.variants) {
          if (left.size === 0) return
          const coordinates = { campaignId, variantId, scenarioId, seed }
          const cellId = cellIdOf(coordinates)
          const cell = left.get(cellId)
          if (cell === undefined) continue
          cell.cell = coordinates
          left.delete(cellId)
        }
      }
    }
  }
}

function inPlanOrder(
  plan: CampaignPlan,
  records: readonly RunRecord[],
): { readonly inPlan: readonly RunRecord[]; readonly strays: readonly RunRecord[] } {
  const seeds = positions(plan.seeds)
  const scenarios = positions(plan.scenarios.map(({ id }) => id))
  const variants = positions(plan.variants.map(({ id }) => id))
  const placed: { readonly record: RunRecord; readonly position: number }[] = []
  const strays: RunRecord[] = []
  for (const record of records) {
    const seed = seeds.get(record.seed)
    const scenario = scenarios.get(record.scenarioId)
    const variant = variants.get(record.variantId)
    if (seed === undefined || scenario === undefined || variant === undefined) strays.push(record)
    else placed.push({ record, position: (seed * scenarios.size + scenario) * variants.size + variant })
  }
  placed.sort((a, b) => a.position - b.position)
  return { inPlan: placed.map(({ record }) => record), strays }
}

function positions<T>(items: readonly T[]): Map<T, number> {
  return new Map(items.map((item, position) => [item, position]))
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function textsOf(
  problems: readonly EntryOf<'problem'>[],
  campaignId: string | null,
): { readonly code: string; readonly text: string }[] {
  return problems.filter((problem) => problem.campaignId === campaignId).map(({ code, text }) => ({ code, text }))
}
