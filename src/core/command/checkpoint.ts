import { z } from 'zod'
import type { Json } from '../campaign/canonical-json.ts'
import { type Digest, digestOf } from '../campaign/identity.ts'

/** What is kept of each stream of a command, bytes: its end, where a test suite says what failed. */
export const TAIL_BYTES = 16 * 1024
/** Most that a checkpoint may be, bytes: two tails in JSON, every byte of them escaped. */
export const CHECKPOINT_BYTES = 16 * TAIL_BYTES

/** Everything that decides what a command does, as far as it can be known before it runs. */
export interface CommandIdentity {
  readonly cellId: string
  readonly argv: readonly string[]
  /** Relative to the project root; null: a folder made for this command alone. */
  readonly cwd: string | null
  /** Exact values; only their digest is kept. */
  readonly env: { readonly [name: string]: string }
  readonly stdin: string | null
  readonly timeoutMs: number
  /** Digests of the declared input files by path; null where none are declared. */
  readonly inputs: { readonly [path: string]: string } | null
  /** Id of the tree of all content of the work tree; null where the declared files say it all. */
  readonly tree: string | null
  /** What the tool says of its version; null where it is not asked. */
  readonly tool: string | null
}

export function identityOf(identity: CommandIdentity): Digest {
  return digestOf(identity as unknown as Json, 'command')
}

/** A command that ran to its end; nothing else is kept. */
export interface FinishedCommand {
  readonly exitCode: number
  /** The ends of what it wrote, redacted. */
  readonly stdout: string
  readonly stderr: string
}

const tail = z.string().max(TAIL_BYTES)
const checkpoint = z.strictObject({
  schema: z.literal('vitest-campaign/command@1'),
  identity: z.string().regex(/^sha256-jcs:[0-9a-f]{64}$/),
  result: z.strictObject({ exitCode: z.int().min(0).max(255), stdout: tail, stderr: tail }),
})

export function encodeCheckpoint(identity: Digest, { exitCode, stdout, stderr }: FinishedCommand): string {
  const result = { exitCode, stdout, stderr }
  return `${JSON.stringify({ schema: 'vitest-campaign/command@1', identity, result })}\n`
}

/** The result under this identity, or null: whatever is not exactly a checkpoint of it makes the command run again. */
export function decodeCheckpoint(text: string, identity: Digest): FinishedCommand | null {
  if (text.length > CHECKPOINT_BYTES) return null
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const { success, data } = checkpoint.safeParse(json)
  return success && data.identity === identity ? data.result : null
}
