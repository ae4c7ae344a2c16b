import type { Failure, FailureClass } from './failure.ts'

/** What `ctx.fail(…)` throws: the subject failed, the code around it is fine. */
export class TaskFailure extends Error {
  override readonly name = 'TaskFailure'
  readonly failure: Failure
  constructor(reason: string | { readonly class?: FailureClass; readonly mode?: string; readonly message: string }) {
    const given = typeof reason === 'string' ? { message: reason } : reason
    super(given.message)
    this.failure = { class: 'unknown', ...given }
  }
}
