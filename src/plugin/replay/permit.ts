import type { PermitOutcome } from '../../core/capacity/events.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { PermitAsk } from '../control.ts'
import type { Clock } from './clock.ts'
import type { CellTrafficOptions, TrafficPort } from './traffic.ts'
import { orAborted } from './wait.ts'

/** Nothing of the request left. */
export const UNSENT: PermitOutcome = { result: { kind: 'unsent' }, tokens: null, microUsd: 0 }
/** It may have left, and nobody knows what became of it. */
export const UNKNOWN: PermitOutcome = { result: { kind: 'aborted' }, tokens: null, microUsd: null }

/** A thread that is always late sends all the same: it would never get anywhere. */
const MOST_LATE = 3

/** The right to make one request. It goes back once, however often it is given. */
export interface Permit {
  readonly granted: true
  done(outcome: PermitOutcome): void
}
export interface Refusal {
  readonly granted: false
  readonly reason: StatusReason
  readonly detail?: string
}

/** What one cell asks of its lanes, and how long they made it wait. */
export class Permits {
  readonly #port: TrafficPort
  readonly #cellId: string
  readonly #clock: Clock
  readonly #listeners: ((waiting: boolean) => void)[] = []
  #waiting = 0
  #waitedUntil = 0
  #waitedMs = 0

  constructor(port: TrafficPort, { cellId }: CellTrafficOptions, clock: Clock) {
    this.#port = port
    this.#cellId = cellId
    this.#clock = clock
  }

  /** Milliseconds in which at least one call waited. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  onWait(listener: (waiting: boolean) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Waits for the right to make one request; the deadline stands still meanwhile. Where the thread was busy and the right
   * is too old to be used, it goes back and is asked for again: what was let go meanwhile would leave together with it.
   *
   * @throws the signal's reason when it aborts first: then the ask is withdrawn, as with everything else that is thrown
   */
  async ask(ask: PermitAsk, signal: AbortSignal): Promise<Permit | Refusal> {
    for (let late = 0; ; late++) {
      const permit = await this.#askOnce(late === 0 ? ask : { ...ask, delayMs: 0 }, signal)
      if (!permit.granted || late === MOST_LATE || this.#clock.epoch() <= permit.leaveBy) return permit
      permit.done(UNSENT)
    }
  }

  async #askOnce(ask: PermitAsk, signal: AbortSignal): Promise<(Permit & { readonly leaveBy: number }) | Refusal> {
    const { reply, done } = this.#port.permit(this.#cellId, ask)
    const asked = this.#clock.now()
    let given = false
    const give = (outcome: PermitOutcome): void => {
      if (given) return
      given = true
      done(outcome)
    }
    try {
      this.#wait(1)
      let waitedMs = 0
      let leaveBy = Number.POSITIVE_INFINITY
      try {
        const answer = await orAborted(reply, signal)
        if (!answer.granted) return answer
        waitedMs = answer.waitedMs
        leaveBy = answer.leaveBy ?? leaveBy
      } catch (error) {
        waitedMs = this.#clock.now() - asked
        throw error
      } finally {
        if (waitedMs > 0) this.#waited(waitedMs)
        this.#wait(-1)
      }
      return { granted: true, done: give, leaveBy }
    } catch (error) {
      give(UNSENT)
      throw error
    }
  }

  /** Waits for the journal: no provider made the cell wait, and its deadline stands still all the same. */
  async journalled(written: Promise<void>): Promise<void> {
    this.#wait(1)
    try {
      await written
    } finally {
      this.#wait(-1)
    }
  }

  /**
   * A wait ends now; those at one time count once. The governor says how long a granted one was: the way there and back
   * is none, and of many calls on a busy machine it would add up to an excuse for a missed deadline.
   */
  #waited(ms: number): void {
    const now = this.#clock.now()
    this.#waitedMs += Math.min(ms, now - this.#waitedUntil)
    this.#waitedUntil = now
  }

  #wait(change: 1 | -1): void {
    const before = this.#waiting
    this.#waiting += change
    if (before > 0 === this.#waiting > 0) return
    for (const listener of this.#listeners) listener(this.#waiting > 0)
  }
}
