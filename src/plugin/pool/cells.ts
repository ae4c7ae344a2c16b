import { cellName } from '../../core/campaign/cells.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import { settledEntry } from '../../core/journal/entry.ts'
import { neverRan } from '../../core/record/build.ts'
import type { StatusReason } from '../../core/record/status.ts'
import { type LeaseReply, type RunFacts, type SettledSubject, type Settlement, settlementOf } from '../control.ts'
import type { Admission } from './admission.ts'
import type { CampaignState } from './campaign-state.ts'
import type { Campaigns } from './campaigns.ts'
import type { Drain } from './drain.ts'
import type { Problems } from './problems.ts'
import type { RecordListener } from './record-listener.ts'
import type { RunJournal } from './run-journal.ts'
import type { Spending } from './spending.ts'
import type { Tally } from './tally.ts'

/** Cells whose thread ended before they settled. */
export interface LostCells {
  readonly reason: StatusReason
  readonly names: readonly string[]
}

interface CellsOf {
  readonly facts: RunFacts
  readonly campaigns: Campaigns
  readonly admission: Admission
  readonly spending: Spending
  readonly journal: RunJournal
  readonly drain: Drain
  readonly problems: Problems
  readonly tally: Tally
  readonly listener: RecordListener | null
}

/** A cell's way from its lease to its one durable record. */
export class Cells {
  readonly #of: CellsOf
  readonly #idle = new Set<() => void>()

  constructor(of: CellsOf) {
    this.#of = of
  }

  async lease(cellId: string): Promise<LeaseReply> {
    const { admission, spending } = this.#of
    const { state, cell } = this.#of.campaigns.cell(cellId)
    if (state.held.has(cellId)) return this.#holdBack(state, cell)
    const rerun = this.#giveBack(state, cellId)
    const decision = await admission.lease({
      cellId,
      ...(rerun === 0 ? {} : { rerun }),
      ...spending.ask(state, cell),
      rank: [cell.position[0], cell.position[1], cell.position[2], cell.campaignId],
      judges: state.judges,
    })
    if (decision.granted) {
      const attempt = (state.attempts.get(cellId) ?? 0) + 1
      state.attempts.set(cellId, attempt)
      state.leases.set(cellId, decision.leaseId)
      state.again.delete(cellId)
      const { leaseId, queueMs, failover } = decision
      spending.granted(cellId, decision)
      const granted = {
        granted: true,
        leaseId,
        attempt,
        queueMs,
        ...(failover === undefined ? {} : { failover }),
      } as const
      const rescore = state.rescores.get(cellId)?.() ?? null
      return rescore === null ? granted : { ...granted, rescore }
    }
    // It has run: its worker settles it with what it knows.
    if (rerun > 0) return decision
    await this.#settleUnrun(state, cell, {
      status: 'not_run',
      reason: decision.reason,
      queueMs: decision.queueMs,
      ...(decision.detail === undefined ? {} : { message: decision.detail }),
    })
    return decision
  }

  async admitted(cellId: string, attempt: number, lane: string | null): Promise<void> {
    const money = this.#of.spending.admitted(this.#of.campaigns.cell(cellId).state, cellId)
    const at = new Date().toISOString()
    await this.#of.journal.append({ kind: 'admitted', cellId, attempt, lane, at, ...money })
  }

  async subjectSettled(settled: SettledSubject): Promise<void> {
    await this.#of.journal.append({ kind: 'subject-settled', ...settled, at: new Date().toISOString() })
    const { cellId } = settled
    // A cell that settled or was lost meanwhile holds nothing.
    if (this.#of.campaigns.cell(cellId).state.leases.has(cellId)) this.#of.admission.subjectDone(cellId)
  }

  /**
   * Journals the record; when it is durable the cell's lease is released. Exactly one per cell: what arrives second (a
   * killed worker's cell, a late answer) is dropped.
   */
  settle(settlement: Settlement): Promise<void> {
    const { cellId } = settlement
    const { state } = this.#of.campaigns.cell(cellId)
    if (state.settled.has(cellId)) return Promise.resolve()
    const first = state.settling.get(cellId)
    if (first !== undefined) return first
    // One that fails stays: the run's failure is reported, and the cell is not settled a second time.
    const settling = this.#journalRecord(state, settlement)
    state.settling.set(cellId, settling)
    return settling
  }

  /** Settles what of the campaign is not: it was planned and never came. */
  async settleMissing(state: CampaignState, reason: StatusReason): Promise<void> {
    await Promise.allSettled(state.settling.values())
    for (const cell of [...state.missing()]) await this.#settleUnrun(state, cell, { status: 'not_run', reason })
  }

  /** The worker's thread is gone: its unsettled cells are infrastructure errors, and nothing of theirs stays held. */
  async workerLost(workerId: number, why: string): Promise<LostCells> {
    const { campaigns, admission, problems, drain } = this.#of
    const reason = drain.reason === 'interrupted' ? 'interrupted' : 'worker-lost'
    const lost: PlannedCell[] = []
    for (const state of campaigns.byId.values()) {
      if (state.workerId !== workerId) continue
      const cells = [...state.missing()]
      if (cells.length === 0) continue
      const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`
      const text = `${state.plan.file} lost its worker: ${why}; ${count} cut off`
      problems.tell(state.plan.campaignId, 'worker_lost', text)
      admission.forget(cells.map((cell) => cell.cellId))
      for (const cell of cells) {
        state.leases.delete(cell.cellId)
        state.again.delete(cell.cellId)
        await this.#settleUnrun(state, cell, { status: 'infra_error', reason, message: why })
      }
      lost.push(...cells)
    }
    return { reason, names: lost.map((cell) => `${cell.campaignId} > ${cellName(cell)}`) }
  }

  /** Resolves true when no cell is in flight, false after the deadline. */
  whenIdle(timeoutMs: number): Promise<boolean> {
    if (this.#of.campaigns.inFlight() === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const done = (idle: boolean): void => {
        clearTimeout(timer)
        this.#idle.delete(onIdle)
        resolve(idle)
      }
      const onIdle = (): void => done(true)
      const timer = setTimeout(() => done(false), timeoutMs)
      this.#idle.add(onIdle)
    })
  }

  /** A cell that asks while it holds a lease is to run once more: the lease goes back. How often it did. */
  #giveBack(state: CampaignState, cellId: string): number {
    const leaseId = state.leases.get(cellId)
    if (leaseId === undefined) return 0
    state.leases.delete(cellId)
    state.again.add(cellId)
    this.#of.admission.release(cellId, leaseId)
    const rerun = (state.reruns.get(cellId) ?? 0) + 1
    state.reruns.set(cellId, rerun)
    return rerun
  }

  /** An earlier run was cut off in the cell, and what it did before then nobody knows. */
  async #holdBack(state: CampaignState, cell: PlannedCell): Promise<LeaseReply> {
    const reason = 'unknown-effect'
    const detail = 'an earlier run was cut off in this cell, whose campaign has side effects: set EVALS_RECONCILE=1'
    await this.#settleUnrun(state, cell, { status: 'not_run', reason, message: detail })
    return { granted: false, reason, queueMs: 0, detail }
  }

  /** A record of what did not run, or not to its end. */
  #settleUnrun(
    state: CampaignState,
    cell: PlannedCell,
    why: Omit<Parameters<typeof neverRan>[3], 'attempts'>,
  ): Promise<void> {
    const run = { ...this.#of.facts, fingerprint: state.fingerprint }
    const attempts = state.attempts.get(cell.cellId) ?? 0
    return this.settle(settlementOf(neverRan(run, state.plan, cell, { ...why, attempts })))
  }

  async #journalRecord(state: CampaignState, settlement: Settlement): Promise<void> {
    const { cellId } = settlement
    const { journal, tally, problems, listener, admission, campaigns } = this.#of
    await journal.append(settledEntry(settlement.record))
    state.settle(settlement)
    state.settling.delete(cellId)
    state.again.delete(cellId)
    tally.add(settlement)
    if (settlement.red) problems.red()
    listener?.record(settlement.record)
    const leaseId = state.leases.get(cellId)
    if (leaseId !== undefined) {
      state.leases.delete(cellId)
      admission.release(cellId, leaseId)
    }
    if (this.#idle.size > 0 && campaigns.inFlight() === 0) for (const onIdle of [...this.#idle]) onIdle()
  }
}
