import type { Line, Span, Tone } from './line.ts'
import { cutMiddle, padTo, textWidth } from './width.ts'

export interface ForestRow {
  readonly label: string
  readonly est: number | null
  readonly lo: number | null
  readonly hi: number | null
  /** The numbers in words, right of the bar. */
  readonly numbers: string
  readonly outcome: string
  readonly tone: Tone
}

export interface ForestMark {
  readonly at: number
  readonly label: string
  readonly kind: 'zero' | 'limit'
}

export interface ForestStyle {
  readonly width: number
  readonly unicode: boolean
  readonly ellipsis: string
  /** Above the numbers: what their interval is. */
  readonly heading: string
}

const SIGNS = {
  unicode: { from: '├', to: '┤', bar: '─', point: '●', zero: '│', limit: '┊' },
  ascii: { from: '[', to: ']', bar: '-', point: 'o', zero: '|', limit: ':' },
} as const

const LEAST_BAR = 12

/** Every interval and every limit on one axis: a header with the axis, then one line per row. */
export function forest(
  title: string,
  rows: readonly ForestRow[],
  marks: readonly ForestMark[],
  style: ForestStyle,
): Line[] {
  const numbersWidth = Math.max(textWidth(style.heading), ...rows.map((row) => textWidth(row.numbers)))
  const outcomeWidth = Math.max(...rows.map((row) => textWidth(row.outcome)))
  const rest = style.width - numbersWidth - outcomeWidth - 4
  const labelWidth = Math.min(
    Math.max(textWidth(title), ...rows.map((row) => textWidth(row.label))),
    Math.max(8, Math.floor(rest * 0.4)),
  )
  const barWidth = rest - labelWidth - 2
  const name = (text: string): string => padTo(cutMiddle(text, labelWidth, style.ellipsis), labelWidth, 'left')
  const axis = barWidth < LEAST_BAR ? null : axisOf(rows, marks, barWidth)
  const signs = style.unicode ? SIGNS.unicode : SIGNS.ascii

  const header: Line = [
    { text: name(title) },
    { text: axis === null ? '' : `  ${ticks(marks, axis, barWidth, signs)}`, tone: 'quiet' },
    { text: `  ${padTo(style.heading, numbersWidth, 'right')}`, tone: 'quiet' },
  ]
  const lines = rows.map((row): Line => {
    const spans: Span[] = [{ text: name(row.label) }]
    if (axis !== null) spans.push({ text: '  ' }, { text: bar(row, marks, axis, barWidth, signs) })
    spans.push({ text: `  ${padTo(row.numbers, numbersWidth, 'right')}  ` }, { text: row.outcome, tone: row.tone })
    return spans
  })
  return [header, ...lines]
}

type Axis = (value: number) => number

function axisOf(rows: readonly ForestRow[], marks: readonly ForestMark[], width: number): Axis | null {
  const values = [...rows.flatMap((row) => [row.est, row.lo, row.hi]), ...marks.map((mark) => mark.at)].filter(
    (value) => value !== null && Number.isFinite(value),
  ) as number[]
  if (!rows.some((row) => row.est !== null || (row.lo !== null && row.hi !== null))) return null
  const low = Math.min(...values)
  const high = Math.max(...values)
  const span = high - low || Math.abs(high) || 1
  const from = low - span * 0.04
  const to = high + span * 0.04
  return (value) => Math.min(width - 1, Math.max(0, Math.round(((value - from) / (to - from)) * (width - 1))))
}

function bar(
  row: ForestRow,
  marks: readonly ForestMark[],
  axis: Axis,
  width: number,
  signs: (typeof SIGNS)['unicode' | 'ascii'],
): string {
  const cells: string[] = Array.from({ length: width }, () => ' ')
  for (const mark of marks) cells[axis(mark.at)] = mark.kind === 'zero' ? signs.zero : signs.limit
  if (row.lo !== null && row.hi !== null) {
    const from = axis(row.lo)
    const to = axis(row.hi)
    for (let at = from + 1; at < to; at += 1) if (cells[at] === ' ') cells[at] = signs.bar
    cells[from] = signs.from
    cells[to] = signs.to
  }
  if (row.est !== null) cells[axis(row.est)] = signs.point
  return cells.join('')
}

/** Labels of the marks above their columns, or as near as there is room; each limit carries its sign. */
function ticks(
  marks: readonly ForestMark[],
  axis: Axis,
  width: number,
  signs: (typeof SIGNS)['unicode' | 'ascii'],
): string {
  let line = ' '.repeat(width)
  for (const mark of marks.toSorted((a, b) => (a.kind === b.kind ? a.at - b.at : a.kind === 'zero' ? -1 : 1))) {
    const label = mark.kind === 'zero' ? mark.label : `${signs.limit} ${mark.label}`
    const ideal = axis(mark.at) - (mark.kind === 'zero' ? Math.floor(label.length / 2) : 0)
    const starts = Array.from({ length: Math.max(0, width - label.length + 1) }, (_, start) => start)
    const free = starts
      .filter((start) => line.slice(Math.max(0, start - 1), start + label.length + 1).trim() === '')
      .toSorted((a, b) => Math.abs(a - ideal) - Math.abs(b - ideal))
    const start = free[0]
    if (start !== undefined) line = line.slice(0, start) + label + line.slice(start + label.length)
  }
  return line
}
