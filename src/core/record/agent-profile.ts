import { z } from 'zod'
import type { Json } from '../campaign/canonical-json.ts'
import { type Digest, digestOf } from '../campaign/identity.ts'

export const AGENT_PROFILE_SCHEMA = 'vitest-campaign/agent-profile@1'

/** Who made an output, as `ctx.profile()` takes it. Runs are grouped by all of it, never by a loose label. */
export interface AgentProfileInput {
  /** `name@version`. */
  readonly id: string
  /** Where the agent is defined, and its content: the digest of it, or the definition itself, which is hashed. */
  readonly source: { readonly kind: string } & (
    | { readonly hash: string; readonly profile?: undefined }
    | { readonly profile: Json; readonly hash?: undefined }
  )
  readonly harness?: { readonly id: string; readonly version?: string; readonly hash?: string }
  /** The model it calls; a contradiction with the wire is the check `profile_mismatch`. */
  readonly model?: string
  /** `promptHash` of a record; a contradiction with the wire is the check `profile_mismatch`. */
  readonly promptHash?: Digest
  readonly dimensions?: { readonly [name: string]: string | number | boolean | null }
}

const text = z.string().min(1)
const hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits')
const dimensions = z.record(text, z.union([z.string(), z.number(), z.boolean(), z.null()]))
const optional = {
  harness: z.strictObject({ id: text, version: text.optional(), hash: hex.optional() }).optional(),
  model: text.optional(),
  promptHash: z
    .string()
    .regex(/^sha256-jcs:[0-9a-f]{64}$/, 'must be the `promptHash` of a record')
    .optional(),
  dimensions: dimensions.optional(),
}

const input = z.strictObject({
  id: text,
  source: z.union([z.strictObject({ kind: text, hash: hex }), z.strictObject({ kind: text, profile: z.json() })], {
    error: 'must have `kind` and exactly one of `hash` (64 lower-case hex digits) and `profile` (JSON)',
  }),
  ...optional,
})

/** The stored form: content-addressed, so that a changed row does not verify. */
export const AgentProfile = z
  .strictObject({
    schema: z.literal(AGENT_PROFILE_SCHEMA),
    id: text,
    source: z.strictObject({ kind: text, hash: hex }),
    ...optional,
    digest: z.string(),
  })
  .refine(({ digest, ...content }) => digest === digestOf(content), {
    path: ['digest'],
    message: 'is not that of the profile: somebody changed one of them',
  })
export type AgentProfile = z.infer<typeof AgentProfile>

/**
 * The stored form of a profile. Of `source.profile` its digest alone is kept.
 *
 * @param redact takes secrets out of what is kept
 * @throws TypeError naming the member that is wrong
 */
export function agentProfileOf(
  given: unknown,
  redact: <T extends Json>(value: T) => T = (value) => value,
): AgentProfile {
  const checked = input.safeParse(given)
  if (!checked.success) {
    const [issue] = checked.error.issues
    const path = ['profile', ...(issue?.path ?? []).map(String)].join('.')
    throw new TypeError(`${path}: ${issue?.message ?? 'is no agent profile'}`)
  }
  const { source, dimensions: sides = {}, ...rest } = checked.data
  const hash = 'hash' in source ? source.hash : digestOf(source.profile, 'profile.source.profile').slice(-64)
  const known = Object.keys(sides).length === 0 ? {} : { dimensions: sides }
  // Members that are undefined must be absent: the digest is over what is stored.
  const content = JSON.parse(
    JSON.stringify({ schema: AGENT_PROFILE_SCHEMA, ...rest, source: { kind: source.kind, hash }, ...known }),
  ) as Json
  const kept = redact(content) as Omit<AgentProfile, 'digest'>
  return { ...kept, digest: digestOf(kept) }
}
