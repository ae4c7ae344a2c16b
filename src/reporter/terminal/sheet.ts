import { inline, typed } from '../inline.ts'
import type { Scale } from '../numbers.ts'
import type { TerminalOptions } from '../terminal.ts'
import { head, textWidth, wrap } from './width.ts'

/** What a page is set on: the options with their defaults, and how it writes. */
export interface Sheet
  extends Required<Pick<TerminalOptions, 'width' | 'color' | 'unicode' | 'verbose' | 'project' | 'root'>> {
  readonly ellipsis: string
  readonly scale: Scale
}

/** A sentence of a report; where only ASCII can be drawn, in ASCII. */
export function sentence(text: string, sheet: Sheet): string {
  return sheet.unicode ? inline(text) : typed(inline(text))
}

/** Wrapped to the sheet; beyond `longest` lines cut with an ellipsis. */
export function paragraph(lead: string, text: string, sheet: Sheet, longest: number, indent: number): string[] {
  const lines = wrap(lead, text, sheet.width, indent)
  const last = lines[longest - 1]
  if (lines.length <= longest || last === undefined) return lines
  const room = sheet.width - textWidth(sheet.ellipsis)
  return [...lines.slice(0, longest - 1), head(last, room).trimEnd() + sheet.ellipsis]
}
