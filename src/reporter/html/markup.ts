import { pieces, visible } from './visible.ts'

/** Finished markup. Only this file makes it, so a string can become part of a page in no other way than escaped. */
export class Html {
  readonly #markup: string

  constructor(markup: string) {
    this.#markup = markup
  }

  /** The markup itself, for the file that it ends in. */
  toString(): string {
    return this.#markup
  }

  /** Bytes in UTF-8. */
  get size(): number {
    return Buffer.byteLength(this.#markup)
  }
}

/** What a template may hold: text is escaped, markup stays, null is nothing. */
export type Content = Html | string | number | null | readonly Content[]

/**
 * Markup from a template. Every string in it is text of somebody else: it is escaped for an element's content and for
 * a quoted attribute alike, and what nobody would see in it is spelled out. It never belongs into a tag's name, an
 * unquoted attribute, a script or a style.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  let markup = parts[0] ?? ''
  for (let i = 0; i < values.length; i++) markup += written(values[i] ?? null) + (parts[i + 1] ?? '')
  return new Html(markup)
}

/** Code of this package inside `script` or `style`, where escapes mean nothing. Never text of somebody else. */
export function ownCode(code: string): Html {
  if (/<\/|<!--/.test(code)) throw new Error('code of the page must not hold what could end its element')
  return new Html(code)
}

/** Several lines of somebody else, in a `pre`; what was spelled out is told apart from what stood there so. */
export function block(text: string): Html {
  const parts = Array.from(pieces(text), (piece) => (piece.spelled ? html`<b class="c">${piece.text}</b>` : piece.text))
  // The parser swallows one newline behind the tag, and the text may begin with one.
  return html`<pre>
${parts}</pre>`
}

function written(content: Content): string {
  if (content === null) return ''
  if (typeof content === 'string') return escaped(content)
  if (typeof content === 'number') return String(content)
  if (content instanceof Html) return content.toString()
  let markup = ''
  for (const one of content) markup += written(one)
  return markup
}

const ENTITIES: { readonly [char: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}
