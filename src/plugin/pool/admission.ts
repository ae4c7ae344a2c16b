import type { GovernorEffect, GovernorEvent, PermitOutcome } from '../../core/capacity/events.ts'
import { type Clock, type Governor, InvalidEventError, type LeaseRequest } from '../../core/capacity/governor.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { PermitAsk, PermitReply } from '../control.ts'

export type LeaseDecision =
  | { readonly granted: true; readonly leaseId: number; readonly queueMs: number }
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
  readonly #permits = new Map<number, (reply: PermitReply) => void>()
  /** Permits asked for and not given back. */
  readonly #openPermits = new Map<number, string>()
  readonly #told = new Set<string>()
  #nextPermit = 1

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

  release(leaseId: number): void {
    this.#send({ type: 'release-lease', leaseId })
  }

  permit(cellId: string, ask: PermitAsk): { readonly permitId: number; readonly reply: Promise<PermitReply> } {
    const permitId = this.#nextPermit++
    const reply = new Promise<PermitReply>((resolve) => {
      this.#openPermits.set(permitId, cellId)
      this.#permits.set(permitId, resolve)
      this.#send({ type: 'ask-permit', permitId, request: { cellId, ...ask } })
    })
    return { permitId, reply }
  }

  /** Gives a permit back; one that still waits is withdrawn, and its reply never comes. */
  permitDone(permitId: number, outcome: PermitOutcome): void {
    this.#permits.delete(permitId)
    // The worker of a permit may have been forgotten before its last message is read.
    if (this.#openPermits.delete(permitId)) this.#send({ type: 'release-permit', permitId, outcome })
  }

  /** The asker of these cells is gone: nothing of theirs is held or waits any longer. */
  forget(cellIds: readonly string[]): void {
    const gone = new Set(cellIds)
    for (const cellId of cellIds) this.#leases.delete(cellId)
    for (const [permitId, cellId] of this.#openPermits) {
      if (!gone.has(cellId)) continue
      this.#openPermits.delete(permitId)
      this.#permits.delete(permitId)
    }
    this.#send({ type: 'forget', cellIds })
  }

  drain(reason: StatusReason): void {
    this.#send({ type: 'drain', reason })
  }

  /** What still waits for a permit is refused, and so is every later ask. */
  stop(reason: StatusReason): void {
    this.#send({ type: 'stop', reason })
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
        const { leaseId, queueMs } = effect
        this.#answerLease(effect.cellId, { granted: true, leaseId, queueMs })
        return
      }
      case 'lease-refused': {
        const { reason, queueMs, detail } = effect
        const why = detail === undefined ? { reason } : { reason, detail }
        this.#answerLease(effect.cellId, { granted: false, queueMs, ...why })
        return
      }
      case 'permit-granted':
        this.#answerPermit(effect.permitId, { granted: true, waitedMs: effect.waitedMs })
        return
      case 'permit-refused': {
        const { permitId, reason, detail } = effect
        this.#openPermits.delete(permitId)
        const why = detail === undefined ? { reason } : { reason, detail }
        this.#answerPermit(permitId, { granted: false, ...why })
        return
      }
      case 'notice':
        this.#log.notice(effect.code.replaceAll('-', '_'), effect.text)
        return
      case 'warning':
        this.#warn(effect.text)
        return
      // Nobody asks for judges yet.
      case 'judge-granted':
      case 'judge-refused':
    }
  }

  #answerLease(cellId: string, decision: LeaseDecision): void {
    const resolve = this.#leases.get(cellId)
    this.#leases.delete(cellId)
    resolve?.(decision)
  }

  #answerPermit(permitId: number, reply: PermitReply): void {
    const resolve = this.#permits.get(permitId)
    this.#permits.delete(permitId)
    resolve?.(reply)
  }

  #warn(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#log.invalid(text)
  }
}
