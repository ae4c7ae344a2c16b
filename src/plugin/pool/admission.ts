import type { GovernorEffect, GovernorEvent, PermitOutcome } from '../../core/capacity/events.ts'
import { type Clock, type Governor, InvalidEventError, type LeaseRequest } from '../../core/capacity/governor.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { MicroUsd } from '../../core/record/usage.ts'
import type { JudgeReply, PermitAsk, PermitReply } from '../control.ts'
import { Asked } from './asked.ts'
import type { Granted } from './spending.ts'

export type LeaseDecision =
  | ({ readonly granted: true; readonly leaseId: number; readonly queueMs: number } & Granted)
  | {
      readonly granted: false
      readonly reason: StatusReason
      readonly queueMs: number
      readonly detail?: string
    }

/** What the governor says beside its answers. */
export interface AdmissionLog {
  /** A lane was closed, or a request is larger than a limit. */
  notice(code: string, text: string): void
  /** An event that cannot be true: a fault of ours. Told once for each text. */
  invalid(text: string): void
}

/** What earlier parts of a continued run spent. */
interface SpentBefore {
  readonly chargedMicroUsd: MicroUsd
  readonly unknownMicroUsd: MicroUsd
}

/** Longer than a timer can hold is asked again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * The governor as promises. All asks of one turn are decided together, so that the order inside a batch is the order
 * of the plan and not the order in which messages arrived; what time alone changes is decided by one timer.
 */
export class Admission {
  readonly #governor: Governor
  readonly #clock: Clock
  readonly #log: AdmissionLog
  #pending: GovernorEvent[] = []
  #timer: NodeJS.Timeout | null = null
  #closed = false
  readonly #leases = new Map<string, (decision: LeaseDecision) => void>()
  readonly #permits = new Asked<PermitReply>()
  readonly #judges = new Asked<JudgeReply>()
  readonly #told = new Set<string>()

  /** @param clock the governor's own */
  constructor(governor: Governor, clock: Clock, log: AdmissionLog) {
    this.#governor = governor
    this.#clock = clock
    this.#log = log
  }

  lease(request: LeaseRequest): Promise<LeaseDecision> {
    return new Promise((resolve) => {
      this.#leases.set(request.cellId, resolve)
      this.#send({ type: 'ask-lease', request })
    })
  }

  /** What a campaign's earlier parts spent, and its own budget: before the first of its cells asks. */
  budget(campaignId: string, limitMicroUsd: MicroUsd | null, spent: SpentBefore): void {
    if (spent.chargedMicroUsd + spent.unknownMicroUsd > 0) this.#send({ type: 'spent-before', ...spent })
    if (limitMicroUsd !== null) this.#send({ type: 'campaign-budget', campaignId, budget: { limitMicroUsd, ...spent } })
  }

  /** With the lease go the judges of its cell. */
  release(cellId: string, leaseId: number): void {
    this.#judges.forget(cellId)
    this.#send({ type: 'release-lease', leaseId })
  }

  /** The output is safe: the cell's subject is never run again. */
  subjectDone(cellId: string): void {
    this.#send({ type: 'subject-done', cellId })
  }

  judge(cellId: string, lane: string | null): { readonly judgeId: number; readonly reply: Promise<JudgeReply> } {
    const { id: judgeId, reply } = this.#judges.ask(cellId)
    this.#send({ type: 'ask-judge', judgeId, request: { cellId, lane } })
    return { judgeId, reply }
  }

  /** Gives a judge lease back; one that still waits is withdrawn, and its reply never comes. */
  judgeDone(judgeId: number): void {
    if (this.#judges.done(judgeId)) this.#send({ type: 'release-judge', judgeId })
  }

  permit(cellId: string, ask: PermitAsk): { readonly permitId: number; readonly reply: Promise<PermitReply> } {
    const { id: permitId, reply } = this.#permits.ask(cellId)
    this.#send({ type: 'ask-permit', permitId, request: { cellId, ...ask } })
    return { permitId, reply }
  }

  /** Gives a permit back; one that still waits is withdrawn, and its reply never comes. */
  permitDone(permitId: number, outcome: PermitOutcome): void {
    // The worker of a permit may have been forgotten before its last message is read.
    if (this.#permits.done(permitId)) this.#send({ type: 'release-permit', permitId, outcome })
  }

  /** The asker of these cells is gone: nothing of theirs is held or waits any longer. */
  forget(cellIds: readonly string[]): void {
    for (const cellId of cellIds) {
      this.#leases.delete(cellId)
      this.#permits.forget(cellId)
      this.#judges.forget(cellId)
    }
    this.#send({ type: 'forget', cellIds })
  }

  /** Nothing more is taken in this lane: its model was found dead. */
  closeLane(lane: string, detail: string): void {
    this.#send({ type: 'close-lane', lane, reason: 'lane-failed', detail })
  }

  drain(reason: StatusReason): void {
    this.#send({ type: 'drain', reason })
  }

  /** What still waits for a permit is refused, and so is every later ask. */
  stop(reason: StatusReason): void {
    this.#send({ type: 'stop', reason })
  }

  /** What the campaign has asked of each lane, and what it waited for there. */
  traffic(campaignId: string): ReturnType<Governor['traffic']> {
    return this.#governor.traffic(campaignId)
  }

  /** The cells of the campaign whose bill nobody knows, and what of the budget each took. */
  unknownBills(campaignId: string): ReturnType<Governor['unknownBills']> {
    return this.#governor.unknownBills(campaignId)
  }

  snapshot(): ReturnType<Governor['snapshot']> {
    return this.#governor.snapshot()
  }

  /** The run is over: no timer of it may fire. */
  close(): void {
    this.#closed = true
    this.#disarm()
  }

  #send(event: GovernorEvent): void {
    this.#pending.push(event)
    if (this.#pending.length === 1) setImmediate(() => this.#decide())
  }

  #decide(): void {
    if (this.#closed) return
    const events = this.#pending
    this.#pending = []
    let effects: readonly GovernorEffect[]
    try {
      effects = this.#governor.send(events)
    } catch (error) {
      // A strict governor throws; everything else in the batch took effect.
      if (!(error instanceof InvalidEventError)) throw error
      this.#warn(error.message)
      effects = error.effects
    }
    for (const effect of effects) this.#apply(effect)
    this.#arm()
  }

  #arm(): void {
    this.#disarm()
    const at = this.#governor.nextWake()
    if (at === null) return
    // A timer may fire a moment early: then this is done once more.
    const ms = Math.min(Math.max(1, Math.ceil(at - this.#clock())), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#decide(), ms)
    this.#timer.unref()
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #apply(effect: GovernorEffect): void {
    switch (effect.type) {
      case 'lease-granted': {
        const { type: _, cellId, ...granted } = effect
        this.#answerLease(cellId, { granted: true, ...granted })
        return
      }
      case 'lease-refused': {
        const { reason, queueMs, detail } = effect
        const why = detail === undefined ? { reason } : { reason, detail }
        this.#answerLease(effect.cellId, { granted: false, queueMs, ...why })
        return
      }
      case 'permit-granted':
        this.#permits.answer(effect.permitId, granted(effect), false)
        return
      case 'permit-refused':
        this.#permits.answer(effect.permitId, refused(effect), true)
        return
      case 'judge-granted':
        this.#judges.answer(effect.judgeId, granted(effect), false)
        return
      case 'judge-refused':
        this.#judges.answer(effect.judgeId, refused(effect), true)
        return
      case 'notice':
        this.#log.notice(effect.code.replaceAll('-', '_'), effect.text)
        return
      case 'warning':
        this.#warn(effect.text)
        return
    }
  }

  #answerLease(cellId: string, decision: LeaseDecision): void {
    const resolve = this.#leases.get(cellId)
    this.#leases.delete(cellId)
    resolve?.(decision)
  }

  #warn(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#log.invalid(text)
  }
}

function granted({ waitedMs, leaveWithinMs }: { waitedMs: number; leaveWithinMs?: number }): PermitReply {
  return { granted: true, waitedMs, ...(leaveWithinMs === undefined ? {} : { leaveBy: Date.now() + leaveWithinMs }) }
}

function refused({ reason, detail }: { readonly reason: StatusReason; readonly detail?: string }): PermitReply {
  return { granted: false, reason, ...(detail === undefined ? {} : { detail }) }
}
