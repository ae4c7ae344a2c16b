import type { TestContext } from 'vitest'
import { printable } from '../../core/traffic/hostile.ts'
import type { CarriedCell } from '../control.ts'
import type { RegisteredCampaign, WorkerBridge } from './bridge.ts'
import { redactedError } from './redacted-error.ts'

/** Its test shows as passed. */
export function isGreen({ telling, red }: CarriedCell): boolean {
  return red === null && telling.captureError === null && telling.skip === null
}

/** The body of the test of a cell whose record is carried over: nothing runs, and it shows what it showed then. */
export function showCarried(
  bridge: WorkerBridge,
  { site }: RegisteredCampaign,
  { cellId, telling, red }: CarriedCell,
  context: TestContext,
): void {
  context.task.meta.campaign = { cellId }
  const message = telling.captureError?.message ?? red
  if (message !== null) {
    const error = new Error(`${message}\n(carried over from an earlier run; EVALS_RESUME=0 runs the cell again)`)
    error.name = telling.captureError === null ? 'Error' : 'CaptureError'
    error.stack = `${error.name}: ${error.message}\n${site}`
    throw redactedError(error, bridge.redactor)
  }
  if (telling.skip !== null) context.skip(printable(telling.skip))
}
