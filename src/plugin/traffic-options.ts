import { z } from 'zod'
import { pointerTree } from '../core/traffic/lossless.ts'
import { createRedactor, type RedactionRule } from '../core/traffic/redact.ts'

/** What a replayed cell is kept from starting, unless `replay.allow` names it: each has sockets of its own. */
export const GUARDED = ['child_process', 'worker_threads', 'dgram'] as const
export type Guarded = (typeof GUARDED)[number]

const names = z.array(z.string().min(1))

/**
 * Options of matching, replay and redaction.
 *
 * - `replay.timing`: `instant` (default), or `recorded`: the milliseconds of the recorded call
 * - `replay.recut`: where streamed bodies are cut: as `recorded` (default), after every `sse-event`, at `one-byte`, at
 *   every so many bytes, or at random by a seed, `{ random: 7 }`; what a parser makes of a stream must not depend on it
 * - `replay.allow`: what subjects may start in replay although it cannot be watched: `child_process`, `worker_threads`,
 *   `dgram`
 * - `volatile`: JSON pointers of request members that differ between runs, not matched; `*` stands for any member
 * - `redact`: rules of your own, and `pii` for e-mail addresses, phone, card and account numbers
 */
export const TrafficOptions = z.strictObject({
  replay: z
    .strictObject({
      timing: z.enum(['instant', 'recorded']).optional(),
      recut: z
        .union([
          z.enum(['recorded', 'sse-event', 'one-byte']),
          z.number().int().positive(),
          z.strictObject({ random: z.number().int() }),
        ])
        .optional(),
      allow: z.array(z.enum(GUARDED)).optional(),
    })
    .optional(),
  volatile: z.array(z.string()).optional(),
  redact: z
    .strictObject({
      rules: z
        .array(
          z.strictObject({
            name: z.string(),
            pattern: z.instanceof(RegExp).optional(),
            headers: names.optional(),
            query: names.optional(),
          }),
        )
        .optional(),
      pii: z.boolean().optional(),
    })
    .optional(),
})
export type TrafficOptions = z.infer<typeof TrafficOptions>

/** With the defaults filled in: plain data, for the workers. */
export interface TrafficSettings {
  readonly timing: 'instant' | 'recorded'
  readonly recut: 'recorded' | 'sse-event' | 'one-byte' | number | { readonly random: number }
  readonly allow: readonly Guarded[]
  readonly volatile: readonly string[]
  readonly rules: readonly RedactionRule[]
  readonly pii: boolean
}

/**
 * @param where the function whose options these are, for messages
 * @throws TypeError for a `volatile` entry that is no JSON pointer and a rule whose name cannot stand in a placeholder
 */
export function resolveTraffic({ replay, volatile = [], redact }: TrafficOptions, where: string): TrafficSettings {
  const rules = (redact?.rules ?? []).map(
    ({ name, pattern, headers, query }): RedactionRule => ({
      name,
      ...(pattern === undefined ? {} : { pattern }),
      ...(headers === undefined ? {} : { headers }),
      ...(query === undefined ? {} : { query }),
    }),
  )
  const pii = redact?.pii ?? false
  check(`${where}: volatile`, () => pointerTree(volatile))
  check(`${where}: redact.rules`, () => createRedactor({ env: {}, rules, pii }))
  return {
    timing: replay?.timing ?? 'instant',
    recut: replay?.recut ?? 'recorded',
    allow: replay?.allow ?? [],
    volatile,
    rules,
    pii,
  }
}

function check(where: string, make: () => unknown): void {
  try {
    make()
  } catch (error) {
    const message = `${where}: ${error instanceof Error ? error.message : String(error)}`
    const shown = new TypeError(message)
    shown.stack = `TypeError: ${message}`
    throw shown
  }
}
