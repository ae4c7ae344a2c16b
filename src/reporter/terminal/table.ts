import type { Line, Span } from './line.ts'
import { cutMiddle, padTo, textWidth } from './width.ts'

export interface Column {
  readonly align: 'left' | 'right'
  /** Narrowest width this column may be cut to; without it the column keeps its content whole. */
  readonly least?: number
}

const GAP = '  '

/** The narrowest a table can become without cutting a column that does not give way. */
export function tableWidth(columns: readonly Column[], rows: readonly (readonly Span[])[]): number {
  return natural(columns, rows).reduce(
    (sum, width, at) => sum + Math.min(width, columns[at]?.least ?? width),
    GAP.length * (columns.length - 1),
  )
}

/** Rows as aligned lines. Columns with `least` give way, widest first, until the table fits the width. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Span[])[],
  width: number,
  ellipsis: string,
): Line[] {
  const widths = natural(columns, rows)
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) - width
  while (over > 0) {
    let widest = -1
    for (const [at, { least }] of columns.entries()) {
      const room = least === undefined ? 0 : (widths[at] ?? 0) - least
      if (room > 0 && (widest < 0 || (widths[at] ?? 0) > (widths[widest] ?? 0))) widest = at
    }
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    over -= 1
  }
  return rows.map((row) =>
    columns.flatMap(({ align }, at): Span[] => {
      const { text, tone } = row[at] ?? { text: '' }
      const cell = padTo(cutMiddle(text, widths[at] ?? 0, ellipsis), widths[at] ?? 0, align)
      const span: Span = tone === undefined ? { text: cell } : { text: cell, tone }
      return at === 0 ? [span] : [{ text: GAP }, span]
    }),
  )
}

function natural(columns: readonly Column[], rows: readonly (readonly Span[])[]): number[] {
  return columns.map((_, at) => rows.reduce((widest, row) => Math.max(widest, textWidth(row[at]?.text ?? '')), 0))
}
