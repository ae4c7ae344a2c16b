import type { Payload } from '../../core/campaign/listing.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import type { LoadedScorer } from '../../core/campaign/scoring.ts'
import type { RecordedScore } from '../../core/record/record.ts'
import { normaliseScore } from '../../core/scorers/normalise.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import type { Clock } from '../replay/clock.ts'
import { Deadline } from './deadline.ts'

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
}

export interface Scoring {
  readonly scores: { readonly [name: string]: RecordedScore }
  /** The first throw of a `code` scorer: a bug in the user's code. */
  readonly bug: unknown
}

/** Runs the scorers that apply, side by side; each one's failure is its own. */
export async function scoreOutput(input: ScoringInput): Promise<Scoring> {
  const scores: Record<string, RecordedScore> = {}
  let bug: unknown = null
  await Promise.all(
    input.scorers.map(async (scorer) => {
      try {
        if (scorer.appliesTo !== null && !scorer.appliesTo(input.scenario)) return
        const value = await settleInTime(scorer, input)
        scores[scorer.name] = redacted(normaliseScore(scorer, value), input.redactor)
      } catch (error) {
        if (scorer.role === 'code') bug ??= error
        const text = error instanceof Error ? error.message : String(error)
        scores[scorer.name] = {
          value: null,
          pass: null,
          role: scorer.role,
          error: input.redactor.text(text).text.slice(0, 2_000),
        }
      }
    }),
  )
  return { scores, bug }
}

/** The scorer's answer, bounded by its own timeout and by the cell's deadline (which stands still during waits). */
async function settleInTime(scorer: LoadedScorer, input: ScoringInput): Promise<unknown> {
  const { deadline, cell } = input
  const { timeout } = scorer
  const own = timeout === null ? null : new Deadline(timeout, input.clock)
  const value = scorer.score({
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
  if (!isThenable(value)) {
    own?.clear()
    return value
  }
  const promised = Promise.resolve(value)
  try {
    return await deadline.bound(own === null ? promised : own.bound(promised))
  } catch (error) {
    const late = (bound: string): Error =>
      new Error(`scorer ${JSON.stringify(scorer.name)} did not settle within ${bound}`)
    if (own?.endedBy === 'deadline') throw late(`its timeout of ${(timeout ?? 0) / 1000} s`)
    if (deadline.endedBy === 'deadline') throw late("the cell's deadline")
    throw error
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
