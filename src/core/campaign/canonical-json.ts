/** Any value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A value that canonical JSON refuses, with the JSON path where it stands. */
export class NotJsonError extends TypeError {
  override readonly name = 'NotJsonError'
  readonly path: string
  constructor(path: string, what: string) {
    super(`${path === '' ? 'the value' : path} is ${what}, which JSON cannot say`)
    this.path = path
  }
}

/**
 * RFC 8785 (JSON Canonicalization Scheme): keys in code-unit order, ECMAScript number and string text, no whitespace.
 *
 * @param root name used for the value itself in error paths, for instance `variants.current`
 * @throws NotJsonError for undefined, functions, symbols, bigint, NaN, ±Infinity, lone surrogates, cycles and every
 *   object that is no plain object or array (Date, Map, Set, class instances): coercing them gives one digest to
 *   different data.
 */
export function canonicalJson(value: unknown, root = ''): string {
  return write(value, root, new Set())
}

const plainKey = /^[A-Za-z_$][\w$]*$/

/** The path of a member: dotted where the key is an identifier, bracketed where it is not. */
export function childPath(path: string, key: string): string {
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function write(value: unknown, path: string, ancestors: Set<object>): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new NotJsonError(path, 'a string with a lone surrogate')
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new NotJsonError(path, String(value))
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : writeObject(value, path, ancestors)
    case 'undefined':
      throw new NotJsonError(path, 'undefined')
    case 'bigint':
      throw new NotJsonError(path, 'a bigint')
    case 'function':
      throw new NotJsonError(path, 'a function')
    default:
      throw new NotJsonError(path, 'a symbol')
  }
}

function writeObject(value: object, path: string, ancestors: Set<object>): string {
  if (ancestors.has(value)) throw new NotJsonError(path, 'a cycle')
  ancestors.add(value)
  const text = Array.isArray(value) ? writeArray(value, path, ancestors) : writePlain(value, path, ancestors)
  ancestors.delete(value)
  return text
}

function writeArray(value: readonly unknown[], path: string, ancestors: Set<object>): string {
  const items: string[] = []
  // An index loop, not map(): map skips the holes of a sparse array, and a hole is undefined, which is refused.
  for (let i = 0; i < value.length; i++) items.push(write(value[i], `${path}[${i}]`, ancestors))
  return `[${items.join(',')}]`
}

function writePlain(value: object, path: string, ancestors: Set<object>): string {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new NotJsonError(path, `an instance of ${value.constructor?.name || 'a class without a name'}`)
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw new NotJsonError(path, 'an object with symbol keys')
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = childPath(path, key)
    if (!key.isWellFormed()) throw new NotJsonError(member, 'a key with a lone surrogate')
    members.push(`${JSON.stringify(key)}:${write(Reflect.get(value, key), member, ancestors)}`)
  }
  return `{${members.join(',')}}`
}
