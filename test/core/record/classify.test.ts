import assert from 'node:assert'
import { describe, expect, test } from 'vitest'
import { classifyThrow, type ThrowFacts } from '../../../src/core/record/classify.ts'
import { errorChain, textOf } from '../../../src/core/record/error-chain.ts'
import { TaskFailure } from '../../../src/core/record/task-failure.ts'
import type { ExchangeFault, ExchangeResponse, ProviderErrorKind } from '../../../src/core/traffic/exchange.ts'
import { reading } from './cell-facts.ts'

type Calls = ThrowFacts['calls']

const answer: ExchangeResponse = {
  kind: 'response',
  status: 200,
  statusText: 'OK',
  headers: [],
  body: null,
  cuts: [],
  end: { kind: 'complete' },
}
const good: Calls[number] = { outcome: answer, source: 'live', reading }
const refused = (kind: ProviderErrorKind, status: number, message = 'please slow down a little'): Calls[number] => ({
  outcome: { ...answer, status },
  source: 'live',
  reading: { ...reading, usage: null, usageMissing: 'error-response', error: { kind, message } },
})
const reset = (phase: ExchangeFault['phase'] = 'headers'): Calls[number] => ({
  outcome: { kind: 'fault', phase, code: 'ECONNRESET', message: 'read ECONNRESET' },
  source: 'live',
  reading: { ...reading, usage: null, usageMissing: 'incomplete', error: { kind: 'other', message: 'ECONNRESET: …' } },
})

function classify(thrown: unknown, changes: Partial<ThrowFacts> = {}) {
  return classifyThrow({ thrown, endedBy: null, deadlineMs: 600, waitedMs: 0, calls: [], ...changes })
}
const withStatus = (status: number, message = 'x') => Object.assign(new Error(message), { status })
const fetchFailed = new TypeError('fetch failed', {
  cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
})

describe('the subject speaks for itself', () => {
  test('ctx.fail with text and with a class', () => {
    expect(classify(new TaskFailure('gave up'))).toEqual({
      outcome: { kind: 'failed', status: 'task_fail', failure: { class: 'unknown', message: 'gave up' } },
      red: false,
    })
    const failure = { class: 'hallucination', mode: 'citation', message: 'no such page' } as const
    expect(classify(new TaskFailure(failure)).outcome.failure).toEqual(failure)
  })

  test('assertions of expect and of node:assert', () => {
    for (const check of [() => expect(1).toBe(2), () => assert.equal(1, 2)]) {
      let thrown: unknown
      try {
        check()
      } catch (error) {
        thrown = error
      }
      expect(classify(thrown)).toMatchObject({
        outcome: { status: 'task_fail', failure: { mode: 'assertion' } },
        red: false,
      })
    }
  })

  test('an assertion after a provider fault is still an assertion', () => {
    const assertion = Object.assign(new Error('expected 429'), { name: 'AssertionError' })
    const { outcome } = classify(assertion, { calls: [refused('rate_limit', 429)] })
    expect(outcome.failure.mode).toBe('assertion')
  })
})

describe('time is up', () => {
  test('by the deadline alone', () => {
    expect(classify(new Error('aborted'), { endedBy: 'deadline' })).toMatchObject({
      outcome: { status: 'task_fail', failure: { class: 'timeout', mode: 'deadline', message: /600 ms/ } },
      red: false,
    })
  })
  test('after a wait that explains nothing: every call waits a moment for its permit', () => {
    expect(classify(new Error('aborted'), { endedBy: 'deadline', waitedMs: 12.3 })).toMatchObject({
      outcome: { status: 'task_fail', failure: { class: 'timeout' } },
      red: false,
    })
  })
  test('after waiting for limits', () => {
    expect(classify(new Error('aborted'), { endedBy: 'deadline', waitedMs: 123 })).toMatchObject({
      outcome: { status: 'infra_error', reason: 'deadline-while-waiting' },
      red: false,
    })
  })
  test('an answer with nothing readable in it is a fault of the provider', () => {
    const empty: Calls[number] = {
      outcome: answer,
      source: 'live',
      reading: { ...reading, complete: false, usage: null, usageMissing: 'unreadable' },
    }
    expect(classify(new SyntaxError('Unexpected end of JSON input'), { calls: [empty] })).toMatchObject({
      outcome: { status: 'infra_error', reason: 'provider-fault' },
      red: false,
    })
    expect(classify(new TypeError('x is not a function'), { calls: [empty] }).red).toBe(true)
  })
  test('by shutdown', () => {
    expect(classify(new Error('aborted'), { endedBy: 'shutdown' })).toMatchObject({
      outcome: { status: 'infra_error', reason: 'interrupted' },
      red: false,
    })
  })
})

describe('a provider fault that run lets through', () => {
  test.each<[ProviderErrorKind, number, string, string]>([
    ['rate_limit', 429, 'provider-fault', 'integration_provider_failure'],
    ['overloaded', 529, 'provider-fault', 'integration_provider_failure'],
    ['server', 500, 'provider-fault', 'integration_provider_failure'],
    ['quota', 429, 'lane-exhausted', 'integration_provider_failure'],
    ['auth', 401, 'lane-failed', 'missing_credentials'],
    ['permission', 403, 'lane-failed', 'missing_integration_scope'],
    ['unknown_model', 404, 'lane-failed', 'bad_integration_manifest'],
  ])('%s', (kind, status, reason, failureClass) => {
    expect(classify(withStatus(status), { calls: [good, refused(kind, status)] })).toMatchObject({
      outcome: { status: 'infra_error', reason, failure: { class: failureClass, mode: kind } },
      red: false,
    })
  })

  test.each<[string, unknown]>([
    ['status on an SDK error', withStatus(429)],
    ['statusCode', Object.assign(new Error('x'), { statusCode: 429 })],
    ['axios', Object.assign(new Error('x'), { response: { status: 429 } })],
    ['a number in the message', new Error('HTTP 429')],
    ["the provider's words", new Error('gave up: please slow down a little')],
    ['a cause', new Error('x', { cause: withStatus(429) })],
    ['an aggregate', Object.assign(new Error('retries spent'), { errors: [new Error('y'), withStatus(429)] })],
  ])('is recognised by %s', (_, thrown) => {
    expect(classify(thrown, { calls: [refused('rate_limit', 429)] }).outcome.status).toBe('infra_error')
  })

  test.each<[string, unknown, Calls[number]]>([
    ['fetch', fetchFailed, reset()],
    ['fetch before the connection', fetchFailed, reset('connect')],
    ['an SDK', Object.assign(new Error('Connection error.'), { name: 'APIConnectionError' }), reset()],
    ['node:http', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }), reset()],
    [
      'a broken body',
      new TypeError('terminated'),
      {
        ...good,
        outcome: { ...answer, end: { kind: 'broken', code: 'UND_ERR_SOCKET', message: 'other side closed' } },
      },
    ],
  ])('network: %s', (_, thrown, last) => {
    expect(classify(thrown, { calls: [last] })).toMatchObject({
      outcome: { status: 'infra_error', reason: 'provider-fault', failure: { mode: 'network' } },
      red: false,
    })
  })

  test.each<[ProviderErrorKind, string]>([
    ['context_length', 'budget_exceeded'],
    ['content_filter', 'policy_violation'],
  ])('%s is the failure of the subject', (kind, failureClass) => {
    expect(classify(withStatus(400), { calls: [refused(kind, 400)] })).toMatchObject({
      outcome: { status: 'task_fail', failure: { class: failureClass, mode: kind } },
      red: false,
    })
  })
})

describe('a bug', () => {
  const bug = new TypeError("Cannot read properties of undefined (reading 'content')")
  test.each<[string, unknown, Calls]>([
    ['without calls', bug, []],
    ['after a good answer', bug, [good]],
    ['after a fault that run survived', bug, [refused('server', 500), good]],
    ['after a network fault that run survived', bug, [reset()]],
    ['a bad request', withStatus(400), [refused('bad_request', 400)]],
    ['a 429 of a mocked tool', withStatus(429), [{ ...refused('rate_limit', 429), source: 'mocked' }]],
    ['a 429 of a host that is no provider', withStatus(429), [{ ...refused('rate_limit', 429), reading: null }]],
    ['another number that holds the status', new Error('row 4291'), [refused('rate_limit', 429)]],
    ['an aborted call', new Error('x'), [reset('aborted')]],
    ['a thrown text', 'boom', []],
    ['a thrown undefined', undefined, []],
  ])('%s is red', (_, thrown, calls) => {
    expect(classify(thrown, { calls })).toMatchObject({
      outcome: { status: 'task_fail', failure: { class: 'unknown', mode: 'error' } },
      red: true,
    })
  })

  test('its message is cut', () => {
    expect(classify(new Error('x'.repeat(5000))).outcome.failure.message).toHaveLength(2000)
  })
})

test('a circular chain of causes ends', () => {
  const error: Error & { cause?: unknown } = new Error('x')
  error.cause = { cause: error }
  expect(errorChain(error)).toHaveLength(2)
})

test('any thrown value has a text', () => {
  expect([new Error('x'), new RangeError(''), 'y', null, Object.create(null)].map(textOf)).toEqual([
    'x',
    'RangeError',
    'y',
    'null',
    'a thrown value that has no text',
  ])
})
