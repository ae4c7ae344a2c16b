import { harmless } from '../inline.ts'
import { cutEnd, textWidth } from './width.ts'

/** Colour repeats what a word already says; without colour nothing is lost. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'strong'

export interface Span {
  readonly text: string
  readonly tone?: Tone
}

export type Line = readonly Span[]

const SGR: { readonly [tone in Tone]: readonly [on: string, off: string] } = {
  good: ['\u001b[32m', '\u001b[39m'],
  bad: ['\u001b[31m', '\u001b[39m'],
  warn: ['\u001b[33m', '\u001b[39m'],
  quiet: ['\u001b[2m', '\u001b[22m'],
  strong: ['\u001b[1m', '\u001b[22m'],
}

export function plain(text: string): Line {
  return [{ text }]
}

interface Surface {
  readonly width: number
  readonly color: boolean
  readonly ellipsis: string
}

/** The text of a line: harmless to CI runners, never wider than the sheet. */
export function print(line: Line, sheet: Surface): string {
  const text = line.map((span) => span.text).join('')
  const safe = harmless(text)
  const fits = textWidth(safe) <= sheet.width
  if (safe !== text || !fits) return (fits ? safe : cutEnd(safe, sheet.width, sheet.ellipsis)).trimEnd()
  let left = text.trimEnd().length
  if (!sheet.color) return text.slice(0, left)
  return line
    .map(({ text: whole, tone }) => {
      const part = whole.slice(0, left)
      left -= part.length
      return tone === undefined || part === '' ? part : SGR[tone][0] + part + SGR[tone][1]
    })
    .join('')
}
