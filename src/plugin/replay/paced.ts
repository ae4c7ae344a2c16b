import type { AttemptResult, PermitOutcome } from '../../core/capacity/events.ts'
import { requestBound, requestSize } from '../../core/capacity/request.ts'
import { type FailedAttempt, type RetryDecision, retryDecision } from '../../core/capacity/retry.ts'
import { overrideOf, priceExchange } from '../../core/record/cost.ts'
import type { Exchange, HeaderList } from '../../core/traffic/exchange.ts'
import { classifyError } from '../../core/traffic/wire/errors.ts'
import { parseJson } from '../../core/traffic/wire/peek.ts'
import { readExchange, readRequest } from '../../core/traffic/wire/read.ts'
import {
  type Arrived,
  type Attempt,
  type Flight,
  faultExchange,
  handOn,
  readWhole,
  responseExchange,
  send,
} from './attempt.ts'
import { type Answer, canHaveBody } from './call.ts'
import { AS_RECORDED } from './chunks.ts'
import { errorOf, faultAnswer } from './fault.ts'
import { type Permit, type Refusal, UNKNOWN, UNSENT } from './permit.ts'
import type { CellCall } from './recorder.ts'
import { notAdmitted, refusal, refuseLate } from './refusal.ts'
import { type CapturedBody, playback } from './stream.ts'
import type { LostCall } from './traffic.ts'

/** An attempt that brought no answer, and what gives it to the client if it was the last. */
interface Failed {
  readonly exchange: Exchange
  readonly answer: () => Answer
  readonly delayMs: number
}

/**
 * Carries a call to a model provider: each attempt waits for its permit, and one that fails for now is made again,
 * before the client has seen a byte of it. What the client gets is kept as the exchange; every attempt is captured.
 */
export async function paced(flight: Flight, lane: string): Promise<Answer> {
  const { cellCall, parts, controller, over } = flight
  const { call, cell, role, scorer, request, keep } = cellCall
  const { signal } = controller
  const { tokens, mostInput } = requestSize(request)
  const { prices } = parts.settings
  const reading = readRequest(request)
  const costOf = (input: number, output: number | null) =>
    requestBound(reading, lane, { input, output }, new Date(parts.clock.epoch()), prices)
  const money = { boundMicroUsd: costOf(mostInput, tokens.output), leastMicroUsd: costOf(tokens.input, 0) }
  const spent = cell.isSpent(cellCall.key)
  let failed: Failed | null = null
  function end(last: Failed | null, answer: Answer): Answer {
    if (last !== null) keep(last.exchange)
    over()
    return answer
  }
  for (let number = 1; ; number++) {
    let permit: Permit | Refusal
    try {
      permit = await cell.permits.ask({ lane, role, tokens, ...money, delayMs: failed?.delayMs ?? 0 }, signal)
    } catch (error) {
      if (signal.aborted) return end(failed, faultAnswer(signal))
      return end(failed, failed === null ? notAdmitted(cellCall, parts, error) : failed.answer())
    }
    if (!permit.granted) {
      if (failed !== null) return end(failed, failed.answer())
      const { reason, detail = null } = permit
      cell.lose({ role, scorer, reason, message: `a request was not sent: ${detail ?? reason}` })
      const why = detail === null ? reason : `${reason}: ${detail}`
      const message = `vitest-campaign: ${request.method} ${request.url} was not sent (${why})`
      return end(null, refusal(call.url, 'not_admitted', parts.redactor.text(message).text))
    }
    if (signal.aborted || cell.closed) {
      permit.done(UNSENT)
      return end(failed, signal.aborted ? faultAnswer(signal) : refuseLate(call, cell, role, parts))
    }

    const tried = await tryOnce(flight, lane, permit, number, spent)
    if (tried.kind === 'handed on') return tried.answer
    if (!tried.again) return end(tried, tried.answer())
    cell.retry(tried.exchange)
    failed = { ...tried, answer: tried.last }
  }
}

type Tried =
  /** The end of its body gives the permit back. */
  | { readonly kind: 'handed on'; readonly answer: Answer }
  | (Failed & {
      readonly kind: 'failed'
      readonly again: boolean
      /** The answer where it is not made again after all. */
      readonly last: () => Answer
    })

/** One attempt under its permit, which goes back however this ends: with what was learnt, or as a call nobody knows of. */
async function tryOnce(flight: Flight, lane: string, permit: Permit, number: number, spent: boolean): Promise<Tried> {
  const { cell, key, keep } = flight.cellCall
  let outcome: PermitOutcome | null = UNKNOWN
  try {
    const attempt = await send(flight)
    const retried = number - 1
    if (attempt.kind === 'response' && attempt.response.status < 400) {
      cell.setSpent(key, false)
      const answer = handOn(flight, attempt, (captured) => {
        let learnt = UNKNOWN
        try {
          const exchange = responseExchange(flight, attempt, captured, retried)
          keep(exchange)
          learnt = outcomeOf(flight, lane, exchange, answeredResult(flight, attempt, captured, exchange))
        } catch (error) {
          // Inside a stream's event nobody could catch it.
          cell.lose(notRecorded(flight.cellCall, error))
        } finally {
          permit.done(learnt)
          flight.over()
        }
      })
      outcome = null
      return { kind: 'handed on', answer }
    }
    const captured = attempt.kind === 'response' ? await readWhole(flight, attempt) : null
    const decision = decide(flight, attempt, captured, number)
    const again = decision.retry && !spent
    const told = again || decision.reason === null ? attempt : withoutRetry(attempt)
    const exchange =
      told.kind === 'fault'
        ? faultExchange(flight, told, retried)
        : responseExchange(flight, told, captured as CapturedBody, retried) // read above
    outcome = outcomeOf(flight, lane, exchange, decision.result)
    if (!again && decision.reason !== null) cell.setSpent(key, true)
    return {
      kind: 'failed',
      again,
      exchange,
      answer: () => answerOf(flight, told, captured),
      last: () => answerOf(flight, withoutRetry(attempt), captured),
      delayMs: decision.retry ? decision.afterMs : 0,
    }
  } finally {
    if (outcome !== null) permit.done(outcome)
  }
}

/** What is told of a call that the recorder itself lost: it may have been billed. */
export function notRecorded({ role, scorer }: Pick<CellCall, 'role' | 'scorer'>, error: unknown): LostCall {
  const why = error instanceof Error ? error.message : String(error)
  return {
    role,
    scorer,
    reason: 'provider-fault',
    message: `the recorder failed in a call, and its answer is not kept: ${why}`,
  }
}

function decide(
  { cellCall: { cell }, parts }: Flight,
  attempt: Attempt,
  captured: CapturedBody | null,
  number: number,
): RetryDecision {
  return retryDecision({
    outcome: attempt.kind === 'fault' ? attempt.fault : errorOutcome(attempt, captured),
    attempt: number,
    deadlineLeftMs: cell.options.leftMs(),
    now: parts.clock.epoch(),
    random: parts.random(),
  })
}

function errorOutcome(
  { response: { status, headers } }: Arrived,
  captured: CapturedBody | null,
): FailedAttempt['outcome'] {
  const text = captured === null ? '' : Buffer.from(captured.bytes).toString('utf8')
  const body = parseJson(text)
  return { kind: 'response', status, headers, body, error: classifyError(status, body, text) }
}

/** What a lane learns from an answer that the client has: it may tell an error in its stream, or break off. */
function answeredResult(
  { cellCall: { cell }, parts, controller }: Flight,
  { response: { status, headers } }: Arrived,
  { end }: CapturedBody,
  exchange: Exchange,
): AttemptResult {
  if (end.kind === 'client-abort') return { kind: 'aborted' }
  const error = readExchange(exchange)?.error ?? null
  if (end.kind !== 'broken' && error === null) return { kind: 'answered' }
  const outcome: FailedAttempt['outcome'] =
    error === null && end.kind === 'broken'
      ? {
          kind: 'fault',
          phase: controller.signal.aborted ? 'aborted' : 'headers',
          code: end.code,
          message: end.message,
        }
      : { kind: 'response', status, headers, body: undefined, error }
  const now = parts.clock.epoch()
  return retryDecision({ outcome, attempt: 1, deadlineLeftMs: cell.options.leftMs(), now, random: parts.random() })
    .result
}

/** What the provider told of the attempt; `result` of a call that is no model's says nothing of the models. */
function outcomeOf({ parts }: Flight, lane: string, exchange: Exchange, result: AttemptResult): PermitOutcome {
  const reading = readExchange(exchange)
  const strange = reading === null && result.kind === 'rejected'
  const { input = null, output = null } = reading?.usage ?? {}
  const { prices } = parts.settings
  const free = overrideOf(lane, prices) === 0 ? 0 : null
  return {
    result: strange ? { kind: 'answered' } : result,
    tokens: input === null || output === null ? null : { input, output },
    microUsd: reading === null ? free : priceExchange(reading, new Date(exchange.startedAt), prices).microUsd,
  }
}

const SHOULD_RETRY = 'x-should-retry'

/** The SDKs of OpenAI and Anthropic heed this header: what we made again is not made again by them. */
function withoutRetry(attempt: Attempt): Attempt {
  if (attempt.kind === 'fault') return attempt
  const headers: HeaderList = [
    ...attempt.response.headers.filter(([name]) => name !== SHOULD_RETRY),
    [SHOULD_RETRY, 'false'],
  ]
  return { ...attempt, response: { ...attempt.response, headers } }
}

function answerOf(
  { cellCall: { call }, parts, controller }: Flight,
  attempt: Attempt,
  captured: CapturedBody | null,
): Answer {
  const { signal } = controller
  if (attempt.kind === 'fault')
    return signal.aborted ? faultAnswer(signal) : { kind: 'fault', error: errorOf(attempt.fault) }
  if (signal.aborted) return faultAnswer(signal)
  const { status, statusText, headers } = attempt.response
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const { bytes, cuts, end } = captured ?? { bytes: new Uint8Array(), cuts: [], end: { kind: 'complete' } as const }
  const body = canHaveBody(call.method, status)
    ? playback(bytes, cuts, { clock: parts.clock, signal: call.signal, end, style: AS_RECORDED, contentType })
    : null
  return { kind: 'response', url: call.url, redirected: false, status, statusText, headers, body }
}
