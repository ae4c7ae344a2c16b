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

const TYPED: { readonly [sign: string]: string } = {
  '×': 'x',
  '−': '-',
  '–': '-',
  '→': '->',
  '≥': '>=',
  '≤': '<=',
  '±': '+/-',
  '…': '...',
}

/** The signs that sentences of a report are set with, as a keyboard has them; letters of names stay. */
export function typed(text: string): string {
  return text.replace(/[×−–→≥≤±…]/g, (sign) => TYPED[sign] ?? sign)
}
