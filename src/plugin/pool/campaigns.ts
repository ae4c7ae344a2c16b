import { inFileOrder } from '../../core/campaign/order.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { CampaignState } from './campaign-state.ts'

/** The campaigns that a run answers for, and whose each cell is. */
export class Campaigns {
  #byId: ReadonlyMap<string, CampaignState> = new Map()
  readonly #byCell = new Map<string, CampaignState>()

  /** In the order in which they are told. */
  get byId(): ReadonlyMap<string, CampaignState> {
    return this.#byId
  }

  add(state: CampaignState): void {
    const states = inFileOrder([...this.#byId.values(), state], ({ plan }) => plan.file)
    this.#byId = new Map(states.map((each) => [each.plan.campaignId, each]))
    for (const cellId of state.cells.keys()) this.#byCell.set(cellId, state)
  }

  /** @throws Error for a cell that nobody planned */
  cell(cellId: string): { state: CampaignState; cell: PlannedCell } {
    const state = this.#byCell.get(cellId)
    const cell = state?.cells.get(cellId)
    if (state === undefined || cell === undefined) throw new Error(`cell ${cellId} is in no plan of this run`)
    return { state, cell }
  }

  /** The worker whose thread runs the cell; null for a cell that nobody planned. */
  workerOf(cellId: string): number | null {
    return this.#byCell.get(cellId)?.workerId ?? null
  }

  /** The journalled record of a cell; null for a cell that has none. */
  record(cellId: string): RunRecord | null {
    const settled = this.#byCell.get(cellId)?.settled.get(cellId)
    return settled === undefined ? null : (JSON.parse(settled.record) as RunRecord)
  }

  /** Cells in flight, of one worker or of all. */
  inFlight(workerId: number | null = null): number {
    let count = 0
    for (const state of this.#byId.values()) {
      if (workerId === null || state.workerId === workerId) count += state.leases.size + state.again.size
    }
    return count
  }

  /** The longest deadline of a worker's cells in flight, milliseconds; null: none is. */
  longestDeadline(workerId: number): number | null {
    let longest: number | null = null
    for (const { workerId: id, leases, plan } of this.#byId.values()) {
      if (id === workerId && leases.size > 0) longest = Math.max(longest ?? 0, plan.timeoutMs)
    }
    return longest
  }
}
