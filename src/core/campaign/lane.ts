import type { Refuse } from './definition-error.ts'
import type { Member, Payload } from './listing.ts'
import { checkText, nameOf } from './options.ts'

/** Providers whose model names tell who serves them. */
const OWNERS: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^(gpt-|chatgpt-|o[134](-|$)|text-embedding-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
]

/**
 * The declared lane of a variant: its own `lane`, else the campaign's (a name, or a function that may answer null),
 * else what its other fields show, else null.
 */
export function declaredLane({ id, path, payload }: Member, lane: unknown, refuse: Refuse): string | null {
  if (payload.lane !== undefined) {
    checkText(payload.lane, `${path}.lane`, refuse)
    return payload.lane
  }
  if (lane === undefined) return laneOfPayload(payload)
  if (typeof lane !== 'function') {
    checkText(lane, 'lane', refuse)
    return lane
  }
  let named: unknown
  try {
    named = lane(payload)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    refuse('lane', `threw for the variant ${JSON.stringify(id)}: ${message}`, { cause: error })
  }
  if (named === null) return laneOfPayload(payload)
  if (typeof named === 'string' && named.trim() !== '') return named
  return refuse('lane', `gave ${nameOf(named)} for the variant ${JSON.stringify(id)}: return a name, or null`)
}

/**
 * The lane a variant's own fields show: `provider/model`. A model that carries its provider (`openai/gpt-5-mini`) is
 * kept; one without is given its provider where the name tells it; otherwise null, and the wire says the lane later.
 */
export function laneOfPayload({ model, provider }: Payload): string | null {
  if (typeof model !== 'string' || model.trim() === '') return null
  if (typeof provider === 'string' && provider.trim() !== '') {
    return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`
  }
  if (model.includes('/')) return model
  const owner = OWNERS.find(([pattern]) => pattern.test(model))
  return owner === undefined ? null : `${owner[1]}/${model}`
}

/** Whether the name of a lane can only be a model's: `openai/gpt-5`, and not `openai/batch`. */
export function namesModel(lane: string): boolean {
  return OWNERS.some(
    ([pattern, provider]) => lane.startsWith(`${provider}/`) && pattern.test(lane.slice(provider.length + 1)),
  )
}
