import type { GovernorSnapshot, LaneSnapshot, WaitCause } from './snapshot.ts'

/** Why something waits, with the time that is left. */
export interface Wait {
  readonly kind: WaitCause['kind']
  /** Milliseconds; null where time alone changes nothing. */
  readonly forMs: number | null
  /** What a hold was told by. */
  readonly reason: string | null
}

/** What waits for one lane. */
export interface LaneWait
  extends Pick<LaneSnapshot, 'lane' | 'cells' | 'requests' | 'waitingCells' | 'waitingJudges' | 'waitingRequests'> {
  readonly why: readonly Wait[]
}

/**
 * The lanes that somebody waits for.
 *
 * @param now on the governor's clock
 */
export function laneWaits({ lanes }: GovernorSnapshot, now: number): LaneWait[] {
  return lanes
    .filter(({ waitingCells, waitingJudges, waitingRequests }) => waitingCells + waitingJudges + waitingRequests > 0)
    .map(({ lane, cells, requests, waitingCells, waitingJudges, waitingRequests, why }) => ({
      ...{ lane, cells, requests, waitingCells, waitingJudges, waitingRequests },
      why: why.map((cause) => waitOf(cause, now)),
    }))
}

function waitOf(cause: WaitCause, now: number): Wait {
  return {
    kind: cause.kind,
    forMs: 'until' in cause ? Math.max(0, Math.round(cause.until - now)) : null,
    reason: cause.kind === 'hold' ? cause.reason : null,
  }
}
