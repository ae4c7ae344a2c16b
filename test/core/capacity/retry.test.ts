import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  FAULT_ATTEMPTS,
  type FailedAttempt,
  retryDecision,
  THROTTLED_ATTEMPTS,
} from '../../../src/core/capacity/retry.ts'
import { PROVIDER_ERRORS, type ProviderErrorKind } from '../../../src/core/traffic/exchange.ts'

const response = (
  status: number,
  kind: ProviderErrorKind | null,
  headers: Readonly<Record<string, string>> = {},
): FailedAttempt['outcome'] => ({
  kind: 'response',
  status,
  headers: Object.entries(headers),
  body: null,
  error: kind === null ? null : { kind, message: 'as the provider says' },
})
const fault = (code: string, phase: 'connect' | 'headers' | 'aborted' = 'headers'): FailedAttempt['outcome'] => ({
  kind: 'fault',
  phase,
  code,
  message: 'it broke',
})
const decide = (outcome: FailedAttempt['outcome'], more: Partial<FailedAttempt> = {}) =>
  retryDecision({ outcome, attempt: 1, deadlineLeftMs: 600_000, now: 0, random: 0.5, ...more })

test('an answer is no fault', () => {
  expect(decide(response(200, null))).toEqual({ retry: false, reason: null, result: { kind: 'answered' } })
})

test.each([
  [429, 'rate_limit'],
  [503, 'overloaded'],
  [529, 'overloaded'],
] as const)('%i is waited out as told, spread a little, and holds the lane as long', (status, kind) => {
  const told = (random: number) => decide(response(status, kind, { 'retry-after': '10' }), { random })
  expect(told(0)).toMatchObject({ retry: true, afterMs: 10_000, result: { kind: 'throttled', holdMs: 10_000 } })
  expect(told(0.999)).toMatchObject({ retry: true, afterMs: 10_999 })
})

test('without a usable time the wait doubles, to a minute, half of it random', () => {
  const wait = (attempt: number, random: number) => {
    const decision = decide(response(429, 'rate_limit', { 'retry-after': '31536000' }), { attempt, random })
    return decision.retry ? decision.afterMs : null
  }
  expect([1, 2, 3, 4, 7].map((attempt) => wait(attempt, 0))).toEqual([500, 1_000, 2_000, 4_000, 30_000])
  expect(wait(7, 0.999)).toBe(59_970)
  expect(wait(THROTTLED_ATTEMPTS, 0)).toBeNull()
})

test('a wait that would outlast the deadline is not begun; the lane is held all the same', () => {
  expect(decide(response(429, 'rate_limit', { 'retry-after': '10' }), { deadlineLeftMs: 10_500 })).toEqual({
    retry: false,
    reason: '429 rate_limit, retry-after: a wait of 10500 ms, and 10500 ms are left',
    result: { kind: 'throttled', holdMs: 10_500, reason: '429 rate_limit, retry-after' },
  })
  for (const deadlineLeftMs of [0, -1, Number.NaN]) {
    expect(decide(fault('ECONNRESET'), { deadlineLeftMs }).retry).toBe(false)
  }
})

test('a used-up quota waits for its reset, and closes the lane where no usable one is told', () => {
  expect(decide(response(429, 'quota', { 'retry-after': '30' }))).toMatchObject({
    retry: true,
    result: { kind: 'throttled', reason: 'quota used up, retry-after' },
  })
  expect(decide(response(429, 'quota'))).toMatchObject({
    retry: false,
    result: {
      kind: 'closing',
      reason: 'lane-exhausted',
      detail: 'the quota is used up and the provider tells no reset: as the provider says',
    },
  })
  expect(decide(response(402, 'quota', { 'retry-after': '86400' }))).toMatchObject({
    retry: false,
    reason: expect.stringContaining('retry-after "86400" is more than 15 minutes away'),
  })
})

test.each([
  [401, 'auth'],
  [403, 'permission'],
  [404, 'unknown_model'],
] as const)('%i %s closes the lane', (status, kind) => {
  expect(decide(response(status, kind))).toMatchObject({
    retry: false,
    result: { kind: 'closing', reason: 'lane-failed', detail: `${kind} (HTTP ${status}): as the provider says` },
  })
})

test('what one prompt did wrong says nothing of the lane; a bad request may', () => {
  expect(decide(response(400, 'context_length')).result).toEqual({ kind: 'answered' })
  expect(decide(response(400, 'content_filter')).result).toEqual({ kind: 'answered' })
  expect(decide(response(400, 'bad_request')).result).toEqual({
    kind: 'rejected',
    signature: 'HTTP 400: as the provider says',
  })
})

test('connection and server faults are tried again three times', () => {
  for (const outcome of [fault('ECONNRESET'), fault('ECONNREFUSED', 'connect'), response(500, 'server')]) {
    expect(decide(outcome)).toMatchObject({ retry: true, afterMs: 750, result: { kind: 'fault', holdMs: 750 } })
    expect(decide(outcome, { attempt: FAULT_ATTEMPTS - 1 }).retry).toBe(true)
    expect(decide(outcome, { attempt: FAULT_ATTEMPTS })).toMatchObject({
      retry: false,
      reason: expect.stringContaining('given up after 4 attempts'),
      result: { kind: 'fault' },
    })
  }
})

test('who gave up is not tried again, nor a certificate', () => {
  expect(decide(fault('ABORT_ERR', 'aborted')).result).toEqual({ kind: 'aborted' })
  expect(decide(fault('CERT_HAS_EXPIRED', 'connect'))).toMatchObject({ retry: false, result: { kind: 'rejected' } })
})

test('whatever a provider says, a wait is finite, positive, inside the deadline and below a quarter of an hour', () => {
  const text = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
  )
  let retried = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...PROVIDER_ERRORS),
      fc.integer({ min: 100, max: 599 }),
      fc.dictionary(
        fc.constantFrom(
          'retry-after',
          'retry-after-ms',
          'date',
          'x-ratelimit-reset-tokens',
          'anthropic-ratelimit-tokens-reset',
          'x-ratelimit-reset',
        ),
        text,
      ),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 0, max: 2_000_000 }),
      (kind, status, headers, random, attempt, deadlineLeftMs) => {
        const decision = decide(response(status, kind, headers), { random, attempt, deadlineLeftMs })
        if (!decision.retry) return
        retried++
        expect(decision.afterMs).toBeGreaterThan(0)
        expect(decision.afterMs).toBeLessThan(deadlineLeftMs)
        expect(decision.afterMs).toBeLessThanOrEqual(15 * 60_000 + 2_000)
      },
    ),
    { numRuns: 2_000 },
  )
  expect(retried).toBeGreaterThan(200)
})
