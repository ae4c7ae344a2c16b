/**
 * Whether the whole text matches a pattern in which `*` stands for any run of characters, the empty one included, and
 * every other character for itself (case counts).
 *
 * The leftmost fit of each piece is always good enough when `*` is the only wildcard, so this needs no backtracking and
 * no pattern is slow.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  if (pieces.length === 1) return text === first
  const last = pieces.at(-1) ?? ''
  if (!text.startsWith(first)) return false
  const end = text.length - last.length
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= end && text.endsWith(last)
}
