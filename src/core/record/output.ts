import { isDeepStrictEqual } from 'node:util'
import { canonicalJson, NotJsonError } from '../campaign/canonical-json.ts'
import { sha256Hex } from '../campaign/identity.ts'
import type { RunRecord } from './record.ts'

export type RecordedOutput = NonNullable<RunRecord['output']>

/** Longest preview of an output in a record, in UTF-16 code units. */
export const PREVIEW_LENGTH = 500

/**
 * What a record keeps of an output: its digest and its beginning (text as it is, anything else as canonical JSON).
 *
 * @throws NotJsonError naming the path when the output is no JSON: it could be neither journalled nor compared
 */
export function describeOutput(output: unknown): RecordedOutput {
  if (output === undefined) throw new NotJsonError('output', 'undefined (return null where there is nothing to return)')
  const text = canonicalJson(output, 'output')
  const preview = cut(typeof output === 'string' ? output : text, PREVIEW_LENGTH)
  return { digest: `sha256-jcs:${sha256Hex(text)}`, preview }
}

/**
 * Whether JSON gives the output back as the scorers see it. What canonical JSON takes may still lose something there: what
 * an array carries beside its items (a match of a RegExp), an object without a prototype, a zero below zero.
 */
export function survivesJson(output: unknown): boolean {
  if (typeof output !== 'object' && typeof output !== 'number') return true
  return isDeepStrictEqual(JSON.parse(JSON.stringify(output)), output)
}

/** The beginning of a text, at most `length` code units, never ending in half a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
