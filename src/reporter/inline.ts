import { printable } from '../core/traffic/hostile.ts'

/** Longest text that reaches a single line of a rendering, before it is cut to the line's width. */
const LONGEST = 2_000

/** Text of a user or a model as one printable line. */
export function inline(text: string, max: number = LONGEST): string {
  return printable(text.replace(/[\s\u2028\u2029]+/g, ' ').trim(), { max })
}

/**
 * A finished line that no CI runner takes for a command: GitHub reads `::` behind any leading blanks, and `##[`,
 * `##vso[` and `##teamcity[` are read anywhere. `printable` sees to the parts; this sees to what cutting and wrapping
 * moved to the front.
 */
export function harmless(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1: ').replace(/##(?=\w*\[)/g, '# #')
}
