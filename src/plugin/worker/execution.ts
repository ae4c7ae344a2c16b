import type { TestContext } from 'vitest'
import type { Digest } from '../../core/campaign/identity.ts'
import { runsAgain } from '../../core/capacity/rerun.ts'
import type { CheckedCall } from '../../core/integrity/check.ts'
import { leftOverFaults } from '../../core/integrity/faults.ts'
import type { SubjectFacts } from '../../core/journal/entry.ts'
import type { SubjectOutcome } from '../../core/record/build.ts'
import { classifyThrow } from '../../core/record/classify.ts'
import type { Failure } from '../../core/record/failure.ts'
import type { RunRecord } from '../../core/record/record.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { type Settlement, settlementOf } from '../control.ts'
import type { CellTraffic, CellTrafficResult } from '../replay/traffic.ts'
import { type Telling, tellingOf } from '../telling.ts'
import { type Attempt, type Returned, runSubject, takeSubject } from './attempt.ts'
import type { CellInFlight, GrantedLease, WorkerBridge } from './bridge.ts'
import { placeIn } from './call-site.ts'
import { NO_CALLS, readCalls } from './calls.ts'
import { type CellContext, cellContext, type LeasedCell } from './cell-context.ts'
import { type CellFacts, cellRecord } from './cell-record.ts'
import { openTraffic } from './cell-traffic.ts'
import { withoutOwnFrames } from './frames.ts'
import { keepSubject } from './keep-subject.ts'
import { scoreKept } from './kept-output.ts'
import { redactedError } from './redacted-error.ts'
import { type Scoring, withoutLost } from './score.ts'
import { lostCall, missingKey } from './unmeasured.ts'

/** How long bodies still in flight may take once the cell is over, milliseconds. */
const CLOSE_GRACE_MS = 2_000

/** A cell that waits for the disk: what it says, and no more of it, is kept meanwhile. */
export interface Measured {
  readonly told: Telling
  readonly durable: Promise<void> | undefined
}

/** The cell runs once more, and what it called until now is billed with it. */
export interface Again {
  readonly lease: GrantedLease
  readonly calls: readonly CheckedCall[]
}

const NO_SCORING: Scoring = { scores: {}, bug: null, waited: [], unjudged: {} }

/** One cell in flight. */
export class Execution implements CellInFlight {
  readonly #context: CellContext
  /** What makes the test red: the first error that is a bug, an uncaught one, or a capture error. */
  #red: unknown = null
  /** Of a subject that an earlier run ran: it is scored here, and nothing else. */
  #before: SubjectFacts | null = null
  #journalled = false
  /** Calls of the attempt before, in this run; null: this is the first. */
  readonly #earlier: readonly CheckedCall[] | null

  constructor(bridge: WorkerBridge, leased: LeasedCell, earlier: readonly CheckedCall[] | null = null) {
    this.#earlier = earlier
    this.#context = cellContext(bridge, leased)
  }

  get #bridge(): WorkerBridge {
    return this.#context.bridge
  }

  abort(reason: string): void {
    this.#context.deadline.abort(new Error(reason))
  }

  uncaught(error: unknown): void {
    this.#red ??= something(error)
    // Outside Vitest it would have ended the process: what the subject would still give is not waited for.
    this.#context.deadline.crash(error)
  }

  over(): void {
    this.#context.deadline.clear()
  }

  /** Shows what became of the cell as the state of its test. A low score is never red. */
  show(context: TestContext, { captureError, skip }: Telling): void {
    // What a subject throws over a request without a recording is an echo of the miss, in the words of some SDK.
    if (captureError !== null && (this.#red === null || captureError.missed)) {
      this.#red = this.#errorAtSite('CaptureError', captureError.message)
    }
    if (this.#red !== null) {
      throw redactedError(withoutOwnFrames(this.#red, this.#context.registered.site), this.#bridge.redactor)
    }
    if (skip !== null) context.skip(printable(skip))
  }

  /** Resolves when the record is on its way to the journal. */
  async run(): Promise<Measured | Again> {
    const traffic = await openTraffic(this.#context)
    traffic?.onWait((waiting) => this.#context.deadline.wait(waiting))
    const attempt = await this.#attempt(traffic)
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
    const facts: CellFacts = {
      ...{ outcome, scoring, calls, retried, closed, before: this.#before, secrets: [] },
      kept: attempt.kind === 'returned' ? attempt.kept : null,
    }
    let record = cellRecord(this.#context, facts, traffic)
    if (this.#mayRunAgain(record, attempt)) {
      // The lease of this attempt is given back with the ask; refused, this attempt is what is known of the cell.
      const next = await this.#bridge.calls?.lease(this.#context.cell.cellId)
      if (next?.granted) return { lease: next, calls: [...calls, ...retried] }
    }
    let left = traffic?.records === true
    if (traffic !== null && this.#isClean(record, calls, closed)) {
      const secrets = await traffic.save()
      if (secrets.length > 0) record = cellRecord(this.#context, { ...facts, secrets }, traffic)
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

  async #attempt(traffic: CellTraffic | null): Promise<Attempt> {
    const { rescore } = this.#context.lease
    // A recording gives the subject's part for nothing.
    if (rescore === undefined || traffic?.mode === 'replayed') return runSubject(this.#context, traffic)
    const taken = await takeSubject(this.#context, traffic, rescore)
    this.#before = rescore.subject
    this.#journalled = true
    return taken
  }

  /** Once, after an infrastructure error that another try may mend; never where an output was given. */
  #mayRunAgain({ status, reason }: RunRecord, attempt: Attempt): boolean {
    const { infra } = this.#bridge.settings.retry
    const { plan } = this.#context.registered.campaign
    if (infra === 0 || this.#red !== null || plan.sideEffects === true) return false
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
    const { integrity } = this.#context.registered.campaign
    return integrity.provider_fault_swallowed === 'off' || leftOverFaults(calls).length === 0
  }

  /** Journals the output, once, with what the record will say of the subject. */
  async #keep(traffic: CellTraffic | null, { kept, outcome, faithful }: Returned): Promise<void> {
    if (this.#journalled || outcome.kind !== 'output') return
    this.#journalled = true
    const { cell, lease, notes, startedAt, started } = this.#context
    await keepSubject(this.#bridge, {
      ...{ cellId: cell.cellId, attempt: lease.attempt, traffic, kept },
      facts: {
        startedAt,
        queueMs: lease.queueMs,
        wallMs: this.#bridge.clock.now() - started,
        digest: outcome.output.digest as Digest,
        faithful,
        metrics: { ...notes.metrics },
        tags: { ...notes.tags },
        profile: notes.profile,
      },
    })
  }

  #scored(traffic: CellTraffic | null, attempt: Returned): Promise<Scoring> {
    const { registered, cell, deadline, variant, scenario } = this.#context
    return scoreKept(this.#bridge, {
      ...{ registered, cell, deadline, variant, scenario, traffic, output: attempt.output },
      keep: () => this.#keep(traffic, attempt),
    })
  }

  #classify(thrown: unknown, calls: readonly CheckedCall[], closed: CellTrafficResult | null): SubjectOutcome {
    const { deadline, registered } = this.#context
    const verdict = classifyThrow({
      thrown,
      endedBy: deadline.endedBy,
      deadlineMs: registered.campaign.plan.timeoutMs,
      waitedMs: closed?.waitedMs ?? 0,
      calls: calls.filter((call) => call.role === 'subject'),
    })
    if (verdict.red) this.#red ??= something(thrown)
    const { failure } = verdict.outcome
    // Its test is green, so that nothing else shows where it stands.
    const place = failure.mode === 'assertion' ? placeIn(this.#bridge.file, thrown) : null
    const placed = place === null ? failure : { ...failure, message: `${failure.message ?? ''} (${place})` }
    return { ...verdict.outcome, failure: this.#redactFailure(placed) }
  }

  #unmeasured(closed: CellTrafficResult | null): SubjectOutcome | null {
    const { endedBy } = this.#context.deadline
    const outcome = closed === null ? null : (missingKey(closed) ?? lostCall(closed, endedBy))
    return outcome?.kind === 'failed' ? { ...outcome, failure: this.#redactFailure(outcome.failure) } : outcome
  }

  #redactFailure(failure: Failure): Failure {
    return failure.message === undefined
      ? failure
      : { ...failure, message: this.#bridge.redactor.text(failure.message).text }
  }

  #errorAtSite(name: string, message: string): Error {
    const error = new Error(message)
    error.name = name
    error.stack = `${name}: ${message}\n${this.#context.registered.site}`
    return error
  }
}

/** What was thrown: null and undefined, which say nothing, as an error that says so. */
function something(thrown: unknown): unknown {
  return thrown ?? new Error(`${thrown} was thrown`)
}
