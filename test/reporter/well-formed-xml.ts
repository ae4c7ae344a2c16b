import { SaxesParser } from 'saxes'
import { expect } from 'vitest'

export interface Element {
  readonly name: string
  readonly attributes: { readonly [name: string]: string }
  readonly children: Element[]
  /** Character data directly inside. */
  text: string
}

/** Parses strictly as XML 1.0: an ill-formed document, or a character XML has no place for, is an error. */
export function parseXml(document: string): Element {
  const open: Element[] = []
  let root: Element | null = null
  const parser = new SaxesParser({ fragment: false })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = {
      name,
      attributes: { ...attributes } as { [name: string]: string },
      children: [],
      text: '',
    }
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on('text', (text) => {
    const inner = open.at(-1)
    if (inner !== undefined) inner.text += text
  })
  parser.on('closetag', () => {
    open.pop()
  })
  parser.write(document).close()
  expect(root).not.toBeNull()
  return root as unknown as Element
}

export function* elementsOf(element: Element): Generator<Element> {
  yield element
  for (const child of element.children) yield* elementsOf(child)
}
