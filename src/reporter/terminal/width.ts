import fastStringWidth from 'fast-string-width'

let segmenter: Intl.Segmenter | null = null
/** Made when first wanted: loading the tables behind it takes as long as all modules of this folder. */
function graphemes(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), (part) => part.segment)
}

/** Columns that a text takes in a terminal: wide characters and emoji count two. */
export function textWidth(text: string): number {
  return fastStringWidth(text)
}

/** The longest head of a text that fits, never splitting a character as the reader sees it. */
export function head(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  return take(graphemes(text), width).join('')
}

/** Cuts out the middle: the ends of an id or a path are what tells it apart. */
export function cutMiddle(text: string, width: number, ellipsis: string): string {
  if (textWidth(text) <= width) return text
  const room = width - textWidth(ellipsis)
  if (room < 2) return head(text, width)
  const parts = graphemes(text)
  const front = take(parts, Math.ceil(room / 2))
  const back = take(parts.slice(front.length).reverse(), room - Math.ceil(room / 2)).reverse()
  return front.join('') + ellipsis + back.join('')
}

/** Cuts off the end. */
export function cutEnd(text: string, width: number, ellipsis: string): string {
  if (textWidth(text) <= width) return text
  const room = width - textWidth(ellipsis)
  return room < 1 ? head(text, width) : head(text, room).trimEnd() + ellipsis
}

export function padTo(text: string, width: number, align: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - textWidth(text)))
  return align === 'left' ? text + blanks : blanks + text
}

/** Breaks at blanks; a word wider than the line is broken where it must be. The first line begins with `lead`. */
export function wrap(lead: string, text: string, width: number, indent: number): string[] {
  const lines: string[] = []
  let line = ''
  for (let word of text.split(' ').filter((part) => part !== '')) {
    const room = (): number => width - (lines.length === 0 ? textWidth(lead) : indent)
    const joined = line === '' ? word : `${line} ${word}`
    if (textWidth(joined) <= room()) {
      line = joined
      continue
    }
    if (line !== '') lines.push(line)
    while (textWidth(word) > room()) {
      const part = head(word, room())
      // A character wider than the line itself: nothing fits, the caller's clip decides.
      if (part === '') break
      lines.push(part)
      word = word.slice(part.length)
    }
    line = word
  }
  if (line !== '' || lines.length === 0) lines.push(line)
  return lines.map((text, index) => (index === 0 ? lead + text : ' '.repeat(indent) + text))
}

function take(parts: readonly string[], width: number): string[] {
  const taken: string[] = []
  let used = 0
  for (const part of parts) {
    used += textWidth(part)
    if (used > width) break
    taken.push(part)
  }
  return taken
}
