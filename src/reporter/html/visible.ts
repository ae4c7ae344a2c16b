/**
 * Characters that act or hide instead of being seen: controls, bidi and other default-ignorable ones (tag characters
 * can carry a hidden message), line separators, lone surrogates, noncharacters. What joins and styles emoji stays.
 */
const UNSEEN = /(?:(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cs}\p{DI}\p{NChar}\u2028\u2029\ufff9-\ufffb])+/gu

/** Almost every text: tens of thousands stand on a page. */
const SEEN = /^[\t\n\x20-\x7e]*$/

/** Runs of characters that show nothing are written as escapes, `\x1b` or `\u202e`; everything else stays as it is. */
export function visible(text: string): string {
  return SEEN.test(text) ? text : text.replace(UNSEEN, spelled)
}

/** A text in pieces: what is seen as it is, and what is not, spelled out. */
export function* pieces(text: string): Generator<{ readonly text: string; readonly spelled: boolean }> {
  let at = 0
  for (const { 0: run, index } of text.matchAll(UNSEEN)) {
    if (index > at) yield { text: text.slice(at, index), spelled: false }
    yield { text: spelled(run), spelled: true }
    at = index + run.length
  }
  if (at < text.length) yield { text: text.slice(at), spelled: false }
}

function spelled(run: string): string {
  let out = ''
  for (const char of run) {
    const code = char.codePointAt(0) ?? 0
    const hex = code.toString(16)
    if (code < 0x100) out += `\\x${hex.padStart(2, '0')}`
    else out += code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
  }
  return out
}
