/** Texts longer than this are shown as they came: what is shown of them is their beginning. */
const LONGEST = 64 * 1024
const DEEPEST = 32

/**
 * JSON on one line, broken into lines for reading. Only white space between tokens is added: numbers, escapes and the
 * order of keys stay as they were sent, which parsing and writing again would not keep. Anything else stays as it is.
 */
export function indented(text: string): string {
  if (text.length > LONGEST || text.includes('\n') || !/^[[{]/.test(text) || !isJson(text)) return text
  let out = ''
  let depth = 0
  const line = (): string => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    const before = out.at(-1)
    const open = before === '{' || before === '['
    if (token === '}' || token === ']') {
      depth--
      out += open ? token : line() + token
    } else {
      if (open || before === ',') out += line()
      out += token === ':' ? ': ' : token
      if (token === '{' || token === '[') depth++
      if (depth > DEEPEST) return text
    }
  }
  return out
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
