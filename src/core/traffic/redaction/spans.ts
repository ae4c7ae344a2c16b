import type { Redaction, StreamCut } from '../exchange.ts'

/** A secret found in a text, in code units. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly rule: string
}

export const placeholder = (rule: string): string => `[redacted:${rule}]`

/** Finds secrets in a text; the spans may overlap and come in any order. */
export type Finder = (text: string, found: Span[]) => void

/**
 * What has to go with the spans, as one list without overlaps: each under the rule of the one that begins first (of
 * equals, the longest).
 */
export function mergeSpans(text: string, spans: readonly Span[]): Span[] {
  const merged: Span[] = []
  const whole = spans.map((span) => growNumber(text, growEscapes(text, span)))
  for (const span of whole.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last === undefined || span.start >= last.end) merged.push(span)
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end }
  }
  return merged
}

/** A span must not take half of an escape (`\\"`, `\\/`, `\\u00e9`): what is left would break the JSON around it. */
function growEscapes(text: string, span: Span): Span {
  const before = /\\(?:u[0-9A-Fa-f]{0,3})?$/.exec(text.slice(Math.max(0, span.start - 5), span.start))
  const from = before === null ? span.start : span.start - before[0].length
  const start = before !== null && backslashesBefore(text, from + 1) % 2 === 1 ? from : span.start
  const torn = backslashesBefore(text, span.end) % 2 === 1 && /["\\]/.test(text.charAt(span.end))
  return { ...span, start, end: torn ? span.end + 1 : span.end }
}

function backslashesBefore(text: string, end: number): number {
  let at = end
  while (at > 0 && text[at - 1] === '\\') at--
  return end - at
}

const numeric = /^[\d.eE+-]+$/

/** A secret inside a bare JSON number takes the whole number along. */
function growNumber(text: string, span: Span): Span {
  if (!numeric.test(text.slice(span.start, span.end))) return span
  const before = /[:,[]\s*([\d.eE+-]*)$/.exec(text.slice(Math.max(0, span.start - 64), span.start))
  const after = /^([\d.eE+-]*)\s*[,}\]]/.exec(text.slice(span.end, span.end + 64))
  if (before === null || after === null) return span
  return { ...span, start: span.start - (before[1]?.length ?? 0), end: span.end + (after[1]?.length ?? 0) }
}

/** A text with its spans replaced, and per span what stands in its place. */
export interface Spliced {
  readonly text: string
  readonly spans: readonly (Span & { readonly replacement: string })[]
}

/** Replaces merged spans by their placeholders. */
export function splice(text: string, merged: readonly Span[]): Spliced {
  const spans = merged.map((span) => ({ ...span, replacement: replacementOf(text, span) }))
  let out = ''
  let at = 0
  for (const { start, end, replacement } of spans) {
    out += text.slice(at, start) + replacement
    at = end
  }
  return { text: out + text.slice(at), spans }
}

/** In the place of a bare JSON number stands a string, so that JSON stays JSON. */
function replacementOf(text: string, { start, end, rule }: Span): string {
  const bare =
    numeric.test(text.slice(start, end)) &&
    /[:,[]\s*$/.test(text.slice(Math.max(0, start - 8), start)) &&
    /^\s*[,}\]]/.test(text.slice(end, end + 8))
  return bare ? JSON.stringify(placeholder(rule)) : placeholder(rule)
}

/**
 * Chunk boundaries of `original` moved to where they fall in the spliced text; a boundary inside a secret falls behind
 * its placeholder. The number of chunks and their delays stay, and their bytes add up to the new length.
 *
 * @param bytes length in bytes of a piece of the text in the encoding of the body
 */
export function remapCuts(
  cuts: readonly StreamCut[],
  original: string,
  spliced: Spliced,
  bytes: (piece: string) => number,
): StreamCut[] {
  // Per span, in bytes: where it began and ended, and how far what follows has moved.
  let textAt = 0
  let byteAt = 0
  let moved = 0
  const marks = spliced.spans.map(({ start, end, replacement }) => {
    const from = byteAt + bytes(original.slice(textAt, start))
    const to = from + bytes(original.slice(start, end))
    moved += bytes(replacement) - (to - from)
    textAt = end
    byteAt = to
    return { from, to, moved }
  })
  const length = bytes(spliced.text)
  let mark = -1
  let offset = 0
  let last = 0
  return cuts.map(([size, ms], index) => {
    offset += size
    while (mark + 1 < marks.length && (marks[mark + 1]?.from ?? 0) < offset) mark++
    const passed = marks[mark]
    const boundary = passed === undefined ? offset : Math.max(offset, passed.to) + passed.moved
    const end = index === cuts.length - 1 ? length : Math.min(boundary, length)
    const cut: StreamCut = [Math.max(0, end - last), ms]
    last = Math.max(last, end)
    return cut
  })
}

/** Redactions per rule, sorted by rule. */
export function tally(rules: Iterable<string>): Redaction[] {
  const counts = new Map<string, number>()
  for (const rule of rules) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  return [...counts].map(([rule, count]) => ({ rule, count })).sort((a, b) => (a.rule < b.rule ? -1 : 1))
}

/** Several lists of redactions as one. */
export function addRedactions(...lists: readonly (readonly Redaction[])[]): Redaction[] {
  return tally(lists.flat().flatMap(({ rule, count }) => Array<string>(count).fill(rule)))
}
