import type { TestContext } from 'vitest'
import { canonicalJson, type Json } from '../../core/campaign/canonical-json.ts'
import type { Digest } from '../../core/campaign/identity.ts'
import type { Payload } from '../../core/campaign/listing.ts'
import type { CampaignPlan, PlannedCell } from '../../core/campaign/plan.ts'
import { runsAgain } from '../../core/capacity/rerun.ts'
import { type CheckedCall, checkCell } from '../../core/integrity/check.ts'
import { leftOverFaults } from '../../core/integrity/faults.ts'
import type { SubjectFacts } from '../../core/journal/entry.ts'
import { buildRecord, type SubjectOutcome } from '../../core/record/build.ts'
import { classifyThrow } from '../../core/record/classify.ts'
import type { Failure } from '../../core/record/failure.ts'
import { describeOutput } from '../../core/record/output.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { CallRole } from '../../core/traffic/exchange.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { type Rescore, type Settlement, settlementOf } from '../control.ts'
import type { CellTraffic, CellTrafficResult } from '../replay/traffic.ts'
import { type Telling, tellingOf } from '../telling.ts'
import type { CellInFlight, GrantedLease, RegisteredCampaign, WorkerBridge } from './bridge.ts'
import { placeIn } from './call-site.ts'
import { NO_CALLS, readCalls } from './calls.ts'
import { showCarried } from './carried.ts'
import { Deadline } from './deadline.ts'
import { gatherSoftFailures } from './expect.ts'
import { withoutOwnFrames } from './frames.ts'
import { inScope } from './in-scope.ts'
import { keepSubject } from './keep-subject.ts'
import { scoreKept } from './kept-output.ts'
import { readOutputFile } from './output-file.ts'
import { redactedError } from './redacted-error.ts'
import { type Scoring, withoutLost } from './score.ts'
import { type Notes, subjectContext } from './subject.ts'
import { lostCall, missingKey } from './unmeasured.ts'

/** How long bodies still in flight may take once the cell is over, milliseconds. */
const CLOSE_GRACE_MS = 2_000

declare module 'vitest' {
  interface TaskMeta {
    /**
     * The cell's RunRecord, or of a campaign's last test its plan, for reporters and merged blob reports: put in by the
     * reporter, in the main process.
     */
    campaign?:
      | { readonly cellId: string; readonly record?: RunRecord }
      | {
          readonly campaignId: string
          readonly carried?: { readonly plan: CampaignPlan; readonly fingerprint: string }
        }
  }
}

/** The body of a cell's test: runs the subject, scores it, checks it, and returns when its record is durable. */
export async function runCell(bridge: WorkerBridge, context: TestContext): Promise<void> {
  const binding = bridge.bindings.get(context.task)
  if (binding?.kind === 'cell' && binding.carried !== null) {
    return showCarried(bridge, binding.registered, binding.carried, context)
  }
  if (binding?.kind !== 'cell' || binding.lease === null || binding.registered.planned === null) {
    throw new Error(
      `cell ${context.task.name} was started without a lease: is another test runner configured for this project?`,
    )
  }
  const { cellId } = binding.cell
  const { registered } = binding
  const { planned } = binding.registered
  let execution = new Execution(bridge, registered, binding.cell, binding.lease, planned)
  let told: Telling | null = null
  while (told === null) {
    bridge.inFlight.set(cellId, execution)
    try {
      const measured: Measured | Again = await execution.run()
      if ('lease' in measured) {
        execution.over()
        execution = new Execution(bridge, registered, binding.cell, measured.lease, planned, measured.calls)
        continue
      }
      told = measured.told
      await measured.durable
    } finally {
      bridge.inFlight.delete(cellId)
      execution.over()
    }
  }
  binding.settled = true
  context.task.meta.campaign = { cellId }
  execution.show(context, told)
}

/** A cell that waits for the disk: what it says, and no more of it, is kept meanwhile. */
interface Measured {
  readonly told: Telling
  readonly durable: Promise<void> | undefined
}

/** The cell runs once more, and what it called until now is billed with it. */
interface Again {
  readonly lease: GrantedLease
  readonly calls: readonly CheckedCall[]
}

interface Returned {
  readonly kind: 'returned'
  readonly output: unknown
  /** Redacted. */
  readonly kept: Json
  /** Nothing of it was redacted. */
  readonly faithful: boolean
  readonly outcome: SubjectOutcome
}
type Attempt = Returned | { readonly kind: 'threw'; readonly thrown: unknown }

interface Facts {
  readonly outcome: SubjectOutcome
  readonly scoring: Scoring
  readonly calls: readonly CheckedCall[]
  /** Attempts made again before the subject or scorer saw them. */
  readonly retried: readonly CheckedCall[]
  readonly closed: CellTrafficResult | null
  /** The output, redacted; null where there is none. */
  readonly kept: Json
}

const NO_SCORING: Scoring = { scores: {}, bug: null, waited: [], unjudged: {} }

/** One cell in flight. */
class Execution implements CellInFlight {
  readonly #bridge: WorkerBridge
  readonly #registered: RegisteredCampaign
  readonly #cell: PlannedCell
  readonly #lease: GrantedLease
  readonly #planned: NonNullable<RegisteredCampaign['planned']>
  readonly #deadline: Deadline
  readonly #startedAt: string
  readonly #started: number
  readonly #notes: Notes = { metrics: {}, tags: {}, profile: null }
  readonly #variant: Payload
  readonly #scenario: Payload
  /** What makes the test red: the first error that is a bug, an uncaught one, or a capture error. */
  #red: unknown = null
  /** Of a subject that an earlier run ran: it is scored here, and nothing else. */
  #before: SubjectFacts | null = null
  #journalled = false
  /** Calls of the attempt before, in this run; null: this is the first. */
  readonly #earlier: readonly CheckedCall[] | null

  constructor(
    bridge: WorkerBridge,
    registered: RegisteredCampaign,
    cell: PlannedCell,
    lease: GrantedLease,
    planned: NonNullable<RegisteredCampaign['planned']>,
    earlier: readonly CheckedCall[] | null = null,
  ) {
    this.#earlier = earlier
    this.#bridge = bridge
    this.#registered = registered
    this.#cell = cell
    this.#lease = lease
    this.#planned = planned
    this.#startedAt = bridge.clock.instant()
    this.#started = bridge.clock.now()
    this.#deadline = new Deadline(registered.campaign.plan.timeoutMs, bridge.clock)
    this.#variant = registered.campaign.variants.get(cell.variant.id) ?? { id: cell.variant.id }
    this.#scenario = registered.campaign.scenarios.get(cell.scenario.id) ?? { id: cell.scenario.id }
  }

  abort(reason: string): void {
    this.#deadline.abort(new Error(reason))
  }

  uncaught(error: unknown): void {
    this.#red ??= error
    // Outside Vitest it would have ended the process: what the subject would still give is not waited for.
    this.#deadline.crash(error)
  }

  over(): void {
    this.#deadline.clear()
  }

  /** Shows what became of the cell as the state of its test. A low score is never red. */
  show(context: TestContext, { captureError, skip }: Telling): void {
    // What a subject throws over a request without a recording is an echo of the miss, in the words of some SDK.
    if (captureError !== null && (this.#red === null || captureError.missed)) {
      this.#red = this.#errorAtSite('CaptureError', captureError.message)
    }
    if (this.#red !== null) {
      throw redactedError(withoutOwnFrames(this.#red, this.#registered.site), this.#bridge.redactor)
    }
    if (skip !== null) context.skip(printable(skip))
  }

  /** Resolves when the record is on its way to the journal. */
  async run(): Promise<Measured | Again> {
    const traffic = await this.#openTraffic()
    traffic?.onWait((waiting) => this.#deadline.wait(waiting))
    const { rescore } = this.#lease
    // A recording gives the subject's part for nothing.
    const attempt =
      rescore === undefined || traffic?.mode === 'replayed'
        ? await this.#runSubject(traffic)
        : await this.#takeSubject(traffic, rescore)
    const scored = attempt.kind === 'returned' ? await this.#scored(traffic, attempt) : NO_SCORING
    this.#red ??= scored.bug
    const closed = traffic === null ? null : await traffic.close(CLOSE_GRACE_MS, attempt.kind === 'threw')
    const unjudged = closed?.lost.filter(({ role }) => role === 'judge') ?? []
    const scoring = withoutLost(
      scored,
      unjudged.map((loss) => ({ ...loss, message: this.#bridge.redactor.text(loss.message).text })),
    )
    const { prices } = this.#bridge.settings
    const calls =
      closed === null || closed.exchanges.length === 0 ? NO_CALLS : await readCalls(closed.exchanges, prices)
    const again = closed === null || closed.retried.length === 0 ? NO_CALLS : await readCalls(closed.retried, prices)
    const retried = this.#earlier === null ? again : [...this.#earlier, ...again]
    const outcome =
      this.#unmeasured(closed) ??
      (attempt.kind === 'returned' ? attempt.outcome : this.#classify(attempt.thrown, calls, closed))
    const facts: Facts = {
      outcome,
      scoring,
      calls,
      retried,
      closed,
      kept: attempt.kind === 'returned' ? attempt.kept : null,
    }
    let record = this.#record(facts, traffic, [])
    if (this.#mayRunAgain(record, attempt)) {
      // The lease of this attempt is given back with the ask; refused, this attempt is what is known of the cell.
      const next = await this.#bridge.calls?.lease(this.#cell.cellId)
      if (next?.granted) return { lease: next, calls: [...calls, ...retried] }
    }
    let left = traffic?.records === true
    if (traffic !== null && this.#isClean(record, calls, closed)) {
      const secrets = await traffic.save()
      if (secrets.length > 0) record = this.#record(facts, traffic, secrets)
      else left = false
    }
    // The next run scores it again, and does not run its subject.
    if (record.status === 'judge_error' && attempt.kind === 'returned') await this.#keep(traffic, attempt)
    if (this.#before !== null) record = { ...record, provenance: 'carried' }
    const missing = closed?.misses.some(({ kind }) => kind === 'no-recording') === true
    const told = tellingOf(record)
    const settlement: Settlement = {
      ...settlementOf(record),
      // The subject was paid for then.
      ...(this.#before === null ? {} : { usd: record.cost.judgeUsd }),
      recording: missing ? 'missing' : left ? 'left' : null,
      red: this.#red !== null || told.captureError !== null,
    }
    return { told, durable: this.#bridge.calls?.settled(settlement) }
  }

  /** Once, after an infrastructure error that another try may mend; never where an output was given. */
  #mayRunAgain({ status, reason }: RunRecord, attempt: Attempt): boolean {
    const { infra } = this.#bridge.settings.retry
    if (infra === 0 || this.#red !== null || this.#registered.campaign.plan.sideEffects === true) return false
    const ended = {
      status,
      reason: reason ?? null,
      subjectSettled: attempt.kind === 'returned',
      reruns: this.#earlier === null ? 0 : 1,
    }
    return runsAgain(ended, { infra })
  }

  /** Only such a cell updates its recording: a fault that was recorded would be replayed for ever. */
  #isClean(record: RunRecord, calls: readonly CheckedCall[], closed: CellTrafficResult | null): boolean {
    if (this.#red !== null || (closed?.lost.length ?? 0) > 0 || record.failure?.class === 'timeout') return false
    if (record.status !== 'scored' && record.status !== 'task_fail') return false
    return this.#registered.campaign.integrity.provider_fault_swallowed === 'off' || leftOverFaults(calls).length === 0
  }

  #openTraffic(): CellTraffic | Promise<CellTraffic> | null {
    const { campaign } = this.#registered
    const { plan } = campaign
    if (plan.capture === 'off' || this.#bridge.traffic === null) return null
    const canary = this.#scenario.canary
    const deadline = this.#deadline
    return this.#bridge.traffic.openCell({
      cellId: this.#cell.cellId,
      coordinates: {
        campaignId: plan.campaignId,
        variantId: this.#cell.variant.id,
        scenarioId: this.#cell.scenario.id,
        seed: this.#cell.seed,
      },
      attempt: this.#lease.attempt,
      evalFile: this.#bridge.file ?? '',
      declaredLane: this.#cell.variant.lane,
      get signal() {
        return deadline.signal
      },
      timeoutMs: deadline.limitMs,
      leftMs: () => deadline.leftMs,
      routes: campaign.routes,
      mocks: campaign.mocks,
      canaries: typeof canary === 'string' ? [canary] : [],
    })
  }

  async #runSubject(traffic: CellTraffic | null): Promise<Attempt> {
    const { campaign } = this.#registered
    const soft = gatherSoftFailures(this.#cell.cellId)
    try {
      const context = subjectContext({
        cell: this.#cell,
        lane: this.#lease.failover ?? this.#cell.variant.lane,
        variant: this.#variant,
        scenario: this.#scenario,
        deadline: this.#deadline,
        fetch: traffic?.fetch ?? globalThis.fetch,
        runDir: this.#bridge.settings.runDir,
        redactor: this.#bridge.redactor,
        notes: this.#notes,
      })
      if (campaign.plan.sideEffects === true) {
        // What it changes may not be a call that anybody sees.
        await this.#bridge.control?.admitted(this.#cell.cellId, this.#lease.attempt, this.#cell.variant.lane)
      }
      const output = await this.#deadline.bound(
        inScope(this.#bridge, { cellId: this.#cell.cellId, traffic }, 'subject', async () => campaign.run(context)),
      )
      const failed = soft.end()
      if (failed !== null) throw failed
      // Digested before redaction: two outputs that differ in a secret alone are different outputs.
      const described = describeOutput(output)
      const kept = this.#bridge.redactor.json(output as Json).value
      const shown = kept === output ? described : { ...describeOutput(kept), digest: described.digest }
      const faithful = kept === output || describeOutput(kept).digest === described.digest
      return { kind: 'returned', output, kept, faithful, outcome: { kind: 'output', output: shown } }
    } catch (thrown) {
      return { kind: 'threw', thrown }
    } finally {
      soft.end()
    }
  }

  /** What the subject gave in an earlier run, which was cut off before it was scored. */
  async #takeSubject(traffic: CellTraffic | null, { subject, output: kept }: Rescore): Promise<Attempt> {
    const output = 'value' in kept ? kept.value : await readOutputFile(this.#bridge.settings.runDir, kept.file)
    traffic?.adopt()
    this.#before = subject
    this.#journalled = true
    Object.assign(this.#notes.metrics, subject.metrics)
    Object.assign(this.#notes.tags, subject.tags)
    this.#notes.profile = subject.profile
    const described = { ...describeOutput(output), digest: subject.digest }
    return { kind: 'returned', output, kept: output, faithful: true, outcome: { kind: 'output', output: described } }
  }

  /** Journals the output, once, with what the record will say of the subject. */
  async #keep(traffic: CellTraffic | null, { kept, outcome, faithful }: Returned): Promise<void> {
    if (this.#journalled || outcome.kind !== 'output') return
    this.#journalled = true
    await keepSubject(this.#bridge, {
      ...{ cellId: this.#cell.cellId, attempt: this.#lease.attempt, traffic, kept },
      facts: {
        startedAt: this.#startedAt,
        queueMs: this.#lease.queueMs,
        wallMs: this.#bridge.clock.now() - this.#started,
        digest: outcome.output.digest as Digest,
        faithful,
        metrics: { ...this.#notes.metrics },
        tags: { ...this.#notes.tags },
        profile: this.#notes.profile,
      },
    })
  }

  #scored(traffic: CellTraffic | null, attempt: Returned): Promise<Scoring> {
    return scoreKept(this.#bridge, {
      ...{ registered: this.#registered, cell: this.#cell, deadline: this.#deadline },
      ...{ variant: this.#variant, scenario: this.#scenario, traffic, output: attempt.output },
      keep: () => this.#keep(traffic, attempt),
    })
  }

  #classify(thrown: unknown, calls: readonly CheckedCall[], closed: CellTrafficResult | null): SubjectOutcome {
    const verdict = classifyThrow({
      thrown,
      endedBy: this.#deadline.endedBy,
      deadlineMs: this.#registered.campaign.plan.timeoutMs,
      waitedMs: closed?.waitedMs ?? 0,
      calls: calls.filter((call) => call.role === 'subject'),
    })
    if (verdict.red) this.#red ??= thrown
    const { failure } = verdict.outcome
    // Its test is green, so that nothing else shows where it stands.
    const place = failure.mode === 'assertion' ? placeIn(this.#bridge.file, thrown) : null
    const placed = place === null ? failure : { ...failure, message: `${failure.message ?? ''} (${place})` }
    return { ...verdict.outcome, failure: this.#redactFailure(placed) }
  }

  #unmeasured(closed: CellTrafficResult | null): SubjectOutcome | null {
    const outcome = closed === null ? null : (missingKey(closed) ?? lostCall(closed, this.#deadline.endedBy))
    return outcome?.kind === 'failed' ? { ...outcome, failure: this.#redactFailure(outcome.failure) } : outcome
  }

  #redactFailure(failure: Failure): Failure {
    return failure.message === undefined
      ? failure
      : { ...failure, message: this.#bridge.redactor.text(failure.message).text }
  }

  #record(facts: Facts, traffic: CellTraffic | null, secrets: readonly string[]): RunRecord {
    const { campaign } = this.#registered
    const { plan } = campaign
    const { outcome, scoring, calls, retried, closed } = facts
    const canary = this.#scenario.canary
    const issues = checkCell(
      {
        capture: traffic === null ? 'off' : 'on',
        subject: outcome.kind === 'output' ? 'output' : 'failed',
        failing: failingRoles(outcome, scoring),
        calls,
        open: closed?.open ?? [],
        late: traffic?.late() ?? [],
        misses: closed?.misses.map((miss) => miss.message) ?? [],
        unused: closed?.unused ?? [],
        secrets,
        routes: campaign.routes,
        canary: typeof canary === 'string' ? canary : null,
        profile: this.#notes.profile,
        // Only a canary is looked for in it, and writing every output out once more is not free.
        output: typeof canary === 'string' && facts.kept !== null ? canonicalJson(facts.kept) : null,
      },
      campaign.integrity,
    )
    return buildRecord({
      run: { ...this.#planned.run, fingerprint: this.#planned.fingerprint },
      plan,
      cell: this.#cell,
      outcome,
      scores: scoring.scores,
      calls,
      retried,
      issues,
      ...this.#unjudged(scoring),
      attempts: this.#lease.attempt,
      startedAt: this.#before?.startedAt ?? this.#startedAt,
      queueMs: this.#before?.queueMs ?? this.#lease.queueMs,
      wallMs: this.#bridge.clock.now() - this.#started + (this.#before?.wallMs ?? 0),
      metrics: this.#notes.metrics,
      tags: this.#notes.tags,
      ...(this.#notes.profile === null ? {} : { agentProfile: this.#notes.profile }),
    })
  }

  /** Why the primary scorer has no score, where the run is the reason. */
  #unjudged({ scores, unjudged }: Scoring): { unjudged?: StatusReason } {
    const { primary } = this.#registered.campaign.plan
    const reason = unjudged[primary]
    if (reason !== undefined) return { unjudged: reason }
    return this.#deadline.endedBy === 'shutdown' && scores[primary]?.error !== undefined
      ? { unjudged: 'interrupted' }
      : {}
  }

  #errorAtSite(name: string, message: string): Error {
    const error = new Error(message)
    error.name = name
    error.stack = `${name}: ${message}\n${this.#registered.site}`
    return error
  }
}

/** Whose failed calls the record tells of: that of the subject, or those of scorers that gave no score. */
function failingRoles(outcome: SubjectOutcome, { scores }: Scoring): CallRole[] {
  const roles: CallRole[] = []
  if (outcome.kind === 'failed' && outcome.status === 'infra_error') roles.push('subject')
  if (Object.values(scores).some(({ error }) => error !== undefined)) roles.push('judge')
  return roles
}
