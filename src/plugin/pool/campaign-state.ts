import type { AcceptedRecords } from '../../core/accepted/format.ts'
import { cellsOf } from '../../core/campaign/cells.ts'
import { fingerprintOf } from '../../core/campaign/fingerprint.ts'
import type { CellCoordinates, Digest } from '../../core/campaign/identity.ts'
import type { CampaignPlan, PlannedCell, Selection } from '../../core/campaign/plan.ts'
import { callsProvider } from '../../core/campaign/scoring.ts'
import { isResult } from '../../core/journal/resume.ts'
import type { LookCount } from '../../core/looks/count.ts'
import type { Registration } from '../../core/prereg/registration.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { MicroUsd } from '../../core/record/usage.ts'
import { partialText } from '../../core/report/interruption.ts'
import type { Reason } from '../../core/report/report.ts'
import type { Rescore, Settlement } from '../control.ts'

/** What a campaign is judged by beside its own records. */
export type Basis = Pick<CampaignState, 'accepted' | 'registration'>

/** What the main process knows of one campaign of the run. */
export class CampaignState {
  readonly plan: CampaignPlan
  readonly fingerprint: Digest
  /** Excluded by `.skip` or by another campaign's `.only`. */
  readonly skipped: boolean
  readonly workerId: number
  /** What its gate compares with; null where it needs none or there is none yet. */
  readonly accepted: AcceptedRecords | null
  readonly registration: Registration | null
  /** Counted with the first verdict. */
  look: LookCount | null = null
  /** Every planned cell. */
  readonly cells: ReadonlyMap<string, PlannedCell>
  /** Declared lanes of the scorers that call a provider. */
  readonly judges: readonly (string | null)[]
  /** Cells this run executes; null: all. */
  readonly selected: ReadonlySet<string> | null
  /** What is journalled, by cell. */
  readonly #settled = new Map<string, Settlement>()
  /** The records in the order of the plan; null: not read since the last one came. */
  #parsed: readonly RunRecord[] | null = null
  /** Records on their way into the journal. */
  readonly settling = new Map<string, Promise<void>>()
  readonly problems: Reason[] = []
  /** Attempts so far, those of earlier runs among them. */
  readonly attempts = new Map<string, number>()
  /** Cells of which an earlier run journalled the output: they are scored, not run. */
  readonly rescores = new Map<string, () => Rescore | null>()
  /** Cells that an earlier run was cut off in, and that nobody has said may run again. */
  readonly held = new Set<string>()
  /** What was held for the cells that bought something, over all their attempts. */
  readonly heldMicroUsd = new Map<string, MicroUsd>()
  /** Cells that were sent to an equivalent of their declared lane, and which. */
  readonly failovers = new Map<string, string>()
  /** How often a cell was run again in this run. */
  readonly reruns = new Map<string, number>()
  /** Cells that ran and wait to run again: what they did is known to their worker alone. */
  readonly again = new Set<string>()
  /** Leases granted and not settled: cellId → leaseId. */
  readonly leases = new Map<string, number>()

  constructor(
    plan: CampaignPlan,
    codeDigest: Digest,
    selection: Selection,
    skipped: boolean,
    workerId: number,
    basis: Basis,
  ) {
    this.plan = plan
    this.fingerprint = fingerprintOf(plan, codeDigest)
    this.skipped = skipped
    this.workerId = workerId
    this.accepted = basis.accepted
    this.registration = basis.registration
    this.cells = new Map(cellsOf(plan).map((cell) => [cell.cellId, cell]))
    this.judges = plan.scorers.filter(callsProvider).map(({ lane }) => lane)
    this.selected = selection === 'all' ? null : new Set(selection)
  }

  get settled(): ReadonlyMap<string, Settlement> {
    return this.#settled
  }

  settle(settlement: Settlement): void {
    this.#settled.set(settlement.cellId, settlement)
    this.#parsed = null
  }

  get plannedHere(): number {
    if (this.skipped) return 0
    return this.selected?.size ?? this.cells.size
  }

  /** Cells this run should have executed and has no record of. */
  *missing(): Generator<PlannedCell> {
    if (this.skipped) return
    for (const cell of this.cells.values()) {
      if (this.selected !== null && !this.selected.has(cell.cellId)) continue
      if (!this.settled.has(cell.cellId) && !this.settling.has(cell.cellId)) yield cell
    }
  }

  /** Cells that were served from recordings. */
  *replayed(): Generator<CellCoordinates> {
    for (const [cellId, { provenance }] of this.#settled) {
      const cell = provenance === 'replayed' ? this.cells.get(cellId) : undefined
      if (cell === undefined) continue
      yield {
        campaignId: this.plan.campaignId,
        variantId: cell.variant.id,
        scenarioId: cell.scenario.id,
        seed: cell.seed,
      }
    }
  }

  /**
   * The records in the order of the plan, whatever order they settled in. While cells run they are kept as text, a third
   * of the memory; the report and every document of it then read the same objects, which must not be parsed again and
   * again.
   */
  records(): readonly RunRecord[] {
    this.#parsed ??= Array.from(this.cells.keys()).flatMap((cellId) => {
      const settled = this.#settled.get(cellId)
      return settled === undefined ? [] : [JSON.parse(settled.record) as RunRecord]
    })
    return this.#parsed
  }

  /** Everything that reads all records has done so. */
  forgetParsed(): void {
    this.#parsed = null
  }

  /** Cells of this run that a later one has to do. */
  get unfinished(): number {
    if (this.skipped || this.selected !== null) return 0
    let settled = 0
    for (const { status } of this.#settled.values()) if (isResult(status)) settled++
    return this.cells.size - settled
  }

  /** Cells that an interruption left without a result. */
  get interrupted(): number {
    let count = 0
    for (const { status, record } of this.#settled.values()) {
      if (status === 'scored' || status === 'task_fail') continue
      if ((JSON.parse(record) as RunRecord).reason === 'interrupted') count++
    }
    return count
  }

  /** Why no verdict can be given on what this run executes; null when one can. */
  get partial(): string | null {
    if (this.selected === null) return null
    return partialText(this.selected.size, this.cells.size)
  }
}
