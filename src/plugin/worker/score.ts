import type { Payload } from '../../core/campaign/listing.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import { callsProvider, type LoadedScorer } from '../../core/campaign/scoring.ts'
import type { RecordedScore } from '../../core/record/record.ts'
import type { StatusReason } from '../../core/record/status.ts'
import { failedScore, normaliseScore } from '../../core/scorers/normalise.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import type { LostCall } from '../replay/traffic.ts'
import type { Deadline } from './deadline.ts'
import { thrownAt } from './frames.ts'
import { type JudgeLine, NotJudgedError, underLease } from './judge-lease.ts'

export interface ScoringInput {
  readonly scorers: readonly LoadedScorer[]
  readonly cell: PlannedCell
  readonly variant: Payload
  readonly scenario: Payload
  readonly output: unknown
  readonly fetch: typeof globalThis.fetch
  readonly deadline: Deadline
  readonly redactor: Redactor
  /** Where scorers that call a provider wait for their turn; null: they need none. */
  readonly judges: JudgeLine | null
  /** Runs a scorer so that its calls are known to be its own. */
  readonly within: <T>(scorer: string, body: () => T) => T
  /** Of the project: places are named relative to it. */
  readonly root: string
}

export interface Scoring {
  readonly scores: { readonly [name: string]: RecordedScore }
  /** The first throw of a `code` scorer: a bug in the user's code. */
  readonly bug: unknown
  /** Names of the scorers that gave a promise: no other can have seen what came of a request. */
  readonly waited: readonly string[]
  /** Scorers that the run kept from a score, and why. */
  readonly unjudged: { readonly [name: string]: StatusReason }
}

/**
 * Runs the scorers that apply, side by side; each one's failure is its own. A promise only where a scorer gave one:
 * most are done at once, and a campaign has tens of thousands of cells.
 */
export function scoreOutput(input: ScoringInput): Scoring | Promise<Scoring> {
  const scores: Record<string, RecordedScore> = {}
  const pending: Promise<void>[] = []
  const waited: string[] = []
  const unjudged: Record<string, StatusReason> = {}
  let bug: unknown = null
  for (const scorer of input.scorers) {
    const fail = (error: unknown): void => {
      if (error instanceof NotJudgedError) unjudged[scorer.name] = error.reason
      // What the run itself cut off is nobody's bug.
      else if (scorer.role === 'code' && input.deadline.endedBy !== 'shutdown')
        bug ??= error ?? new Error(`a scorer has thrown ${error}`)
      const text = error instanceof Error ? error.message : String(error)
      const where = thrownAt(error, input.root)
      const said = input.redactor.text(where === null ? text : `${text} (${where})`).text
      scores[scorer.name] = failedScore(scorer, said)
    }
    const keep = (value: unknown): void => {
      scores[scorer.name] = redacted(normaliseScore(scorer, value), input.redactor)
    }
    try {
      if (scorer.appliesTo !== null && !scorer.appliesTo(input.scenario)) continue
      const value = inTurn(scorer, input)
      if (value instanceof Promise) {
        waited.push(scorer.name)
        pending.push(value.then(keep).catch(fail))
      } else keep(value)
    } catch (error) {
      fail(error)
    }
  }
  if (pending.length === 0) return { scores, bug, waited, unjudged }
  const inOrder = (): Scoring['scores'] =>
    Object.fromEntries(
      input.scorers.flatMap(({ name }) => (Object.hasOwn(scores, name) ? [[name, scores[name] as RecordedScore]] : [])),
    )
  return Promise.all(pending).then(() => ({ scores: inOrder(), bug, waited, unjudged }))
}

/**
 * What is left of scores when requests of the scorers were lost: one may have swallowed the refusal and scored all the
 * same. Of a request that nobody knows the scorer of, none that waited for anything has a score.
 */
export function withoutLost(scoring: Scoring, losses: readonly LostCall[]): Scoring {
  if (losses.length === 0) return scoring
  const scores = { ...scoring.scores }
  const unjudged = { ...scoring.unjudged }
  for (const { scorer, reason, message } of losses) {
    for (const name of scoring.waited) {
      const score = scores[name]
      if (score === undefined || (scorer !== null && scorer !== name)) continue
      unjudged[name] ??= reason
      if (score.error === undefined) scores[name] = failedScore(score, message)
    }
  }
  return { ...scoring, scores, unjudged }
}

/** The scorer's answer, under a judge lease where it calls a provider. */
function inTurn(scorer: LoadedScorer, input: ScoringInput): unknown {
  const { judges, cell, deadline, within } = input
  const { name, lane, timeout } = scorer
  if (judges === null || !callsProvider(scorer)) return within(name, () => settleInTime(scorer, input, timeout))
  // While it holds what others of the cell wait for, the cell's deadline stands still: it needs a bound of its own.
  const limit = timeout ?? deadline.limitMs
  const score = () => within(name, () => settleInTime(scorer, input, limit))
  return underLease(judges, { cellId: cell.cellId, lane, deadline }, score)
}

/** The scorer's answer, bounded by a limit of its own and by the cell's deadline (which stands still during waits). */
function settleInTime(scorer: LoadedScorer, input: ScoringInput, limitMs: number | null): unknown {
  const { deadline, cell } = input
  const own = limitMs === null ? null : deadline.part(limitMs)
  let value: unknown
  try {
    value = scorer.score({
      output: input.output,
      variant: input.variant as Payload & { readonly id: string },
      scenario: input.scenario as Payload & { readonly id: string },
      seed: cell.seed,
      cellId: cell.cellId,
      get signal() {
        return own === null ? deadline.signal : AbortSignal.any([own.signal, deadline.signal])
      },
      fetch: input.fetch,
    })
  } catch (error) {
    own?.clear()
    throw error
  }
  if (isThenable(value)) return bounded(scorer, Promise.resolve(value), own, deadline)
  own?.clear()
  // Nothing could stop it while it blocked the thread.
  if (own?.passed() || deadline.passed()) {
    const late = lateError(scorer, own, deadline)
    if (late !== null) throw late
  }
  return value
}

function lateError(scorer: LoadedScorer, own: Deadline | null, deadline: Deadline): Error | null {
  const late = (bound: string): Error =>
    new Error(`scorer ${JSON.stringify(scorer.name)} did not settle within ${bound}`)
  if (own?.endedBy === 'deadline') return late(`its timeout of ${own.limitMs / 1000} s`)
  return deadline.endedBy === 'deadline' ? late("the cell's deadline") : null
}

async function bounded(
  scorer: LoadedScorer,
  answer: Promise<unknown>,
  own: Deadline | null,
  deadline: Deadline,
): Promise<unknown> {
  try {
    return await deadline.bound(own === null ? answer : own.bound(answer))
  } catch (error) {
    throw lateError(scorer, own, deadline) ?? error
  } finally {
    own?.clear()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function redacted(score: RecordedScore, redactor: Redactor): RecordedScore {
  if (score.rationale === undefined && score.error === undefined) return score
  return {
    ...score,
    ...(score.rationale === undefined ? {} : { rationale: redactor.text(score.rationale).text }),
    ...(score.error === undefined ? {} : { error: redactor.text(score.error).text }),
  }
}
