import { cellsOf } from '../campaign/cells.ts'
import { inFileOrder } from '../campaign/order.ts'
import type { CampaignPlan, PlannedCell } from '../campaign/plan.ts'
import { neverRan } from '../record/build.ts'
import type { RunRecord } from '../record/record.ts'
import { withBill } from '../record/settled-bill.ts'
import { type MicroUsd, toMicroUsd } from '../record/usage.ts'
import type { BudgetBasis } from '../report/budget.ts'
import type { CapacityBasis } from '../report/capacity.ts'
import { interruptionOf, partialText } from '../report/interruption.ts'
import { byProblem } from '../report/problem-order.ts'
import type { Reason } from '../report/report.ts'
import type { EntryOf } from './entry.ts'
import { recordTextOf } from './line.ts'
import type { JournalEnd, JournalLine } from './read.ts'

/** Where the line of a record stands in the journal. */
export interface RecordPlace {
  readonly offset: number
  readonly length: number
}

/** Reads a piece of the journal again. */
export type ReadPlace = (place: RecordPlace) => Buffer

/** A record, and the text that the run wrote for it. */
export interface RecordedCell {
  readonly text: string
  readonly record: RunRecord
}

/**
 * A run as its journal tells it, without the records: those stay in the file and are read one by one, so that memory
 * grows with the number of cells and not with what they hold.
 */
export interface RecordedRun {
  readonly run: EntryOf<'run'>
  /** In the order of their plans; where one campaign was planned twice, its last plan. */
  readonly campaigns: readonly RecordedCampaign[]
  /** Of the run as a whole. */
  readonly problems: readonly Reason[]
  /** Where its budget stood when it ended; null: it has none, or did not come to its end. */
  readonly budget: EntryOf<'budget'> | null
  /** Null when the run did not reach its end: it was killed, or still goes on. */
  readonly end: EntryOf<'end'>['reason'] | null
  /** The last run that went on with what is in this one. */
  readonly continuedBy: string | null
  /** The last line was torn; what stands before it counts. */
  readonly repaired: JournalEnd['repaired']
  /** Lines that a replaced owner still wrote; they do not count. */
  readonly fencedOff: number
}

/** A journal that is none of a run. */
export class NoRunError extends Error {
  override readonly name = 'NoRunError'
}

/** Entries of a campaign that its report reads beside plan and records. */
type Beside = { readonly [Kind in 'accepted' | 'prereg' | 'look' | 'lanes']?: EntryOf<Kind> }

/** What the journal says of one cell beside its records. */
interface Started {
  /** The last one that bought something. */
  attempt: number
  /** Over all attempts; of an unknown bill, what is kept for it. */
  heldMicroUsd: MicroUsd
  lane: string | null
  /** Where the last one was sent in place of the declared lane. */
  failover: string | null
}

/** What somebody says that an attempt cost. */
interface SettledBill {
  readonly attempt: number
  readonly microUsd: MicroUsd
}

/** A cell that bought something, and nobody knows for how much. */
export interface UnknownBill {
  readonly record: RunRecord
  readonly attempt: number
  /** What is kept for it, 0 where no budget was set; null: another run bought it, and this one carried it over. */
  readonly heldMicroUsd: MicroUsd | null
  /** As admitted. */
  readonly lane: string | null
}

export class RecordedCampaign {
  readonly plan: CampaignPlan
  readonly fingerprint: EntryOf<'plan'>['fingerprint']
  readonly skipped: boolean
  readonly problems: readonly Reason[]
  /** What stands in the journal beside plan and records. */
  readonly accepted: EntryOf<'accepted'> | null
  readonly registration: EntryOf<'prereg'>['registration'] | null
  readonly look: Pick<EntryOf<'look'>, 'used' | 'spent' | 'since'> | null
  /** Every planned cell. */
  readonly cells: readonly PlannedCell[]
  readonly #run: EntryOf<'run'>
  readonly #over: boolean
  readonly #selected: ReadonlySet<string> | null
  /** Of each cell, the records of its last attempt: more than one is a fault that the report names. */
  readonly #places: ReadonlyMap<string, readonly RecordPlace[]>
  readonly #started: ReadonlyMap<string, Started>
  readonly #settled: ReadonlyMap<string, SettledBill>
  readonly #lanes: EntryOf<'lanes'>['lanes'] | null

  constructor(
    { plan, fingerprint, selection, skipped }: EntryOf<'plan'>,
    cells: readonly PlannedCell[],
    run: EntryOf<'run'>,
    over: boolean,
    problems: readonly Reason[],
    places: ReadonlyMap<string, readonly RecordPlace[]>,
    started: ReadonlyMap<string, Started>,
    settled: ReadonlyMap<string, SettledBill>,
    beside: Beside,
  ) {
    this.accepted = beside.accepted ?? null
    this.registration = beside.prereg?.registration ?? null
    this.look =
      beside.look === undefined
        ? null
        : { used: beside.look.used, spent: beside.look.spent, since: beside.look.since ?? null }
    this.plan = plan
    this.cells = cells
    this.fingerprint = fingerprint
    this.skipped = skipped
    this.problems = problems
    this.#run = run
    this.#over = over
    this.#selected = selection === 'all' ? null : new Set(selection)
    this.#places = places
    this.#started = started
    this.#settled = settled
    this.#lanes = beside.lanes?.lanes ?? null
  }

  /** Why no verdict can be given on what this run executes; null when one can. */
  get partial(): string | null {
    return this.#selected === null ? null : partialText(this.#selected.size, this.cells.length)
  }

  /** Every record in the order of the plan; a selected cell that never settled is `not_run`. */
  *records(read: ReadPlace): Generator<RecordedCell> {
    for (const cell of this.cells) {
      const places = this.#places.get(cell.cellId)
      const { attempt = 0 } = this.#started.get(cell.cellId) ?? {}
      const settled = this.#settled.get(cell.cellId)
      for (const place of places ?? []) yield reconciled(recordedCell(read(place)), settled)
      if (places !== undefined || this.skipped || this.#selected?.has(cell.cellId) === false) continue
      const record = neverRan({ ...this.#run, fingerprint: this.fingerprint }, this.plan, cell, {
        status: 'not_run',
        reason: this.#over ? 'missing' : 'interrupted',
        // Admitted and never settled: what its calls cost is not known.
        attempts: attempt,
      })
      yield reconciled({ text: JSON.stringify(record), record }, settled)
    }
  }

  /** What the report says of money. */
  get budget(): BudgetBasis {
    const own = this.cells.flatMap(({ cellId }) => {
      const started = this.#started.get(cellId)
      return started === undefined ? [] : [{ cellId, ...started }]
    })
    return {
      limitMicroUsd: this.plan.budgetUsd === undefined ? null : toMicroUsd(this.plan.budgetUsd),
      runLimitMicroUsd: this.#run.budgetMicroUsd ?? null,
      held: new Map(own.map(({ cellId, heldMicroUsd }) => [cellId, heldMicroUsd])),
      open: new Set(this.#over ? [] : own.flatMap(({ cellId }) => (this.#places.has(cellId) ? [] : [cellId]))),
      reconciled: new Set(this.cells.flatMap(({ cellId }) => (this.#settled.has(cellId) ? [cellId] : []))),
    }
  }

  /** What the report says of lanes. */
  get capacity(): CapacityBasis {
    const failovers = new Map<string, string>()
    let asked = false
    for (const { cellId } of this.cells) {
      const started = this.#started.get(cellId)
      if (started === undefined) continue
      asked = true
      if (started.failover !== null) failovers.set(cellId, started.failover)
    }
    if (this.#lanes !== null) return { lanes: this.#lanes, failovers }
    // Nothing went live, or what it asked of the lanes was not written down.
    if (!asked) return { lanes: [], failovers }
    return { lanes: null, refused: this.#run.merged === undefined ? 'cut_off' : 'merged', failovers }
  }

  /** Cells that bought something, and whose bill nobody knows. */
  *unknownBills(read: ReadPlace): Generator<UnknownBill> {
    for (const { record } of this.records(read)) {
      if (record.cost.usd !== null) continue
      const started = this.#started.get(record.cellId)
      if (started !== undefined) yield { record, ...started }
      else if (record.provenance === 'carried') {
        yield { record, attempt: record.attempts, heldMicroUsd: null, lane: record.lane }
      }
    }
  }

  /** The problems that a report of the campaign reads; those of a run that never ended include that it was cut off. */
  problemsOf(read: ReadPlace): readonly Reason[] {
    if (this.#over || this.problems.some(({ code }) => code === 'interrupted')) return this.problems
    let without = 0
    for (const { record } of this.records(read)) {
      if (record.reason === 'interrupted' && record.status !== 'scored' && record.status !== 'task_fail') without++
    }
    return without === 0 ? this.problems : [...this.problems, interruptionOf(without, this.cells.length)]
  }
}

/**
 * @param file the journal's path, for messages
 * @throws NoRunError when it does not begin with a run
 * @throws JournalDamagedError where a line is damaged
 */
export function recordedRun(lines: Generator<JournalLine, JournalEnd>, file: string): RecordedRun {
  let run: EntryOf<'run'> | null = null
  let end: EntryOf<'end'>['reason'] | null = null
  let budget: EntryOf<'budget'> | null = null
  let continuedBy: string | null = null
  const plans = new Map<string, EntryOf<'plan'>>()
  const problems: EntryOf<'problem'>[] = []
  const started = new Map<string, Started>()
  const settled = new Map<string, SettledBill>()
  const beside = new Map<string, Beside>()
  const carrying = new Set<string>()
  const places = new Map<string, { readonly attempt: number; readonly campaignId: string; places: RecordPlace[] }>()
  let next = lines.next()
  for (; !next.done; next = lines.next()) {
    const { entry, line, offset } = next.value
    if (entry.kind === 'run') run = entry
    if (entry.kind === 'plan') plans.set(entry.plan.campaignId, entry)
    if (entry.kind === 'problem') problems.push(entry)
    if (entry.kind === 'admitted') {
      const { cellId, attempt, lane, heldMicroUsd = 0, failover = null } = entry
      const before = started.get(cellId)?.heldMicroUsd ?? 0
      started.set(cellId, { attempt, lane, failover, heldMicroUsd: before + heldMicroUsd })
      settled.delete(cellId)
    }
    if (entry.kind === 'bill') {
      const cell = started.get(entry.cellId)
      if (cell !== undefined) cell.heldMicroUsd = entry.keptMicroUsd
    }
    if (entry.kind === 'reconciled') {
      const { cellId, attempt, microUsd } = entry
      const last = started.get(cellId)?.attempt ?? places.get(cellId)?.attempt
      if (last === attempt) settled.set(cellId, { attempt, microUsd })
    }
    if (entry.kind === 'accepted' || entry.kind === 'prereg' || entry.kind === 'look' || entry.kind === 'lanes') {
      beside.set(entry.campaignId, { ...beside.get(entry.campaignId), [entry.kind]: entry })
    }
    if (entry.kind === 'resumed') carrying.add(entry.campaignId)
    if (entry.kind === 'end') end = entry.reason
    if (entry.kind === 'budget' && entry.campaignId === null) budget = entry
    if (entry.kind === 'fenced') continuedBy = entry.by
    if (entry.kind === 'settled') {
      const { cellId, attempts: attempt, campaignId } = entry.record
      const place = { offset, length: line.length }
      const known = places.get(cellId)
      if (known?.attempt === attempt) known.places.push(place)
      else places.set(cellId, { attempt, campaignId, places: [place] })
    }
  }
  if (run === null) {
    throw new NoRunError(
      `${file} has no first line that says which run it is: the run ended before anything was written`,
    )
  }
  const cells = new Map([...plans].map(([campaignId, { plan }]) => [campaignId, cellsOf(plan)]))
  for (const [cellId, { campaignId }] of places) {
    // It was cut off while it carried an earlier run over: that one still has them, and this one never had the campaign.
    if (carrying.has(campaignId) && !plans.has(campaignId)) places.delete(cellId)
  }
  const strays = strayProblems(cells, places)
  const campaigns = inFileOrder(plans.values(), ({ plan }) => plan.file).map((planned) => {
    const { campaignId } = planned.plan
    const own = [...places].flatMap(([cellId, found]) =>
      found.campaignId === campaignId ? [[cellId, found.places] as const] : [],
    )
    const said = problems.filter((problem) => problem.campaignId === campaignId)
    const found = [...said.map(reasonOf), ...(strays.get(campaignId) ?? [])]
    return new RecordedCampaign(
      planned,
      cells.get(campaignId) ?? [],
      run,
      end !== null,
      found,
      new Map(own),
      started,
      settled,
      beside.get(campaignId) ?? {},
    )
  })
  return {
    run,
    campaigns,
    problems: [
      ...problems.filter(({ campaignId }) => campaignId === null || !plans.has(campaignId)).map(reasonOf),
      ...[...strays].flatMap(([campaignId, reasons]) => (plans.has(campaignId) ? [] : reasons)),
    ].sort(byProblem),
    budget,
    end,
    continuedBy,
    repaired: next.value.repaired,
    fencedOff: next.value.fencedOff,
  }
}

/** The record with the bill that somebody settled; only one that nobody knew is settled by hand. */
function reconciled(cell: RecordedCell, settled: SettledBill | undefined): RecordedCell {
  if (settled === undefined || cell.record.cost.usd !== null) return cell
  const record = withBill(cell.record, settled.microUsd)
  return { text: JSON.stringify(record), record }
}

const reasonOf = ({ code, text }: Reason): Reason => ({ code, text })

/** Records of cells that no plan has, by the campaign they name: whatever wrote them, the campaign is not what it says. */
function strayProblems(
  cells: ReadonlyMap<string, readonly PlannedCell[]>,
  places: ReadonlyMap<string, { readonly campaignId: string }>,
): Map<string, Reason[]> {
  const planned = new Set<string>()
  for (const ofCampaign of cells.values()) for (const { cellId } of ofCampaign) planned.add(cellId)
  const counts = new Map<string, number>()
  for (const [cellId, { campaignId }] of places) {
    if (!planned.has(cellId)) counts.set(campaignId, (counts.get(campaignId) ?? 0) + 1)
  }
  return new Map(
    [...counts].map(([campaignId, count]) => [
      campaignId,
      [{ code: 'manifest_mismatch', text: `${count} records are of cells that no plan of campaign ${campaignId} has` }],
    ]),
  )
}

function recordedCell(line: Buffer): RecordedCell {
  const text = recordTextOf(line)
  if (text === null) throw new Error('the journal changed while it was read')
  return { text, record: JSON.parse(text) as RunRecord }
}
