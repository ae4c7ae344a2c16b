import {
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
  InvalidEventError,
  type LeaseRequest,
} from '../../core/capacity/governor.ts'
import type { StatusReason } from '../../core/record/status.ts'

export type LeaseDecision =
  | { readonly granted: true; readonly leaseId: number; readonly queueMs: number }
  | { readonly granted: false; readonly reason: StatusReason; readonly queueMs: number }

/**
 * The governor as promises. All asks of one turn are decided together, so that the order inside a batch is the order
 * of the plan and not the order in which messages arrived.
 */
export class Admission {
  readonly #governor: Governor
  #pending: GovernorEvent[] = []
  readonly #leases = new Map<string, (decision: LeaseDecision) => void>()
  readonly #permits = new Map<number, (waitedMs: number) => void>()
  /** Permits taken and not given back. */
  readonly #openPermits = new Map<number, string>()
  #nextPermit = 1

  readonly #onInvalid: (error: Error) => void

  constructor(governor: Governor, onInvalid: (error: Error) => void) {
    this.#governor = governor
    this.#onInvalid = onInvalid
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

  permit(cellId: string, lane: string): Promise<{ permitId: number; waitedMs: number }> {
    const permitId = this.#nextPermit++
    return new Promise((resolve) => {
      this.#openPermits.set(permitId, cellId)
      this.#permits.set(permitId, (waitedMs) => resolve({ permitId, waitedMs }))
      this.#send({ type: 'ask-permit', permitId, request: { cellId, lane } })
    })
  }

  permitDone(permitId: number): void {
    // The worker of a permit may have been forgotten before its last message is read.
    if (this.#openPermits.delete(permitId)) this.#send({ type: 'release-permit', permitId })
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

  snapshot(): ReturnType<Governor['snapshot']> {
    return this.#governor.snapshot()
  }

  #send(event: GovernorEvent): void {
    this.#pending.push(event)
    if (this.#pending.length === 1) setImmediate(() => this.#decide())
  }

  #decide(): void {
    const events = this.#pending
    this.#pending = []
    let effects: readonly GovernorEffect[]
    try {
      effects = this.#governor.send(events)
    } catch (error) {
      // An impossible event is a bug of ours: it is reported, and everything else in the batch took effect.
      if (!(error instanceof InvalidEventError)) throw error
      this.#onInvalid(error)
      effects = error.effects
    }
    for (const effect of effects) this.#apply(effect)
  }

  #apply(effect: GovernorEffect): void {
    if (effect.type === 'permit-granted') {
      const resolve = this.#permits.get(effect.permitId)
      this.#permits.delete(effect.permitId)
      resolve?.(effect.waitedMs)
      return
    }
    // Nothing asks for what the other effects answer.
    if (effect.type !== 'lease-granted' && effect.type !== 'lease-refused') return
    const resolve = this.#leases.get(effect.cellId)
    this.#leases.delete(effect.cellId)
    if (effect.type === 'lease-granted') resolve?.({ granted: true, leaseId: effect.leaseId, queueMs: effect.queueMs })
    else resolve?.({ granted: false, reason: effect.reason, queueMs: effect.queueMs })
  }
}
