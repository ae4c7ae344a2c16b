import { z } from 'zod'
import { CALL_ROLES, type Exchange } from './exchange.ts'

const SENT_SCHEMA = 'vitest-campaign/sent@1'

/**
 * Written into the raw capture before a request leaves. Where its exchange is missing the process died in between: the
 * call may have been made, and its charge is not known.
 */
export interface SentMark extends Pick<Exchange, 'role' | 'key' | 'ordinal'> {
  /** ISO instant. */
  readonly at: string
  /** The most the request can be charged; null where nothing bounds it. */
  readonly boundMicroUsd: number | null
}

const Mark = z.strictObject({
  schema: z.literal(SENT_SCHEMA),
  role: z.enum(CALL_ROLES),
  key: z.string(),
  ordinal: z.number().int().nonnegative(),
  at: z.iso.datetime(),
  boundMicroUsd: z.number().int().nonnegative().nullable(),
})

const HEAD = `{"schema":${JSON.stringify(SENT_SCHEMA)}`

/** One line of a raw capture, newline included. */
export function encodeSent(mark: SentMark): string {
  const { role, key, ordinal, at, boundMicroUsd } = mark
  return `${JSON.stringify({ schema: SENT_SCHEMA, role, key, ordinal, at, boundMicroUsd })}\n`
}

/** Whether the line is a mark, or the beginning of one. */
export function isSentLine(line: string): boolean {
  return line.startsWith(HEAD)
}

/** @throws z.ZodError, SyntaxError when the line is no whole mark */
export function decodeSent(line: string): SentMark {
  const { schema: _, ...mark } = Mark.parse(JSON.parse(line))
  return mark
}
