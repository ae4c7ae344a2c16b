import { printable } from '../../core/traffic/hostile.ts'
import { inline } from '../inline.ts'

/** Longest example of a message. */
export const EXAMPLE = 600

/** Breaks a word without being seen: GitHub links no mention, issue or address across it. */
const BREAK = '\u200b'

/** What GitHub makes links and signs of: `@name`, `#12`, `GH-12`, `name:` of addresses and emoji, `www.`. */
const UNLINKED = /[@#]|:(?=\/\/|[\w+-]+:)|GH(?=-\d)|www(?=\.)/gi

/**
 * Text of others in a line of Markdown or a table cell: shown as it is, never acted upon. Markup and HTML are escaped,
 * and `@name`, `#12` and addresses are broken up, so that a report pings nobody and links nowhere.
 */
export function text(value: string, max?: number): string {
  return inline(value, max)
    .replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? char)
    .replace(/[\\`*_{}[\]|~$]/g, '\\$&')
    .replace(/^([-+=]|\d+[.)])/, '\\$1')
    .replace(UNLINKED, `$&${BREAK}`)
}

/** Text of others inside an HTML element of ours, where Markdown is not read. */
export function html(value: string, max?: number): string {
  return inline(value, max)
    .replace(UNLINKED, `$&${BREAK}`)
    .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** An id as code, also inside a table: the fence is longer than any run of backticks in it. */
export function code(value: string, max?: number): string {
  // A backslash before the pipe would take the escape away from it.
  const shown = inline(value, max)
    .replace(/\\(?=\|)/g, `\\${BREAK}`)
    .replaceAll('|', '\\|')
  if (shown === '') return '(empty)'
  const fence = '`'.repeat(longestRun(shown) + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/** Text of several lines as a block that nothing inside it can close. */
export function block(value: string, max?: number): string {
  const shown = printable(value, max === undefined ? {} : { max })
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1))
  return `${fence}text\n${shown}\n${fence}`
}

type Align = 'left' | 'right'

/** A table; cells are Markdown already. */
export function grid(
  titles: readonly (readonly [title: string, align: Align])[],
  rows: readonly (readonly string[])[],
): string {
  return [
    `| ${titles.map(([title]) => title).join(' | ')} |`,
    `|${titles.map(([, align]) => (align === 'left' ? '---' : '---:')).join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

function longestRun(shown: string): number {
  return Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length))
}
