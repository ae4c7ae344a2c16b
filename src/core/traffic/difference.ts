import type { ExchangeRequest } from './exchange.ts'
import {
  branches,
  canonicalText,
  isLosslessObject,
  type Lossless,
  type PointerTree,
  parseLossless,
} from './lossless.ts'
import { type MatchOptions, matchKey, volatileTree } from './match.ts'

/** One place in which two requests differ. */
export interface Difference {
  /** `method`, `address`, `query`, `headers`, `body` (bytes), or a JSON pointer into the body. */
  readonly at: string
  /** JSON text, or null where the recorded request has nothing there. */
  readonly recorded: string | null
  /** JSON text, or null where the asked request has nothing there. */
  readonly asked: string | null
  /** Set where both values look made anew at every run: then `volatile: [at]` is the way out. */
  readonly looks: 'uuid' | 'date' | 'timestamp' | null
}

type Asked = Pick<ExchangeRequest, 'method' | 'url' | 'headers' | 'body'>

/** Where two requests differ in what is matched, body members one by one; at most `limit` entries. */
export function differences(recorded: Asked, asked: Asked, options: MatchOptions = {}, limit = 20): Difference[] {
  const left = matchKey(recorded, options).parts
  const right = matchKey(asked, options).parts
  const found: Difference[] = []
  for (const part of ['method', 'address', 'query', 'headers'] as const) {
    if (left[part] !== right[part]) found.push(difference(part, left[part], right[part]))
  }
  const a = jsonOf(recorded)
  const b = jsonOf(asked)
  if (a !== undefined && b !== undefined) {
    const skip = volatileTree(URL.canParse(asked.url) ? new URL(asked.url) : null, options)
    compare(a, b, '', skip, found, limit)
  } else if (left.body.kind !== right.body.kind || left.body.text !== right.body.text) {
    found.push(difference('body', left.body.text, right.body.text))
  }
  return found.slice(0, limit)
}

function jsonOf({ body }: Asked): Lossless | undefined {
  return body !== null && 'text' in body && /^\s*[{[]/.test(body.text) ? parseLossless(body.text) : undefined
}

function compare(
  a: Lossless | undefined,
  b: Lossless | undefined,
  path: string,
  skip: PointerTree | null,
  found: Difference[],
  limit: number,
): void {
  if (found.length >= limit) return
  if (a !== undefined && b !== undefined && typeof a !== 'string' && typeof b !== 'string') {
    const both = isLosslessObject(a) === isLosslessObject(b)
    if (both) {
      for (const [name, left, right] of pairs(a, b)) {
        const branch = branches(skip, () => name)
        if (branch?.here === true) continue
        compare(left, right, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, branch, found, limit)
      }
      return
    }
  }
  const left = a === undefined ? null : canonicalText(a, skip)
  const right = b === undefined ? null : canonicalText(b, skip)
  if (left !== right) found.push(difference(path === '' ? 'body' : path, left, right))
}

/** Members or items of both, by name; a repeated key is numbered. */
function pairs(
  a: Exclude<Lossless, string>,
  b: Exclude<Lossless, string>,
): [string, Lossless | undefined, Lossless | undefined][] {
  const left = entries(a)
  const right = entries(b)
  return [...new Set([...left.keys(), ...right.keys()])].map((name) => [name, left.get(name), right.get(name)])
}

function entries(value: Exclude<Lossless, string>): Map<string, Lossless> {
  if (!isLosslessObject(value)) return new Map(value.map((item, index) => [String(index), item]))
  const byName = new Map<string, Lossless>()
  for (const [key, member] of value.members) {
    const name: string = JSON.parse(key)
    let free = name
    for (let again = 2; byName.has(free); again++) free = `${name}#${again}`
    byName.set(free, member)
  }
  return byName
}

function difference(at: string, recorded: string | null, asked: string | null): Difference {
  const looks = recorded === null || asked === null ? null : looksOf(recorded)
  return { at, recorded, asked, looks: looks !== null && asked !== null && looksOf(asked) === looks ? looks : null }
}

function looksOf(value: string): Difference['looks'] {
  if (/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i.test(value)) return 'uuid'
  if (/\b20\d\d-[01]\d-[0-3]\d/.test(value)) return 'date'
  if (/^"?1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?"?$/.test(value)) return 'timestamp'
  return null
}
