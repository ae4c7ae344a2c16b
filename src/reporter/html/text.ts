import { type Content, type Html, html } from './markup.ts'

/** Longest id or label that is shown whole. */
const LABEL = 120
/** Longest sentence. */
const SENTENCE = 1_000

/** The beginning of a text, never ending in half a surrogate pair; an ellipsis stands for the rest. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** An id or label on one line. */
export function label(text: string, max: number = LABEL): string {
  const line = cut(text, max * 4)
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim()
  return line === '' ? '(empty)' : cut(line, max)
}

/** A sentence on one line. */
export function sentence(text: string): string {
  return cut(text.replace(/[\s\u2028\u2029]+/g, ' ').trim(), SENTENCE)
}

/** A section of the page with its heading; null contents leave it out. */
export function section(id: string, title: string, contents: Content): Html | null {
  if (contents === null) return null
  return html`<section id="${id}" aria-labelledby="${id}-h">
<h2 id="${id}-h">${title}</h2>
${contents}
</section>
`
}

export interface Column {
  readonly title: Content
  readonly align?: 'right'
  /** The column names its row. */
  readonly heads?: true
}

/** A table that scrolls on its own where the window is narrower. `name` says what it holds, for who does not see it. */
export function table(name: string, columns: readonly Column[], rows: readonly (readonly Content[])[]): Html {
  const head = columns.map(
    ({ title, align }) => html`<th scope="col"${align === 'right' ? html` class="r"` : null}>${title}</th>`,
  )
  const body = rows.map((row) => {
    const cells = row.map((given, i) => {
      const column = columns[i]
      const content = column?.align === 'right' && typeof given === 'string' ? unbroken(given) : given
      const align = column?.align === 'right' ? html` class="r"` : null
      return column?.heads === true ? html`<th scope="row"${align}>${content}</th>` : html`<td${align}>${content}</td>`
    })
    return html`<tr>${cells}</tr>
`
  })
  return scrolling(
    name,
    html`<table>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table>`,
  )
}

/** Keeps what stands in brackets on one line. */
function unbroken(numbers: string): string {
  return numbers.replace(/[[(][^\])]*[\])]/g, (group) => group.replaceAll(' ', '\u00a0'))
}

/** Wide contents in a region of their own that the keyboard can scroll. */
export function scrolling(name: string, contents: Html): Html {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${name}">${contents}</div>
`
}

/** The first of a long list, and a line that says how many more there are and where. */
export function listed<T>(
  all: readonly T[],
  max: number,
  what: string,
): { readonly shown: readonly T[]; readonly rest: Html | null } {
  const shown = all.slice(0, max)
  const left = all.length - shown.length
  return { shown, rest: left > 0 ? html`<p class="cut">${left} more ${what} are in the JSON report.</p>` : null }
}
