import { cellName, cellsOf } from '../../core/campaign/cells.ts'
import { digestOf } from '../../core/campaign/identity.ts'
import type { CampaignPlan, PlannedCell, Selection } from '../../core/campaign/plan.ts'
import type { Shard } from '../../core/campaign/shard.ts'
import { createGovernor } from '../../core/capacity/governor.ts'
import { capacityOfShard } from '../../core/capacity/shard.ts'
import { type Appender, createAppender, JournalWriteError } from '../../core/journal/append.ts'
import { settledEntry } from '../../core/journal/entry.ts'
import type { LookCount } from '../../core/looks/count.ts'
import { evidenceOf } from '../../core/looks/evidence.ts'
import { neverRan } from '../../core/record/build.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { MicroUsd } from '../../core/record/usage.ts'
import { interruptionOf } from '../../core/report/interruption.ts'
import type { CampaignReport, Reason } from '../../core/report/report.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { createRedactor } from '../../core/traffic/redact.ts'
import {
  type FilePlan,
  type LeaseReply,
  type PlanReply,
  type RunFacts,
  type SettledSubject,
  type Settlement,
  settlementOf,
  type VerdictReply,
} from '../control.ts'
import type { ResolvedOptions } from '../options.ts'
import { Admission } from './admission.ts'
import { writeAtomic } from './atomic-file.ts'
import { type LoadedBasis, loadBasis } from './basis.ts'
import { CampaignState } from './campaign-state.ts'
import { type CodeDigest, codeDigest, type ModuleSource } from './code-digest.ts'
import { readCommit } from './commit.ts'
import { openJournalFile } from './journal-file.ts'
import { LookLedger } from './look-ledger.ts'
import { writeManifest } from './manifest.ts'
import { claimFolder, type Ownership, OwnershipLostError } from './owner.ts'
import type { Policy } from './policy.ts'
import { Preflight, preflightText } from './preflight.ts'
import { thisProcess } from './process-identity.ts'
import { RecordListener } from './record-listener.ts'
import { type Resumed, Resumption } from './resumption.ts'
import { createRunFolder, pointAt, type RunFolder } from './run-folder.ts'
import { type ChangedRecordings, changedRecordings, SELF_RECORDED, selfRecorded } from './self-recorded.ts'
import { Spending } from './spending.ts'
import { StatusFile, statusOf } from './status.ts'
import { Tally } from './tally.ts'
import { Verdicts } from './verdicts.ts'

export interface RunContext {
  readonly root: string
  readonly projectName: string
  readonly options: ResolvedOptions
  /** Failing tests after which nothing new starts; 0: never. */
  readonly bail: number
  /** As the workers have it, without placeholders. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly policy: Policy
  /** Of the whole run; null: none. */
  readonly budget: MicroUsd | null
  readonly modules: ModuleSource
  /** The part of the cells that is run here; null: all. */
  readonly shard: Shard | null
  /** Null: the run begins afresh, whatever earlier ones left undone. */
  readonly resume: {
    /** Cells with side effects that an earlier run was cut off in may run again. */
    readonly reconciled: boolean
    /** Tells the user at once. */
    say(line: string): void
  } | null
  readonly versions: { readonly node: string; readonly vitest: string; readonly package: string }
}

/** Cells whose thread ended before they settled. */
export interface LostCells {
  readonly reason: StatusReason
  readonly names: readonly string[]
}

/** One run: the single writer of its folder, the governor of its cells, the keeper of its records. */
export class Run {
  readonly context: RunContext
  readonly folder: RunFolder
  readonly facts: RunFacts
  readonly admission: Admission
  readonly tally = new Tally()
  readonly #ownership: Ownership
  readonly #resumption: Resumption | null
  readonly #journal: Appender
  /** Campaign ids and who took them. */
  readonly #claims = new Map<string, CampaignPlan>()
  readonly #campaigns = new Map<string, CampaignState>()
  readonly #cellCampaign = new Map<string, CampaignState>()
  readonly #verdicts: Verdicts
  readonly #spending: Spending
  readonly #problems: Reason[] = []
  readonly #idle = new Set<() => void>()
  readonly #startedAt: Date
  readonly #status: StatusFile
  readonly #listener: RecordListener | null
  readonly #preflight: Preflight | null
  readonly #changed: Promise<ChangedRecordings | null>
  #draining: StatusReason | null = null
  #failure: Error | null = null
  #reds = 0

  private constructor(
    context: RunContext,
    folder: RunFolder,
    facts: RunFacts,
    ownership: Ownership,
    journal: Appender,
    startedAt: Date,
  ) {
    this.#startedAt = startedAt
    this.#ownership = ownership
    this.context = context
    this.folder = folder
    this.facts = facts
    this.#journal = journal
    this.#resumption =
      context.resume === null
        ? null
        : new Resumption({
            ...context.resume,
            prices: context.options.capacity.lanes ?? [],
            root: context.root,
            project: context.projectName,
            policy: context.policy.traffic,
            runId: folder.runId,
            dir: folder.dir,
            append: (entry) => this.#durably(journal.append(entry)),
            appendLazy: (entry) => journal.appendLazy(entry),
          })
    this.#spending = new Spending(context)
    const money = this.#spending.basis.bind(this.#spending)
    this.#verdicts = new Verdicts(folder, context.root, (state) => this.#countLook(state), money)
    const replays = context.policy.traffic === 'replay' || context.policy.traffic === 'new'
    this.#changed = replays ? changedRecordings(context.root, process.env) : Promise.resolve(null)
    const clock = () => performance.now()
    // An impossible event must not end a run that others pay for: it is skipped, and told.
    const { capacity } = context.options
    const own = context.shard === null ? capacity : capacityOfShard(capacity, context.shard)
    const { budget } = this.#spending
    // The recorder asks with the most a request can cost: where it has no bound, there is no price.
    const governor = createGovernor(own, clock, {
      ...(budget === null ? {} : { budget: { limitMicroUsd: budget } }),
      priced: () => false,
      strict: false,
    })
    this.admission = new Admission(governor, clock, {
      notice: (code, text) => this.problem(null, code, text),
      invalid: (text) => this.problem(null, 'governor', text),
    })
    const { onRecord } = context.options
    const { traffic } = context.policy
    const { rules, pii } = context.options.traffic
    this.#preflight =
      context.options.preflight && traffic !== 'replay'
        ? new Preflight(context.env, createRedactor({ env: context.env, rules, pii }))
        : null
    this.#listener =
      onRecord === null ? null : new RecordListener(onRecord, (text) => this.problem(null, 'on_record', text))
    this.#status = new StatusFile(folder.status, (end) => {
      const { tally, admission } = this
      const moment = { now: clock(), epoch: Date.now() }
      return statusOf({ runId: facts.runId, startedAt, tally, snapshot: admission.snapshot(), end }, moment)
    })
  }

  /** Creates the run folder, owned by this process, and its journal. */
  static async open(context: RunContext): Promise<Run> {
    const startedAt = new Date()
    const [folder, commit] = await Promise.all([createRunFolder(context.root, startedAt), readCommit(context.root)])
    const ownership = await claimFolder({ dir: folder.dir, here: thisProcess(), now: () => new Date() })
    const file = await openJournalFile(folder.journal, () => ownership.assert())
    const journal = createAppender(file, { name: folder.journal, fence: ownership.fence })
    const facts: RunFacts = { runId: folder.runId, commit }
    const run = new Run(context, folder, facts, ownership, journal, startedAt)
    const { budget } = run.#spending
    await journal.append({
      kind: 'run',
      runId: folder.runId,
      project: context.projectName,
      policy: context.policy.traffic,
      policyReason: context.policy.reason,
      commit,
      versions: context.versions,
      startedAt: startedAt.toISOString(),
      ...(context.shard === null ? {} : { shard: context.shard }),
      ...(budget === null ? {} : { budgetMicroUsd: budget }),
    })
    await run.#writeManifest(startedAt, null)
    await pointAt(folder)
    return run
  }

  get campaigns(): ReadonlyMap<string, CampaignState> {
    return this.#campaigns
  }

  /** A journal that cannot be written stops the run: nothing more is admitted. */
  get failure(): Error | null {
    return this.#failure
  }

  /** The folder is not this run's any more: it was deleted, or another run has taken it. */
  get lost(): boolean {
    return this.#failure?.cause instanceof OwnershipLostError
  }

  get problems(): readonly Reason[] {
    return this.#problems
  }

  async plan(filePlan: FilePlan, workerId: number): Promise<PlanReply> {
    this.#verdicts.prepare()
    const campaigns: PlanReply['campaigns'][number][] = []
    for (const { plan, selection, skipped } of filePlan.campaigns) {
      const other = this.#claims.get(plan.campaignId)
      if (other !== undefined) {
        campaigns.push({ fingerprint: null, refused: twice(other, plan) })
        this.problem(null, 'campaign_twice', twice(other, plan))
        continue
      }
      // Claimed before anything is awaited: another file's plan may arrive meanwhile.
      this.#claims.set(plan.campaignId, plan)
      let basis: LoadedBasis
      try {
        basis = await loadBasis(this.context.root, plan, skipped)
      } catch (error) {
        campaigns.push({ fingerprint: null, refused: this.#refuse(plan, error) })
        continue
      }
      const unpriced = await this.#spending.unpriced(plan, (variantId) => selectedOf(plan, selection, variantId))
      if (unpriced !== null) {
        campaigns.push({ fingerprint: null, refused: this.#refuse(plan, unpriced) })
        continue
      }
      const code = await codeDigest(this.context.modules, plan.file, plan.digestFiles)
      const state = new CampaignState(plan, code.digest, selection, skipped, workerId, basis)
      let resumed: Resumed | null
      try {
        resumed = await this.#goOn(state, code.files)
      } catch (error) {
        if (this.#failure !== null) throw error
        campaigns.push({ fingerprint: null, refused: this.#refuse(plan, error) })
        continue
      }
      this.#campaigns.set(plan.campaignId, state)
      for (const cellId of state.cells.keys()) this.#cellCampaign.set(cellId, state)
      const spent = resumed?.spent ?? { chargedMicroUsd: 0, unknownMicroUsd: 0 }
      this.admission.budget(plan.campaignId, this.#spending.budgetOf(plan), spent)
      const { fingerprint } = state
      campaigns.push({ fingerprint, refused: null, carried: resumed?.carried ?? [] })
      this.tally.planned += state.plannedHere
      for (const settlement of state.settled.values()) this.tally.add(settlement)
      // From this line on the run answers for what it carries: see Resumption.
      this.#journal.appendLazy({ kind: 'plan', plan, fingerprint, selection, skipped, code: code.files })
      for (const { code, text } of resumed?.reasons ?? []) this.problem(plan.campaignId, code, text)
      await this.#journalBasis(plan.campaignId, basis)
      await this.#preflown(state)
    }
    return { run: this.facts, campaigns }
  }

  /** What an earlier run settled of the campaign; null where it begins afresh. */
  #goOn(state: CampaignState, code: CodeDigest['files']): Promise<Resumed | null> | null {
    // A part of a campaign is run because somebody wants to see that part run.
    if (this.#resumption === null || this.context.shard !== null) return null
    if (state.skipped || state.selected !== null) return null
    return this.#resumption.into(state, { plan: state.plan, code, fingerprint: state.fingerprint })
  }

  /** Nothing of the campaign may run: the message of its gate. */
  #refuse(plan: CampaignPlan, error: unknown): string {
    const why = error instanceof Error ? error.message : String(error)
    const refused = `campaign ${JSON.stringify(plan.campaignId)} (${placeOf(plan)}): ${why}`
    this.problem(null, 'definition', refused)
    return refused
  }

  /** Before a cell of the campaign asks for anything. */
  async #preflown({ plan, judges }: CampaignState): Promise<void> {
    if (this.#preflight === null) return
    const lanes = [...plan.variants.map(({ lane }) => lane), ...judges].filter((lane) => lane !== null)
    const found = await this.#preflight.check(lanes)
    for (const { lane, checked } of found) {
      if (checked.kind === 'dead') this.admission.closeLane(lane, checked.detail)
    }
    const text = preflightText(found)
    if (text === null) return
    process.stderr.write(`\nvitest-campaign: ${printable(text)}\n`)
    this.problem(plan.campaignId, 'preflight', text)
  }

  async lease(cellId: string): Promise<LeaseReply> {
    const { state, cell } = this.#cell(cellId)
    if (state.held.has(cellId)) return this.#holdBack(state, cell)
    const rerun = this.#giveBack(state, cellId)
    const decision = await this.admission.lease({
      cellId,
      ...(rerun === 0 ? {} : { rerun }),
      ...this.#spending.ask(state, cell),
      rank: [cell.position[0], cell.position[1], cell.position[2], cell.campaignId],
      judges: state.judges,
    })
    if (decision.granted) {
      const attempt = (state.attempts.get(cellId) ?? 0) + 1
      state.attempts.set(cellId, attempt)
      state.leases.set(cellId, decision.leaseId)
      const { leaseId, queueMs, failover } = decision
      this.#spending.granted(cellId, decision)
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
    await this.#settle(
      settlementOf(
        neverRan(this.#runOf(state), state.plan, cell, {
          status: 'not_run',
          reason: decision.reason,
          queueMs: decision.queueMs,
          attempts: state.attempts.get(cellId) ?? 0,
          ...(decision.detail === undefined ? {} : { message: decision.detail }),
        }),
      ),
    )
    return decision
  }

  /** A cell that asks while it holds a lease is to run once more: the lease goes back. How often it did. */
  #giveBack(state: CampaignState, cellId: string): number {
    const leaseId = state.leases.get(cellId)
    if (leaseId === undefined) return 0
    state.leases.delete(cellId)
    this.admission.release(cellId, leaseId)
    const rerun = (state.reruns.get(cellId) ?? 0) + 1
    state.reruns.set(cellId, rerun)
    return rerun
  }

  /** An earlier run was cut off in the cell, and what it did before then nobody knows. */
  async #holdBack(state: CampaignState, cell: PlannedCell): Promise<LeaseReply> {
    const reason = 'unknown-effect'
    const detail = 'an earlier run was cut off in this cell, whose campaign has side effects: set EVALS_RECONCILE=1'
    const attempts = state.attempts.get(cell.cellId) ?? 0
    const why = { status: 'not_run', reason, message: detail, attempts } as const
    await this.#settle(settlementOf(neverRan(this.#runOf(state), state.plan, cell, why)))
    return { granted: false, reason, queueMs: 0, detail }
  }

  async admitted(cellId: string, attempt: number, lane: string | null): Promise<void> {
    const money = this.#spending.admitted(this.#cell(cellId).state, cellId)
    const at = new Date().toISOString()
    await this.#durably(this.#journal.append({ kind: 'admitted', cellId, attempt, lane, at, ...money }))
  }

  async subjectSettled(settled: SettledSubject): Promise<void> {
    await this.#durably(this.#journal.append({ kind: 'subject-settled', ...settled, at: new Date().toISOString() }))
    const { cellId } = settled
    // A cell that settled or was lost meanwhile holds nothing.
    if (this.#cell(cellId).state.leases.has(cellId)) this.admission.subjectDone(cellId)
  }

  /** Journals the record; when it is durable the cell's lease is released. */
  settled(settlement: Settlement): Promise<void> {
    return this.#settle(settlement)
  }

  /** The journalled record of a cell; null for a cell that has none. */
  record(cellId: string): RunRecord | null {
    const settled = this.#cellCampaign.get(cellId)?.settled.get(cellId)
    return settled === undefined ? null : (JSON.parse(settled.record) as RunRecord)
  }

  problem(campaignId: string | null, code: string, text: string): void {
    const state = campaignId === null ? undefined : this.#campaigns.get(campaignId)
    if (state !== undefined) state.problems.push({ code, text })
    else this.#problems.push({ code, text })
    this.#journal.appendLazy({ kind: 'problem', campaignId, code, text })
    if (code === 'definition') this.#red()
  }

  async verdict(campaignId: string): Promise<VerdictReply> {
    const state = this.#campaigns.get(campaignId)
    if (state === undefined) throw new Error(`campaign ${JSON.stringify(campaignId)} has no plan in this run`)
    if (this.#draining !== null) return { skipped: `the run was drained (${this.#draining}): no verdict` }
    if (state.partial !== null) return { skipped: state.partial }
    await this.#tellSelfRecorded(state)
    const { verdict } = await this.#verdicts.give(state)
    if (verdict.red) this.#red()
    return { skipped: null, red: verdict.red, headline: `${verdict.word}  ${verdict.headline}` }
  }

  /** The worker's thread is gone: its unsettled cells are infrastructure errors, and nothing of theirs stays held. */
  async workerLost(workerId: number, why: string): Promise<LostCells> {
    const reason = this.#draining === 'interrupted' ? 'interrupted' : 'worker-lost'
    const lost: PlannedCell[] = []
    for (const state of this.#campaigns.values()) {
      if (state.workerId !== workerId) continue
      const cells = [...state.missing()]
      if (cells.length === 0) continue
      const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`
      const text = `${state.plan.file} lost its worker: ${why}; ${count} cut off`
      this.problem(state.plan.campaignId, 'worker_lost', text)
      this.admission.forget(cells.map((cell) => cell.cellId))
      for (const cell of cells) {
        state.leases.delete(cell.cellId)
        await this.#settle(
          settlementOf(
            neverRan(this.#runOf(state), state.plan, cell, {
              status: 'infra_error',
              reason,
              message: why,
              attempts: state.attempts.get(cell.cellId) ?? 0,
            }),
          ),
        )
      }
      lost.push(...cells)
    }
    return { reason, names: lost.map((cell) => `${cell.campaignId} > ${cellName(cell)}`) }
  }

  /** Stops admission; cells in flight go on. */
  drain(reason: StatusReason): void {
    if (this.#draining === null || reason === 'interrupted') this.#draining = reason
    this.admission.drain(reason)
  }

  /** The grace is over: no further request leaves. */
  stop(reason: StatusReason): void {
    this.#draining ??= reason
    this.admission.stop(reason)
  }

  get draining(): StatusReason | null {
    return this.#draining
  }

  /** Cells in flight, of one worker or of all. */
  inFlight(workerId: number | null = null): number {
    let count = 0
    for (const state of this.#campaigns.values()) {
      if (workerId === null || state.workerId === workerId) count += state.leases.size
    }
    return count
  }

  /** The longest deadline of a worker's cells in flight, milliseconds; null: none is. */
  longestDeadline(workerId: number): number | null {
    let longest: number | null = null
    for (const { workerId: id, leases, plan } of this.#campaigns.values()) {
      if (id === workerId && leases.size > 0) longest = Math.max(longest ?? 0, plan.timeoutMs)
    }
    return longest
  }

  /** Resolves true when no cell is in flight, false after the deadline. */
  whenIdle(timeoutMs: number): Promise<boolean> {
    if (this.inFlight() === 0) return Promise.resolve(true)
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

  /** Gives every planned cell its one status, writes everything that derives from the journal, closes it. */
  async finish(cut: boolean): Promise<readonly CampaignReport[]> {
    try {
      if (this.#failure === null) await this.#close(cut)
    } catch (error) {
      // A journal that cannot be written is said beside what could be reported; anything else is a bug.
      if (!(error instanceof JournalWriteError)) throw error
      this.#fail(error)
    } finally {
      // After a failure too: what is written is whole, and another run may go on with it.
      await this.#journal.close().catch((error: unknown) => this.#fail(error))
      await this.#resumption?.close().catch((error: unknown) => this.#fail(error))
      await this.#status.close(cut || this.#draining !== null ? 'interrupted' : 'finished')
      await this.#ownership.release().catch((error: unknown) => this.#fail(error))
    }
    return this.#verdicts.reports()
  }

  async #close(cut: boolean): Promise<void> {
    const interrupted = cut || this.#draining !== null
    for (const state of this.#campaigns.values()) {
      await Promise.allSettled(state.settling.values())
      for (const cell of [...state.missing()]) {
        const reason: StatusReason = interrupted ? 'interrupted' : 'missing'
        const attempts = state.attempts.get(cell.cellId) ?? 0
        const why = { status: 'not_run', reason, attempts } as const
        await this.#settle(settlementOf(neverRan(this.#runOf(state), state.plan, cell, why)))
      }
    }
    await this.#listener?.over()
    for (const state of this.#campaigns.values()) {
      const cut = state.interrupted
      if (cut > 0) {
        const { code, text } = interruptionOf(cut, state.cells.size)
        this.problem(state.plan.campaignId, code, text)
      }
      await this.#tellSelfRecorded(state)
      if (!state.skipped && state.partial === null) await this.#verdicts.give(state)
    }
    for (const report of this.#verdicts.reports()) {
      await this.#journal.append({
        kind: 'verdict',
        campaignId: report.campaignId,
        outcome: report.verdict.outcome,
        word: report.verdict.word,
        reportDigest: report.fingerprint.report,
      })
    }
    for (const budget of this.admission.snapshot().budgets) this.#journal.appendLazy({ kind: 'budget', ...budget })
    this.admission.close()
    await this.#journal.append({ kind: 'end', reason: interrupted ? 'interrupted' : 'finished' })
    await this.#journal.close()
    await this.#verdicts.writeRecords(this.#campaigns.values())
    await this.#writeManifest(this.#startedAt, interrupted ? 'interrupted' : 'finished')
  }

  /** Once a campaign: before its first verdict, which is after its cells. */
  async #tellSelfRecorded(state: CampaignState): Promise<void> {
    const changed = await this.#changed
    if (changed === null || state.problems.some(({ code }) => code === SELF_RECORDED)) return
    const text = selfRecorded(state.plan, state.replayed(), this.context.root, changed)
    if (text !== null) this.problem(state.plan.campaignId, SELF_RECORDED, text)
  }

  /** What the report is computed from beside the records: with it the folder of the run is enough to compute it again. */
  async #journalBasis(campaignId: string, { baseline, registration }: LoadedBasis): Promise<void> {
    if (baseline !== null) {
      // The committed file may change; what this run was compared with must not.
      await writeAtomic(this.folder.accepted(campaignId), baseline.text)
      this.#journal.appendLazy({ kind: 'accepted', campaignId, file: baseline.name, digest: baseline.accepted.digest })
    }
    if (registration !== null) this.#journal.appendLazy({ kind: 'prereg', campaignId, registration })
  }

  /** Looks are counted for preregistered release gates; they spend error rate before anybody sees the verdict. */
  async #countLook(state: CampaignState): Promise<LookCount | null> {
    const { plan, registration } = state
    if (registration === null || plan.gate?.kind !== 'release' || state.interrupted > 0) return null
    const evidence = evidenceOf(state.records())
    if (evidence.cells === 0) return null
    const facts = { prereg: digestOf(registration.terms, 'terms'), runId: this.facts.runId }
    const look = await new LookLedger(this.context.root, plan).count(evidence, facts)
    await this.#durably(this.#journal.append({ kind: 'look', campaignId: plan.campaignId, ...look }))
    return look
  }

  #writeManifest(startedAt: Date, end: 'finished' | 'interrupted' | null): Promise<void> {
    const { context, facts, folder } = this
    return writeManifest(folder.manifest, { ...facts, context, startedAt, end, campaigns: this.#campaigns.values() })
  }

  #runOf(state: CampaignState): RunFacts & { fingerprint: string } {
    return { ...this.facts, fingerprint: state.fingerprint }
  }

  #cell(cellId: string): { state: CampaignState; cell: PlannedCell } {
    const state = this.#cellCampaign.get(cellId)
    const cell = state?.cells.get(cellId)
    if (state === undefined || cell === undefined) throw new Error(`cell ${cellId} is in no plan of this run`)
    return { state, cell }
  }

  /** Exactly one record per cell: what arrives second (a killed worker's cell, a late answer) is dropped. */
  #settle(settlement: Settlement): Promise<void> {
    const { cellId } = settlement
    const { state } = this.#cell(cellId)
    if (state.settled.has(cellId)) return Promise.resolve()
    const first = state.settling.get(cellId)
    if (first !== undefined) return first
    // One that fails stays: the run's failure is reported, and the cell is not settled a second time.
    const settling = this.#journalRecord(state, settlement)
    state.settling.set(cellId, settling)
    return settling
  }

  async #journalRecord(state: CampaignState, settlement: Settlement): Promise<void> {
    const { cellId } = settlement
    await this.#durably(this.#journal.append(settledEntry(settlement.record)))
    state.settled.set(cellId, settlement)
    state.settling.delete(cellId)
    this.tally.add(settlement)
    if (settlement.red) this.#red()
    this.#listener?.record(settlement.record)
    const leaseId = state.leases.get(cellId)
    if (leaseId !== undefined) {
      state.leases.delete(cellId)
      this.admission.release(cellId, leaseId)
    }
    if (this.#idle.size > 0 && this.inFlight() === 0) for (const onIdle of [...this.#idle]) onIdle()
  }

  /** A test fails: so many of them, and nothing new is started. */
  #red(): void {
    const { bail } = this.context
    if (++this.#reds !== bail) return
    this.drain('bail')
    const text = `${bail === 1 ? 'a test' : `${bail} tests`} failed, and bail is ${bail}: no cell was started after that`
    this.problem(null, 'bail', text)
  }

  async #durably(write: Promise<void>): Promise<void> {
    try {
      await write
    } catch (error) {
      this.#fail(error)
      throw error
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = error instanceof Error ? error : new Error(String(error))
    this.drain('interrupted')
  }
}

const placeOf = ({ file, line }: CampaignPlan): string => (line === null ? file : `${file}:${line}`)

function* selectedOf(plan: CampaignPlan, selection: Selection, variantId: string): Generator<PlannedCell> {
  const selected = selection === 'all' ? null : new Set(selection)
  for (const cell of cellsOf(plan)) {
    if (cell.variant.id === variantId && (selected?.has(cell.cellId) ?? true)) yield cell
  }
}

function twice(first: CampaignPlan, second: CampaignPlan): string {
  return (
    `campaign ${JSON.stringify(first.campaignId)} is declared twice: in ${placeOf(first)}, which runs, and in ` +
    `${placeOf(second)}, which does not. Campaign ids are unique in a project; rename one`
  )
}
