import type { Payload } from '../../core/campaign/listing.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { LoadedScorer } from '../../core/campaign/scoring.ts'
import type { RecordedScore } from '../../core/record/record.ts'
import { failedScore, normaliseScore } from '../../core/scorers/normalise.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import type { Clock } from '../replay/clock.ts'
import { Deadline } from './deadline.ts'
import { thrownAt } from './frames.ts'

export interface ScoringInput {
  readonly scorers: readonly LoadedScorer[]
  readonly cell: PlannedCell
  readonly variant: Payload
  readonly scenario: Payload
  readonly output: unknown
  readonly fetch: typeof globalThis.fetch
  readonly deadline: Deadline
  readonly clock: Clock
  readonly redactor: Redactor
  /** Of the project: places are named relative to it. */
  readonly root: string
}

export interface Scoring {
  readonly scores: { readonly [name: string]: RecordedScore }
  /** The first throw of a `code` scorer: a bug in the user's code. */
  readonly bug: unknown
  /** Names of the scorers that gave a promise: no other can have seen what came of a request. */
  readonly waited: readonly string[]
}

/**
 * Runs the scorers that apply, side by side; each one's failure is its own. A promise only where a scorer gave one:
 * most are done at once, and a campaign has tens of thousands of cells.
 */
export function scoreOutput(input: ScoringInput): Scoring | Promise<Scoring> {
  const scores: Record<string, RecordedScore> = {}
  const pending: Promise<void>[] = []
  const waited: string[] = []
  let bug: unknown = null
  for (const scorer of input.scorers) {
    const fail = (error: unknown): void => {
      if (scorer.role === 'code') bug ??= error
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
      const value = settleInTime(scorer, input)
      if (value instanceof Promise) {
        waited.push(scorer.name)
        pending.push(value.then(keep).catch(fail))
      } else keep(value)
    } catch (error) {
      fail(error)
    }
  }
  if (pending.length === 0) return { scores, bug, waited }
  const inOrder = (): Scoring['scores'] =>
    Object.fromEntries(
      input.scorers.flatMap(({ name }) => (Object.hasOwn(scores, name) ? [[name, scores[name] as RecordedScore]] : [])),
    )
  return Promise.all(pending).then(() => ({ scores: inOrder(), bug, waited }))
}

/**
 * What is left of scores when a request of the scorers was lost. Which of them made it nobody knows, and one may have
 * swallowed the refusal and scored all the same: none that waited for anything has a score.
 */
export function withoutLost(scoring: Scoring, message: string): Scoring {
  const scores = { ...scoring.scores }
  for (const name of scoring.waited) {
    const score = scores[name]
    if (score !== undefined && score.error === undefined) scores[name] = failedScore(score, message)
  }
  return { ...scoring, scores }
}

/** The scorer's answer, bounded by its own timeout and by the cell's deadline (which stands still during waits). */
function settleInTime(scorer: LoadedScorer, input: ScoringInput): unknown {
  const { deadline, cell } = input
  const own = scorer.timeout === null ? null : new Deadline(scorer.timeout, input.clock)
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
  if (own?.endedBy === 'deadline') return late(`its timeout of ${(scorer.timeout ?? 0) / 1000} s`)
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
