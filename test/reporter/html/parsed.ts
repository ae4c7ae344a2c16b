import fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

/** What attacks a page, a terminal, a CI log or a reader. */
export const HOSTILE: readonly string[] = [
  '</script><img src=x onerror="globalThis.pwned=1">',
  '<svg/onload=globalThis.pwned=1>',
  '"><script>globalThis.pwned=1</script>',
  "'onfocus='globalThis.pwned=1' autofocus='",
  '</pre></td></table><h1>owned</h1>',
  '<!-- ]]> --> &lt;b&gt; &amp; &#x41;',
  '{{constructor.constructor("x")()}} $&{1} `',
  '\u001b[2J\u001b]8;;http://evil.example\u0007link',
  'gnp.\u202etxt.exe \u2066\u2069 \u200b\ufeff',
  '\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}',
  '::error file=x::y',
  '##[error]x',
  'javascript:globalThis.pwned=1',
  '\u0000\ud800\uffff',
]

/** Any text at all: hostile ones, lone surrogates, controls and noncharacters among them. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", '`', '=', '/', '\n', '\r', '\u0000', '\ud800', 'a', ' '),
  }),
)

export interface ParsedPage {
  readonly errors: readonly string[]
  readonly elements: readonly Element[]
  readonly text: string
}

/** A page as a browser reads it, with every parse error that the standard names. */
export function parsed(page: string): ParsedPage {
  const errors: string[] = []
  const tree = parse(page, {
    onParseError: ({ code, startLine, startCol }) => errors.push(`${code} at ${startLine}:${startCol}`),
  })
  const elements: Element[] = []
  const walk = (node: Node): void => {
    if ('tagName' in node) elements.push(node)
    if ('childNodes' in node) for (const child of node.childNodes) walk(child)
  }
  walk(tree)
  return { errors, elements, text: textOf(tree) }
}

export function textOf(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
}

export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attr) => attr.name === name)?.value
}
