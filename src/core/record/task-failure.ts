import { FAILURE_CLASSES, type Failure, type FailureClass } from './failure.ts'

/** What `ctx.fail(…)` throws: the subject failed, the code around it is fine. */
export class TaskFailure extends Error {
  override readonly name = 'TaskFailure'
  readonly failure: Failure
  /** @throws TypeError for a class that is none */
  constructor(reason: string | { readonly class?: FailureClass; readonly mode?: string; readonly message: string }) {
    const given = typeof reason === 'string' ? { message: reason } : reason
    super(given.message)
    const { class: kind = 'unknown', mode } = given
    if (!FAILURE_CLASSES.includes(kind)) {
      throw new TypeError(
        `ctx.fail: ${JSON.stringify(kind)} is no class of failure; they are ${FAILURE_CLASSES.join(', ')}`,
      )
    }
    this.failure = { class: kind, ...(mode === undefined ? {} : { mode }), message: given.message }
  }
}
