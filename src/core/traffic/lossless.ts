/**
 * A JSON value without loss: scalars as their source text (numbers as written, strings with one spelling of escapes),
 * members in source order, duplicate keys included. JSON.parse would take 9007199254740993 for 9007199254740992.
 */
export type Lossless = string | readonly Lossless[] | LosslessObject
export interface LosslessObject {
  /** Keys as JSON string text. */
  readonly members: readonly (readonly [key: string, value: Lossless])[]
}

/** Deeper JSON than this is matched by its bytes. */
const DEEPEST = 500

/** The value, or undefined where the text is no JSON. */
export function parseLossless(text: string): Lossless | undefined {
  const reader = new Reader(text)
  try {
    return reader.document()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literal = /true|false|null/y

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Lossless {
    const value = this.#value(0)
    this.#blank()
    if (this.#at < this.#text.length) throw new SyntaxError('more after the value')
    return value
  }

  #value(depth: number): Lossless {
    if (depth > DEEPEST) throw new SyntaxError('too deep')
    this.#blank()
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object(depth)
      case 0x5b:
        return this.#array(depth)
      case 0x22:
        return this.#string()
      case 0x74:
      case 0x66:
      case 0x6e:
        return this.#token(literal)
      default:
        return this.#token(number)
    }
  }

  #object(depth: number): LosslessObject {
    const members: [string, Lossless][] = []
    this.#at++
    if (!this.#took(0x7d)) {
      do {
        this.#blank()
        const key = this.#string()
        if (!this.#took(0x3a)) throw new SyntaxError('no colon')
        members.push([key, this.#value(depth + 1)])
      } while (this.#took(0x2c))
      if (!this.#took(0x7d)) throw new SyntaxError('no end of object')
    }
    return { members }
  }

  #array(depth: number): Lossless[] {
    const items: Lossless[] = []
    this.#at++
    if (!this.#took(0x5d)) {
      do items.push(this.#value(depth + 1))
      while (this.#took(0x2c))
      if (!this.#took(0x5d)) throw new SyntaxError('no end of array')
    }
    return items
  }

  #string(): string {
    const from = this.#at
    if (this.#text.charCodeAt(from) !== 0x22) throw new SyntaxError('no string')
    let end = from
    do {
      end = this.#text.indexOf('"', end + 1)
      if (end === -1) throw new SyntaxError('no end of string')
    } while (this.#isEscaped(end))
    this.#at = end + 1
    const source = this.#text.slice(from, end + 1)
    // Without an escape or a control character the source is its own canonical spelling.
    return /[\\\0-\x1f]/.test(source) ? JSON.stringify(JSON.parse(source)) : source
  }

  #isEscaped(quote: number): boolean {
    let at = quote
    while (this.#text.charCodeAt(at - 1) === 0x5c) at--
    return (quote - at) % 2 === 1
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) throw new SyntaxError('no value')
    this.#at += found.length
    return found
  }

  #took(code: number): boolean {
    this.#blank()
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    return true
  }

  #blank(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }
}

export const isLosslessObject = (value: Lossless): value is LosslessObject =>
  typeof value === 'object' && !Array.isArray(value)

/** JSON pointers (RFC 6901) as a tree; `*` stands for any member or item. */
export interface PointerTree {
  readonly here: boolean
  readonly below: ReadonlyMap<string, PointerTree>
}

/**
 * @throws TypeError for a text that is no JSON pointer
 */
export function pointerTree(pointers: readonly string[]): PointerTree | null {
  if (pointers.length === 0) return null
  const root = { here: false, below: new Map<string, PointerTree>() }
  for (const pointer of pointers) {
    if (!/^(?:\/(?:[^~/]|~[01])*)+$/.test(pointer)) {
      throw new TypeError(`${JSON.stringify(pointer)} is no JSON pointer: write it like "/metadata/request_id"`)
    }
    let at: { here: boolean; below: Map<string, PointerTree> } = root
    for (const step of pointer.slice(1).split('/')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const next = (at.below.get(name) as typeof root | undefined) ?? { here: false, below: new Map() }
      at.below.set(name, next)
      at = next
    }
    at.here = true
  }
  return root
}

/** The branches of a tree that lead to a member or item. */
export function branches(tree: PointerTree | null, name: () => string): PointerTree | null {
  if (tree === null || tree.below.size === 0) return null
  const exact = tree.below.get(name())
  const any = tree.below.get('*')
  if (exact === undefined || any === undefined) return exact ?? any ?? null
  return { here: exact.here || any.here, below: new Map([...any.below, ...exact.below]) }
}

/** One spelling for values that differ in blanks and order of members alone, without what `skip` points at. */
export function canonicalText(value: Lossless, skip: PointerTree | null = null): string {
  if (typeof value === 'string') return value
  return isLosslessObject(value) ? canonicalObject(value, skip) : canonicalArray(value, skip)
}

function canonicalArray(items: readonly Lossless[], skip: PointerTree | null): string {
  let text = ''
  for (const [index, item] of items.entries()) {
    if (index > 0) text += ','
    const branch = branches(skip, () => String(index))
    // A skipped item leaves its place, so that what follows keeps its index.
    if (branch?.here !== true) text += canonicalText(item, branch)
  }
  return `[${text}]`
}

function canonicalObject({ members }: LosslessObject, skip: PointerTree | null): string {
  let text = ''
  // Stable: duplicate keys keep their order and stay distinct.
  for (const [key, member] of members.length > 1 ? members.toSorted(byKey) : members) {
    const branch = branches(skip, () => JSON.parse(key))
    if (branch?.here === true) continue
    if (text !== '') text += ','
    text += `${key}:${canonicalText(member, branch)}`
  }
  return `{${text}}`
}

const byKey = ([a]: readonly [string, Lossless], [b]: readonly [string, Lossless]) => (a < b ? -1 : a > b ? 1 : 0)
