/** What terminals and viewers act upon: C0 (but tab and newline), DEL, C1, bidi marks, invisible marks, line separators. */
const ACTIVE =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu

/** One line of ASCII that holds none of what follows: almost every text is one, and there are tens of thousands. */
const HARMLESS = /^(?! *::)[\x20-\x22\x24-\x7e]*$/

/** GitHub Actions reads a command behind any leading blanks of a line. */
const LINE_COMMAND = /^([^\S\n]*)::/gm
/** `##[…]`, `##vso[…]` and `##teamcity[…]` are read anywhere in a line. */
const ANYWHERE_COMMAND = /##(?=\w*\[)/g

const escapeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** The first `max` code units, without half of a surrogate pair at the end. */
const cutAt = (text: string, max: number) => text.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/**
 * Text of unknown origin (model output, provider messages), made safe to print: control, ANSI and bidi characters are
 * shown as escapes, and CI commands are broken up with a backslash. Tabs and newlines stay.
 *
 * @param max longest result in code units (default: no limit); an ellipsis after it stands for what was cut
 */
export function printable(text: string, { max = Infinity }: { readonly max?: number } = {}): string {
  if (text.length <= max && HARMLESS.test(text)) return text
  // Cut before escaping too: the work stays bounded however long the text is.
  const kept = text.length > max ? cutAt(text, max) : text
  const safe = kept.replace(ACTIVE, escapeOf).replace(LINE_COMMAND, '$1\\::').replace(ANYWHERE_COMMAND, '#\\#')
  return text.length <= max && safe.length <= max ? safe : `${cutAt(safe, max)}…`
}
