import type { SubjectOutcome } from '../../core/record/build.ts'
import type { CellTrafficResult } from '../replay/traffic.ts'
import type { Deadline } from './deadline.ts'

/** A call that was refused for want of a key measured nothing, whatever `run` made of the refusal. */
export function missingKey({ missingKeys }: CellTrafficResult): SubjectOutcome | null {
  if (missingKeys.length === 0) return null
  const message = `not sent: ${missingKeys.join(' or ')} is not set, and a placeholder buys nothing. Set it, or replay`
  return {
    kind: 'failed',
    status: 'infra_error',
    reason: 'lane-failed',
    failure: { class: 'missing_credentials', mode: 'missing_key', message },
  }
}

/** A request of the subject that was lost measured nothing, whatever `run` made of it. */
export function lostCall(
  { lost, exchanges, retried }: CellTrafficResult,
  endedBy: Deadline['endedBy'],
): SubjectOutcome | null {
  const first = lost.find(({ role }) => role === 'subject')
  if (first === undefined || endedBy !== null) return null
  const { reason, message } = first
  const failure = { class: 'integration_provider_failure', mode: reason, message } as const
  // Without the money for its first request nothing of the cell was run.
  const unsent = reason === 'budget' && exchanges.length + retried.length === 0
  return { kind: 'failed', status: unsent ? 'not_run' : 'infra_error', reason, failure }
}
