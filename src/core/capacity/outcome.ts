import type { AttemptResult } from './events.ts'
import { IDENTICAL_ERRORS, type Lane, type Lanes } from './lanes.ts'

/** What a lane learns from an attempt that was granted as the `age`-th of its quota. */
export function learn(lanes: Lanes, lane: Lane, result: AttemptResult, age: number, now: number): void {
  const { quota } = lane
  switch (result.kind) {
    case 'unsent':
    case 'aborted':
      return
    case 'answered':
      quota.concurrency.answered()
      quota.answered()
      lane.rejection = null
      return
    case 'throttled':
      quota.concurrency.throttled(age)
      quota.hold(now + bounded(result.holdMs), result.reason)
      return
    case 'fault':
      quota.fault(now + bounded(result.holdMs), result.reason)
      return
    case 'rejected': {
      quota.answered()
      const count = lane.rejection?.signature === result.signature ? lane.rejection.count + 1 : 1
      lane.rejection = { signature: result.signature, count }
      if (count < IDENTICAL_ERRORS) return
      lanes.close(lane, 'lane-failed', `${count} requests in a row were refused alike: ${result.signature}`)
      return
    }
    case 'closing':
      lanes.close(lane, result.reason, result.detail)
      return
  }
}

/** No hold outlives this, whoever asks for it: a number that is none, or a year, must not stop a lane for good. */
export const MAX_HOLD_MS = 15 * 60_000

const bounded = (ms: number): number => (Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_HOLD_MS) : 0)
