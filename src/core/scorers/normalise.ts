import type { ScorerRole } from '../campaign/definition.ts'
import { nameOf } from '../campaign/options.ts'
import { cut } from '../record/output.ts'
import type { RecordedScore } from '../record/record.ts'

/** What of a scorer decides how its values are read. */
export interface ScoredBy {
  readonly name: string
  readonly role: ScorerRole
  /** Null: unbounded. */
  readonly scale: readonly [lowest: number, highest: number] | null
  readonly passAt: number | null
}

/** A scorer gave something that is no score: a bug in the scorer, never a score of 0. */
export class InvalidScoreError extends TypeError {
  override readonly name = 'InvalidScoreError'
}

/** Longest rationale kept, in UTF-16 code units. */
const RATIONALE_LENGTH = 2000

/**
 * A score as records keep it: booleans are 1 and 0, `pass` comes from the value, from `passAt` or from a boolean.
 *
 * @throws InvalidScoreError for anything that is no ScoreValue on the scorer's scale
 */
export function normaliseScore(scorer: ScoredBy, given: unknown): RecordedScore {
  const refuse = (problem: string): never => {
    throw new InvalidScoreError(`scorer ${JSON.stringify(scorer.name)} ${problem}`)
  }
  const { value, pass, rationale } = partsOf(given, refuse)
  const recorded = {
    value: numberOf(scorer, value, refuse),
    pass: passOf(scorer, value, pass, refuse),
    role: scorer.role,
  }
  return rationale === undefined ? recorded : { ...recorded, rationale: cut(rationale, RATIONALE_LENGTH) }
}

/** The entry of a scorer that threw or gave no valid score; the message is redacted by the caller. */
export function failedScore(scorer: Pick<ScoredBy, 'role'>, message: string): RecordedScore {
  return { value: null, pass: null, role: scorer.role, error: cut(message, RATIONALE_LENGTH) }
}

type Refusal = (problem: string) => never
interface Parts {
  readonly value: number | boolean | null
  readonly pass: boolean | null | undefined
  readonly rationale: string | undefined
}
const PARTS = ['value', 'pass', 'rationale']
const EXPECTED = 'return a boolean, a number, null for "no opinion", or { value, pass?, rationale? }'

function partsOf(given: unknown, refuse: Refusal): Parts {
  if (isValue(given)) return { value: given, pass: undefined, rationale: undefined }
  if (typeof given !== 'object' || Array.isArray(given)) return refuse(`gave ${nameOf(given)}: ${EXPECTED}`)
  const { value, pass, rationale } = given as Readonly<Record<string, unknown>>
  const stray = Object.keys(given as object).find((key) => !PARTS.includes(key))
  if (stray !== undefined) return refuse(`gave an object with ${JSON.stringify(stray)}: ${EXPECTED}`)
  if (!isValue(value)) return refuse(`gave ${nameOf(value)} as value: ${EXPECTED}`)
  if (pass !== undefined && pass !== null && typeof pass !== 'boolean') {
    return refuse(`gave ${nameOf(pass)} as pass: it must be true, false or null`)
  }
  if (rationale !== undefined && typeof rationale !== 'string') {
    return refuse(`gave ${nameOf(rationale)} as rationale: it must be text`)
  }
  return { value, pass, rationale }
}

const isValue = (value: unknown): value is number | boolean | null =>
  value === null || typeof value === 'number' || typeof value === 'boolean'

function numberOf({ scale }: ScoredBy, value: number | boolean | null, refuse: Refusal): number | null {
  if (value === null) return null
  if (typeof value === 'boolean') {
    if (scale === null || (scale[0] === 0 && scale[1] === 1)) return value ? 1 : 0
    return refuse(`gave ${value} on the scale [${scale.join(', ')}], where it has no place: return a number`)
  }
  if (!Number.isFinite(value)) return refuse(`gave ${value}: return a finite number, or null for "no opinion"`)
  if (scale !== null && (value < scale[0] || value > scale[1])) {
    return refuse(
      `gave ${value}, outside its scale [${scale.join(', ')}]: declare another \`scale\`, or clamp the value`,
    )
  }
  return value
}

function passOf(scorer: ScoredBy, value: Parts['value'], pass: Parts['pass'], refuse: Refusal): boolean | null {
  if (value === null) {
    return typeof pass === 'boolean'
      ? refuse(`gave pass ${pass} without a value: "no opinion" neither passes nor fails`)
      : null
  }
  if (pass !== undefined) return pass
  if (typeof value === 'boolean') return value
  return scorer.passAt === null ? null : value >= scorer.passAt
}
