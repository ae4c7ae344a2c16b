import { createGovernor } from '../../core/capacity/governor.ts'
import { capacityOfShard } from '../../core/capacity/shard.ts'
import { type Appender, createAppender, JournalWriteError } from '../../core/journal/append.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { StatusReason } from '../../core/record/status.ts'
import { interruptionOf } from '../../core/report/interruption.ts'
import { byProblem } from '../../core/report/problem-order.ts'
import type { CampaignReport, Reason } from '../../core/report/report.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { createRedactor } from '../../core/traffic/redact.ts'
import type { FilePlan, LeaseReply, PlanReply, RunFacts, SettledSubject, Settlement, VerdictReply } from '../control.ts'
import { thisProcess } from '../process-identity.ts'
import { Admission } from './admission.ts'
import type { CampaignState } from './campaign-state.ts'
import { Campaigns } from './campaigns.ts'
import { Cells, type LostCells } from './cells.ts'
import { readCommit } from './commit.ts'
import { countedLook } from './counted-look.ts'
import { Drain } from './drain.ts'
import { Intake } from './intake.ts'
import { openJournalFile } from './journal-file.ts'
import { journalledCapacity } from './journalled-capacity.ts'
import { writeManifest } from './manifest.ts'
import { endCommands, reapOrphans } from './orphans.ts'
import { claimFolder, type Ownership, OwnershipLostError } from './owner.ts'
import { Preflight } from './preflight.ts'
import { Problems } from './problems.ts'
import { RecordListener } from './record-listener.ts'
import { Resumption } from './resumption.ts'
import type { RunContext } from './run-context.ts'
import { createRunFolder, pointAt, type RunFolder } from './run-folder.ts'
import { RunJournal } from './run-journal.ts'
import { type ChangedRecordings, changedRecordings, SELF_RECORDED, selfRecorded } from './self-recorded.ts'
import { Spending } from './spending.ts'
import { StatusFile, statusOf } from './status.ts'
import { Tally } from './tally.ts'
import { keepUnknownBills } from './unknown-bills.ts'
import { Verdicts } from './verdicts.ts'

/** What a run has in its hands once it is open. */
interface Opened {
  readonly folder: RunFolder
  readonly facts: RunFacts
  readonly ownership: Ownership
  readonly journal: Appender
  readonly startedAt: Date
}

/** One run: the single writer of its folder, the governor of its cells, the keeper of its records. */
export class Run {
  readonly context: RunContext
  readonly folder: RunFolder
  readonly facts: RunFacts
  readonly admission: Admission
  readonly tally = new Tally()
  readonly #startedAt: Date
  readonly #ownership: Ownership
  readonly #journal: RunJournal
  readonly #campaigns = new Campaigns()
  readonly #drain: Drain
  readonly #problems: Problems
  readonly #spending: Spending
  readonly #resumption: Resumption | null
  readonly #listener: RecordListener | null
  readonly #intake: Intake
  readonly #cells: Cells
  readonly #verdicts: Verdicts
  readonly #status: StatusFile
  readonly #changed: Promise<ChangedRecordings | null>

  private constructor(context: RunContext, { folder, facts, ownership, journal: appender, startedAt }: Opened) {
    const { options, policy, shard, root } = context
    this.context = context
    this.folder = folder
    this.facts = facts
    this.#startedAt = startedAt
    this.#ownership = ownership
    const journal = new RunJournal(appender, () => this.drain('interrupted'))
    const campaigns = this.#campaigns
    const { tally } = this
    const spending = new Spending(context)
    const clock = () => performance.now()
    const own = shard === null ? options.capacity : capacityOfShard(options.capacity, shard)
    const { budget } = spending
    const governor = createGovernor(own, clock, {
      ...(budget === null ? {} : { budget: { limitMicroUsd: budget } }),
      // The recorder asks with the most a request can cost: where it has no bound, there is no price.
      priced: () => false,
      // An impossible event must not end a run that others pay for: it is skipped, and told.
      strict: false,
    })
    const admission = new Admission(governor, clock, {
      notice: (code, text) => this.problem(null, code, text),
      invalid: (text) => this.problem(null, 'governor', text),
    })
    const drain = new Drain(admission)
    const problems = new Problems(campaigns, journal, drain, context.bail)
    const { onRecord } = options
    const listener =
      onRecord === null ? null : new RecordListener(onRecord, (text) => this.problem(null, 'on_record', text))
    const resumption =
      context.resume === null
        ? null
        : new Resumption({
            ...context.resume,
            budgeted: budget !== null,
            prices: options.capacity.lanes ?? [],
            root,
            project: context.projectName,
            policy: policy.traffic,
            runId: folder.runId,
            dir: folder.dir,
            append: (entry) => journal.append(entry),
            appendLazy: (entry) => journal.appendLazy(entry),
          })
    const { rules, pii } = options.traffic
    const preflight =
      options.preflight && policy.traffic !== 'replay'
        ? new Preflight(context.env, createRedactor({ env: context.env, rules, pii }))
        : null
    const shared = { campaigns, journal, problems, spending, admission, tally }
    this.#journal = journal
    this.admission = admission
    this.#drain = drain
    this.#problems = problems
    this.#spending = spending
    this.#listener = listener
    this.#resumption = resumption
    this.#intake = new Intake({ ...shared, context, folder, resumption, preflight })
    this.#cells = new Cells({ ...shared, facts, drain, listener })
    this.#verdicts = new Verdicts(
      folder,
      root,
      (state) => countedLook(state, { root, runId: facts.runId, journal }),
      (state) => {
        keepUnknownBills(state, admission, journal)
        return spending.basis(state)
      },
      (state) => journalledCapacity(state, admission, journal),
    )
    const replays = policy.traffic === 'replay' || policy.traffic === 'new'
    this.#changed = replays ? changedRecordings(root, process.env) : Promise.resolve(null)
    this.#status = new StatusFile(folder.status, (end) => {
      const moment = { now: clock(), epoch: Date.now() }
      return statusOf({ runId: facts.runId, startedAt, tally, snapshot: admission.snapshot(), end }, moment)
    })
  }

  /** Creates the run folder, owned by this process, and its journal. */
  static async open(context: RunContext): Promise<Run> {
    const startedAt = new Date()
    const [folder, commit, orphans] = await Promise.all([
      createRunFolder(context.root, startedAt),
      readCommit(context.root),
      // Before a cell of this run starts the same command again, beside the one that was left.
      reapOrphans(context.root),
    ])
    for (const text of orphans) process.stderr.write(`vitest-campaign: ${printable(text)}\n`)
    const ownership = await claimFolder({ dir: folder.dir, here: thisProcess(), now: () => new Date() })
    const file = await openJournalFile(folder.journal, () => ownership.assert())
    const journal = createAppender(file, { name: folder.journal, fence: ownership.fence })
    const facts: RunFacts = { runId: folder.runId, commit }
    const run = new Run(context, { folder, facts, ownership, journal, startedAt })
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
    await run.#writeManifest(null)
    await pointAt(folder)
    return run
  }

  get campaigns(): ReadonlyMap<string, CampaignState> {
    return this.#campaigns.byId
  }

  /** A journal that cannot be written stops the run: nothing more is admitted. */
  get failure(): Error | null {
    return this.#journal.failure
  }

  /** The folder is not this run's any more: it was deleted, or another run has taken it. */
  get lost(): boolean {
    return this.failure?.cause instanceof OwnershipLostError
  }

  get problems(): readonly Reason[] {
    return this.#problems.ofRun.toSorted(byProblem)
  }

  async plan(filePlan: FilePlan, workerId: number): Promise<PlanReply> {
    this.#verdicts.prepare()
    const campaigns = await this.#intake.plan(filePlan, workerId)
    const taken = filePlan.campaigns.flatMap(({ plan: { campaignId } }, at) =>
      campaigns[at]?.refused === null ? (this.campaigns.get(campaignId) ?? []) : [],
    )
    // No cell of the file asks for anything before this reply.
    await this.context.foretell?.(taken, this.facts.runId)
    return { run: this.facts, campaigns }
  }

  lease(cellId: string): Promise<LeaseReply> {
    return this.#cells.lease(cellId)
  }

  admitted(cellId: string, attempt: number, lane: string | null): Promise<void> {
    return this.#cells.admitted(cellId, attempt, lane)
  }

  subjectSettled(settled: SettledSubject): Promise<void> {
    return this.#cells.subjectSettled(settled)
  }

  /** Journals the record; when it is durable the cell's lease is released. */
  settled(settlement: Settlement): Promise<void> {
    return this.#cells.settle(settlement)
  }

  /** The journalled record of a cell; null for a cell that has none. */
  record(cellId: string): RunRecord | null {
    return this.#campaigns.record(cellId)
  }

  problem(campaignId: string | null, code: string, text: string): void {
    this.#problems.tell(campaignId, code, text)
  }

  async verdict(campaignId: string): Promise<VerdictReply> {
    const state = this.campaigns.get(campaignId)
    if (state === undefined) throw new Error(`campaign ${JSON.stringify(campaignId)} has no plan in this run`)
    if (this.draining !== null) return { skipped: `the run was drained (${this.draining}): no verdict` }
    if (state.partial !== null) return { skipped: state.partial }
    await this.#tellSelfRecorded(state)
    const { verdict } = await this.#verdicts.give(state)
    if (verdict.red) this.#problems.red()
    return { skipped: null, red: verdict.red, headline: `${verdict.word}  ${verdict.headline}` }
  }

  /** The worker's thread is gone: its unsettled cells are infrastructure errors, and nothing of theirs stays held. */
  async workerLost(workerId: number, why: string): Promise<LostCells> {
    const isOf = (cellId: string): boolean => this.#campaigns.workerOf(cellId) === workerId
    const [lost] = await Promise.all([this.#cells.workerLost(workerId, why), endCommands(this.folder.dir, isOf)])
    return lost
  }

  /** Stops admission; cells in flight go on. */
  drain(reason: StatusReason): void {
    this.#drain.begin(reason)
  }

  /** The grace is over: no further request leaves. */
  stop(reason: StatusReason): void {
    this.#drain.stop(reason)
  }

  get draining(): StatusReason | null {
    return this.#drain.reason
  }

  /** Cells in flight, of one worker or of all. */
  inFlight(workerId: number | null = null): number {
    return this.#campaigns.inFlight(workerId)
  }

  /** The longest deadline of a worker's cells in flight, milliseconds; null: none is. */
  longestDeadline(workerId: number): number | null {
    return this.#campaigns.longestDeadline(workerId)
  }

  /** Resolves true when no cell is in flight, false after the deadline. */
  whenIdle(timeoutMs: number): Promise<boolean> {
    return this.#cells.whenIdle(timeoutMs)
  }

  /** Gives every planned cell its one status, writes everything that derives from the journal, closes it. */
  async finish(cut: boolean): Promise<readonly CampaignReport[]> {
    const journal = this.#journal
    try {
      if (journal.failure === null) await this.#close(cut)
    } catch (error) {
      // A journal that cannot be written is said beside what could be reported; anything else is a bug.
      if (!(error instanceof JournalWriteError)) throw error
      journal.fail(error)
    } finally {
      await endCommands(this.folder.dir, () => true)
      // After a failure too: what is written is whole, and another run may go on with it.
      await journal.close().catch((error: unknown) => journal.fail(error))
      await this.#resumption?.close().catch((error: unknown) => journal.fail(error))
      await this.#status.close(cut || this.draining !== null ? 'interrupted' : 'finished')
      await this.#ownership.release().catch((error: unknown) => journal.fail(error))
    }
    return this.#verdicts.reports(this.campaigns.keys())
  }

  async #close(cut: boolean): Promise<void> {
    const journal = this.#journal
    const interrupted = cut || this.draining !== null
    for (const state of this.campaigns.values()) {
      await this.#cells.settleMissing(state, interrupted ? 'interrupted' : 'missing')
    }
    await this.#listener?.over()
    for (const state of this.campaigns.values()) {
      const cut = state.interrupted
      if (cut > 0) {
        const { code, text } = interruptionOf(cut, state.cells.size)
        this.problem(state.plan.campaignId, code, text)
      }
      await this.#tellSelfRecorded(state)
      if (!state.skipped && state.partial === null) await this.#verdicts.give(state)
    }
    for (const report of this.#verdicts.reports(this.campaigns.keys())) {
      await journal.append({
        kind: 'verdict',
        campaignId: report.campaignId,
        outcome: report.verdict.outcome,
        word: report.verdict.word,
        reportDigest: report.fingerprint.report,
      })
    }
    for (const budget of this.admission.snapshot().budgets) journal.appendLazy({ kind: 'budget', ...budget })
    this.admission.close()
    await journal.append({ kind: 'end', reason: interrupted ? 'interrupted' : 'finished' })
    await journal.close()
    await this.#verdicts.writeRecords(this.campaigns.values())
    await this.#writeManifest(interrupted ? 'interrupted' : 'finished')
  }

  /** Once a campaign: before its first verdict, which is after its cells. */
  async #tellSelfRecorded(state: CampaignState): Promise<void> {
    const changed = await this.#changed
    if (changed === null || state.problems.some(({ code }) => code === SELF_RECORDED)) return
    const text = selfRecorded(state.plan, state.replayed(), this.context.root, changed)
    if (text !== null) this.problem(state.plan.campaignId, SELF_RECORDED, text)
  }

  #writeManifest(end: 'finished' | 'interrupted' | null): Promise<void> {
    const { context, facts, folder } = this
    const startedAt = this.#startedAt
    return writeManifest(folder.manifest, { ...facts, context, startedAt, end, campaigns: this.campaigns.values() })
  }
}
