/** The member at a path of an unknown JSON value; undefined where any step is missing. Never throws. */
export function peek(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    at = Reflect.get(at, step)
  }
  return at
}

/** The non-empty string at a path, else null. */
export function peekText(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = peek(value, ...path)
  return typeof found === 'string' && found !== '' ? found : null
}

/** The token count at a path (a non-negative safe integer), else null: anything else is not a count. */
export function peekCount(value: unknown, ...path: readonly (string | number)[]): number | null {
  const found = peek(value, ...path)
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : null
}

/** The items of the array at a path; none where it is no array. */
export function peekList(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = peek(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The members of `value` named in `keys` that are present and not null, in that order; null when there are none. */
export function pick(value: unknown, keys: readonly string[]): Record<string, unknown> | null {
  const picked: Record<string, unknown> = {}
  for (const key of keys) {
    const member = peek(value, key)
    if (member !== undefined && member !== null) picked[key] = member
  }
  return Object.keys(picked).length > 0 ? picked : null
}

/** JSON.parse that answers undefined for text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
