import type { ExchangeFault, HeaderList, ProviderErrorKind } from '../traffic/exchange.ts'
import type { AttemptResult } from './events.ts'
import { readReset } from './reset.ts'

/** One attempt on the wire that did not bring an answer. */
export interface FailedAttempt {
  readonly outcome:
    | Pick<ExchangeFault, 'kind' | 'phase' | 'code' | 'message'>
    | {
        readonly kind: 'response'
        readonly status: number
        readonly headers: HeaderList
        /** The parsed body, if it is JSON. */
        readonly body: unknown
        /** As read off status and body; null: no error at all. */
        readonly error: { readonly kind: ProviderErrorKind; readonly message: string } | null
      }
  /** 1 for the first. */
  readonly attempt: number
  /** What the cell has left of its deadline, in which it stands still while it waits. */
  readonly deadlineLeftMs: number
  /** Epoch milliseconds. */
  readonly now: number
  /** In [0, 1). */
  readonly random: number
}

/** What to do with it. `result` goes to the governor with the permit, whatever is done. */
export type RetryDecision =
  /** Ask for another permit with this delay; the lane's hold is waited out there as well. */
  | { readonly retry: true; readonly afterMs: number; readonly reason: string; readonly result: AttemptResult }
  /** Hand it to the client. `reason` is null where it is no fault: an answer, or an error of the subject's own. */
  | { readonly retry: false; readonly reason: string | null; readonly result: AttemptResult }

/** Attempts at a request that the provider refuses for now: each waits longer, and costs nothing. */
export const THROTTLED_ATTEMPTS = 8
/** Attempts at a request that fails on the way or inside the provider. */
export const FAULT_ATTEMPTS = 4

const BASE_MS = 1_000
const MAX_BACKOFF_MS = 60_000
/** A told time is kept to, and then spread a little: all who wait were told the same. */
const SPREAD = 0.1
const MAX_SPREAD_MS = 2_000

/** Certificates do not mend themselves. */
const CERTIFICATE = /CERT|SELF_SIGNED|^ERR_(TLS|SSL)_|UNABLE_TO_(VERIFY|GET)/

/**
 * Whether a failed attempt is made again, when, and what it says of its lane.
 *
 * 429, 503 and 529 are waited out as the provider says, else with a back-off that doubles; connection and server faults
 * with the back-off alone. A quota that is used up waits for its reset, and closes the lane where no usable one is
 * told; a bad key, a missing permission and an unknown model close it at once. What the subject itself did wrong is
 * never made again. No wait is longer than the cell's deadline has left.
 */
export function retryDecision(attempt: FailedAttempt): RetryDecision {
  const { outcome } = attempt
  if (outcome.kind === 'fault') return afterFault(attempt, outcome)
  const { error, status } = outcome
  if (error === null) return { retry: false, reason: null, result: { kind: 'answered' } }
  switch (error.kind) {
    case 'rate_limit':
    case 'overloaded':
      return afterThrottle(attempt, outcome.headers, outcome.body, `${status} ${error.kind}`)
    case 'quota':
      return afterQuota(attempt, outcome.headers, outcome.body, error.message)
    case 'server': {
      const { reset } = readReset(outcome.headers, outcome.body, attempt.now)
      const waitMs = reset === null ? backoff(attempt) : spread(reset.ms, attempt.random)
      const result = { kind: 'fault', holdMs: waitMs, reason: `HTTP ${status}` } as const
      return again(attempt, FAULT_ATTEMPTS, waitMs, `HTTP ${status}`, result)
    }
    case 'auth':
    case 'permission':
    case 'unknown_model': {
      const detail = `${error.kind} (HTTP ${status}): ${error.message}`
      return { retry: false, reason: detail, result: { kind: 'closing', reason: 'lane-failed', detail } }
    }
    // These say something of one prompt, not of the lane.
    case 'context_length':
    case 'content_filter':
      return { retry: false, reason: null, result: { kind: 'answered' } }
    case 'bad_request':
    case 'other':
      return { retry: false, reason: null, result: { kind: 'rejected', signature: `HTTP ${status}: ${error.message}` } }
  }
}

function afterFault(
  attempt: FailedAttempt,
  { phase, code, message }: Pick<ExchangeFault, 'phase' | 'code' | 'message'>,
) {
  if (phase === 'aborted') return { retry: false, reason: null, result: { kind: 'aborted' } } as const
  if (CERTIFICATE.test(code)) {
    return { retry: false, reason: code, result: { kind: 'rejected', signature: `${code}: ${message}` } } as const
  }
  const waitMs = backoff(attempt)
  return again(attempt, FAULT_ATTEMPTS, waitMs, code, { kind: 'fault', holdMs: waitMs, reason: code })
}

function afterThrottle(attempt: FailedAttempt, headers: HeaderList, body: unknown, what: string): RetryDecision {
  const { reset } = readReset(headers, body, attempt.now)
  const waitMs = reset === null ? backoff(attempt) : spread(reset.ms, attempt.random)
  const reason = reset === null ? what : `${what}, ${reset.source}`
  return again(attempt, THROTTLED_ATTEMPTS, waitMs, reason, { kind: 'throttled', holdMs: waitMs, reason })
}

function afterQuota(attempt: FailedAttempt, headers: HeaderList, body: unknown, message: string): RetryDecision {
  const { reset, unusable } = readReset(headers, body, attempt.now)
  if (reset !== null) {
    const waitMs = spread(reset.ms, attempt.random)
    const reason = `quota used up, ${reset.source}`
    return again(attempt, THROTTLED_ATTEMPTS, waitMs, reason, { kind: 'throttled', holdMs: waitMs, reason })
  }
  const told = unusable.length === 0 ? 'the provider tells no reset' : unusable.join(', ')
  const detail = `the quota is used up and ${told}: ${message}`
  return { retry: false, reason: detail, result: { kind: 'closing', reason: 'lane-exhausted', detail } }
}

/** The result stands either way: what the lane is to learn does not depend on who still has time. */
function again(
  { attempt, deadlineLeftMs }: FailedAttempt,
  attempts: number,
  waitMs: number,
  reason: string,
  result: AttemptResult,
): RetryDecision {
  if (attempt >= attempts) return { retry: false, reason: `${reason}: given up after ${attempt} attempts`, result }
  // Not waited at all, rather than in vain. NaN has no time left.
  if (!(waitMs < deadlineLeftMs)) {
    const left = Math.max(0, Math.round(deadlineLeftMs)) || 0
    return { retry: false, reason: `${reason}: a wait of ${Math.round(waitMs)} ms, and ${left} ms are left`, result }
  }
  return { retry: true, afterMs: waitMs, reason, result }
}

/** Doubles with every attempt, to a minute; the upper half of it is random, so that nobody's wait rounds to nothing. */
function backoff({ attempt, random }: FailedAttempt): number {
  const full = Math.min(MAX_BACKOFF_MS, BASE_MS * 2 ** Math.max(0, attempt - 1))
  return Math.round(full / 2 + (full / 2) * unit(random))
}

function spread(ms: number, random: number): number {
  return Math.round(ms + Math.min(ms * SPREAD, MAX_SPREAD_MS) * unit(random))
}

const unit = (random: number): number => (random >= 0 && random < 1 ? random : 0.5)
