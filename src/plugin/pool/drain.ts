import type { StatusReason } from '../../core/record/status.ts'
import type { Admission } from './admission.ts'

/** Why nothing new starts any more. */
export class Drain {
  readonly #admission: Admission
  #reason: StatusReason | null = null

  constructor(admission: Admission) {
    this.#admission = admission
  }

  /** Null: the run goes on. */
  get reason(): StatusReason | null {
    return this.#reason
  }

  /** Stops admission; cells in flight go on. */
  begin(reason: StatusReason): void {
    if (this.#reason === null || reason === 'interrupted') this.#reason = reason
    this.#admission.drain(reason)
  }

  /** The grace is over: no further request leaves. */
  stop(reason: StatusReason): void {
    this.#reason ??= reason
    this.#admission.stop(reason)
  }
}
