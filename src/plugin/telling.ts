import type { RunRecord } from '../core/record/record.ts'

/** What a cell's record says to its test. */
export interface Telling {
  /** Why the capture cannot be trusted; null where it can. */
  readonly captureError: { readonly message: string; readonly missed: boolean } | null
  /** Why the test shows as skipped. */
  readonly skip: string | null
}
const ALL_WELL: Telling = { captureError: null, skip: null }

export function tellingOf(record: RunRecord): Telling {
  switch (record.status) {
    case 'capture_error':
      return { captureError: { message: captureMessage(record), missed: missed(record) }, skip: null }
    case 'infra_error':
    case 'judge_error':
      return { captureError: null, skip: `${record.status}: ${reasonOf(record)}` }
    case 'not_run':
      return { captureError: null, skip: `not run: ${record.reason}: ${reasonOf(record)}` }
    default:
      return ALL_WELL
  }
}

function missed(record: RunRecord): boolean {
  return record.integrity.issues.some(({ code, severity }) => code === 'replay_miss' && severity === 'error')
}

function captureMessage(record: RunRecord): string {
  return record.integrity.issues
    .filter((issue) => issue.severity === 'error')
    .map((issue) => `${issue.code}: ${issue.message}`)
    .join('\n')
}

function reasonOf(record: RunRecord): string {
  if (record.failure !== null) return record.failure.message ?? record.failure.mode ?? record.failure.class
  const failed = Object.entries(record.scores).find(([, score]) => score.error !== undefined)
  return failed === undefined ? (record.reason ?? 'no reason was given') : `${failed[0]}: ${failed[1].error}`
}
