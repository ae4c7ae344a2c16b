import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { expect } from 'vitest'

/** What a rendering of ours is made of; anything else in the tree was made of somebody's text. */
const OURS: ReadonlySet<string> = new Set([
  'root',
  'heading',
  'paragraph',
  'text',
  'strong',
  'emphasis',
  'inlineCode',
  'code',
  'list',
  'listItem',
  'table',
  'tableRow',
  'tableCell',
  'html',
])

/** HTML that is ours: folds without markup inside their title, and the marker of a comment. */
const OUR_HTML = /^(?:<details><summary>[^<>]*<\/summary>|<\/details>|<!-- vitest-campaign:[\w.-]+ -->)$/

/** What GitHub makes a link or a sign of in the text of a rendered page. */
const LINKED = /@[A-Za-z\d]|#\d|\bGH-\d|:\/\/|\bwww\.|:[\w+-]+:/i

interface Node {
  readonly type: string
  readonly value?: string
  readonly children?: readonly Node[]
}

/** Parses Markdown as GitHub does and expects nothing in it that text of others could have brought. */
export function expectHarmless(markdown: string): void {
  const tree: Node = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
  for (const node of nodesOf(tree)) {
    const fault = faultOf(node)
    // Only where there is one: a document has thousands of nodes.
    if (fault !== null) expect.fail(`${fault}: ${JSON.stringify(textOf(node))}`)
  }
  // What terminals and viewers act upon, wherever it stands.
  expect(markdown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/u)
}

function faultOf(node: Node): string | null {
  const { type, value = '', children = [] } = node
  if (!OURS.has(type)) return `a node of type ${type}`
  if (type === 'html') {
    if (!OUR_HTML.test(value)) return 'HTML of others'
    // A comment is not shown.
    return !value.startsWith('<!--') && LINKED.test(decoded(value)) ? 'a link in HTML' : null
  }
  if (type === 'text') return LINKED.test(value) ? 'a link in text' : null
  if (type !== 'table') return null
  const widths = new Set(children.map((row) => row.children?.length))
  return widths.size === 1 ? null : `a table with rows of ${[...widths].join(' and ')} cells`
}

function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const child of node.children ?? []) yield* nodesOf(child)
}

const textOf = (node: Node): string => [...nodesOf(node)].map(({ value }) => value ?? '').join('')

const decoded = (html: string): string => html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
