import type { Exchange, ProviderErrorKind, WireReading } from '../traffic/exchange.ts'
import { MESSAGE_LENGTH, type SubjectOutcome } from './build.ts'
import { errorChain, textOf } from './error-chain.ts'
import type { Failure, FailureClass } from './failure.ts'
import { cut } from './output.ts'
import type { StatusReason } from './status.ts'
import { TaskFailure } from './task-failure.ts'

/** What ended `run` other than its own return. */
export interface ThrowFacts {
  readonly thrown: unknown
  /** Who aborted the cell's signal before the throw: its deadline, the shutdown, or nobody. */
  readonly endedBy: 'deadline' | 'shutdown' | null
  /** The cell's deadline in milliseconds, for the message. */
  readonly deadlineMs: number
  /** Milliseconds the cell waited for holds and pacing inside the deadline. */
  readonly waitedMs: number
  /** The subject's calls, in order. */
  readonly calls: readonly (Pick<Exchange, 'outcome' | 'source'> & { readonly reading: WireReading | null })[]
}

/** What a throw from `run` means for the cell, and whether its test is red. */
export interface ThrowVerdict {
  /** The failure's message is as thrown: redact it before it is kept. */
  readonly outcome: FailedSubject
  readonly red: boolean
}
type FailedSubject = Extract<SubjectOutcome, { kind: 'failed' }>

type ErrorMeaning = { readonly class: FailureClass } & (
  | { readonly status: 'task_fail'; readonly reason?: undefined }
  | { readonly status: 'infra_error'; readonly reason: StatusReason }
)

const FAULT = {
  status: 'infra_error',
  reason: 'provider-fault',
  class: 'integration_provider_failure',
} as const satisfies ErrorMeaning

/** What a provider's error means once retries are spent and `run` lets it through; null: the code is at fault. */
const MEANINGS: { readonly [kind in ProviderErrorKind]: ErrorMeaning | null } = {
  rate_limit: FAULT,
  overloaded: FAULT,
  server: FAULT,
  quota: { ...FAULT, reason: 'lane-exhausted' },
  auth: { ...FAULT, reason: 'lane-failed', class: 'missing_credentials' },
  permission: { ...FAULT, reason: 'lane-failed', class: 'missing_integration_scope' },
  unknown_model: { ...FAULT, reason: 'lane-failed', class: 'bad_integration_manifest' },
  // The prompt of this scenario was too long, or refused: a property of the subject, not of its code.
  context_length: { status: 'task_fail', class: 'budget_exceeded' },
  content_filter: { status: 'task_fail', class: 'policy_violation' },
  bad_request: null,
  other: null,
}

/**
 * Classifies a throw from `run`, once: the deadline and the shutdown first, then what the subject says of itself
 * (`ctx.fail`, an assertion), then a provider fault that the throw comes from, and a bug in the code last.
 */
export function classifyThrow(facts: ThrowFacts): ThrowVerdict {
  const { thrown, endedBy, deadlineMs, waitedMs } = facts
  if (endedBy === 'shutdown') {
    return infraError('interrupted', { class: 'unknown', mode: 'interrupted', message: 'the run was stopped' })
  }
  if (endedBy === 'deadline') return missedDeadline(deadlineMs, waitedMs)
  if (thrown instanceof TaskFailure) return taskFail(thrown.failure, false)
  const message = cut(textOf(thrown), MESSAGE_LENGTH)
  if (thrown instanceof Error && thrown.name === 'AssertionError') {
    return taskFail({ class: 'unknown', mode: 'assertion', message }, false)
  }
  const fault = providerFaultOf(facts)
  if (fault === null) return taskFail({ class: 'unknown', mode: 'error', message }, true)
  const { meaning, mode } = fault
  const failure = { class: meaning.class, mode, message }
  return meaning.status === 'task_fail' ? taskFail(failure, false) : infraError(meaning.reason, failure)
}

const taskFail = (failure: Failure, red: boolean): ThrowVerdict => ({
  outcome: { kind: 'failed', status: 'task_fail', failure },
  red,
})

const infraError = (reason: StatusReason, failure: Failure): ThrowVerdict => ({
  outcome: { kind: 'failed', status: 'infra_error', reason, failure },
  red: false,
})

/** From this share of the deadline on, waits explain a missed one: every call waits a millisecond for its permit. */
const WAITING_SHARE = 0.1

function missedDeadline(deadlineMs: number, waitedMs: number): ThrowVerdict {
  if (waitedMs >= deadlineMs * WAITING_SHARE) {
    const message = `the deadline of ${deadlineMs} ms passed, ${Math.round(waitedMs)} ms of it waiting for the provider's limits`
    return infraError('deadline-while-waiting', { class: 'timeout', mode: 'deadline-while-waiting', message })
  }
  const message = `the deadline of ${deadlineMs} ms passed; raise \`timeout\` if the subject may take longer`
  return taskFail({ class: 'timeout', mode: 'deadline', message }, false)
}

/** True for an error that says nothing about the subject: its provider was down, full, or refused its key or model. */
export function isProviderFault(kind: ProviderErrorKind): boolean {
  return MEANINGS[kind]?.status === 'infra_error'
}

/** The latest failed provider call that the thrown error comes from. A fault that `run` survived explains nothing. */
function providerFaultOf({ thrown, calls }: ThrowFacts): { meaning: ErrorMeaning; mode: string } | null {
  const chain = errorChain(thrown)
  for (const { reading, outcome, source } of calls.toReversed()) {
    if (reading === null || source === 'mocked') continue
    if (outcome.kind === 'fault') {
      if (outcome.phase !== 'aborted' && chain.some((error) => tellsOfNetwork(error, outcome.code))) {
        return { meaning: FAULT, mode: 'network' }
      }
    } else if (outcome.end.kind === 'broken') {
      const { code } = outcome.end
      if (chain.some((error) => tellsOfNetwork(error, code))) return { meaning: FAULT, mode: 'network' }
    } else if (reading.error !== null) {
      const { kind, message } = reading.error
      const meaning = MEANINGS[kind]
      const status = outcome.status >= 400 ? outcome.status : null
      if (meaning !== null && chain.some((error) => tellsOfError(error, status, message))) {
        return { meaning, mode: kind }
      }
    } else if (!reading.complete && reading.usageMissing === 'unreadable' && chain.some(tellsOfParsing)) {
      // Status 200 and no answer in it: an empty body, the page of a proxy.
      return { meaning: FAULT, mode: 'unreadable' }
    }
  }
  return null
}

/** SDKs put the status on the error; hand-written fetch code puts it, or the provider's words, into the message. */
function tellsOfError(error: object, status: number | null, providerMessage: string): boolean {
  const text = textOf(error)
  if (providerMessage.length >= 8 && text.includes(providerMessage.slice(0, 200))) return true
  if (status === null) return false
  const { status: own, statusCode, code, response } = error as Readonly<Record<string, unknown>>
  const nested = typeof response === 'object' && response !== null && 'status' in response ? response.status : undefined
  return [own, statusCode, code, nested].includes(status) || new RegExp(`(?<!\\d)${status}(?!\\d)`).test(text)
}

function tellsOfParsing(error: object): boolean {
  return error instanceof SyntaxError || /\bJSON\b|unexpected (end|token)/i.test(textOf(error))
}

/** Words of fetch, undici and the SDKs for a connection that failed or broke. */
const NETWORK_WORDS = /^(fetch failed|terminated|connection error|network error|socket hang up|premature close)/i
const NETWORK_NAMES = /^(APIConnection\w*Error|FetchError|NetworkError|SocketError)$/

function tellsOfNetwork(error: object, code: string): boolean {
  const { name, code: own } = error as Readonly<Record<string, unknown>>
  const text = textOf(error)
  if (own === code || text.includes(code) || NETWORK_WORDS.test(text)) return true
  return (typeof name === 'string' && NETWORK_NAMES.test(name)) || NETWORK_NAMES.test(error.constructor?.name ?? '')
}
