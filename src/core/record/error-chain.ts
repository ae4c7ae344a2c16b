/** Deepest chain followed: causes may be circular or made up by a hostile library. */
const MAX_ERRORS = 20

/** An error with its causes and the members of aggregates (`errors`), outermost first. */
export function errorChain(thrown: unknown): object[] {
  const chain: object[] = []
  const ahead: unknown[] = [thrown]
  while (ahead.length > 0 && chain.length < MAX_ERRORS) {
    const next = ahead.shift()
    if (typeof next !== 'object' || next === null || chain.includes(next)) continue
    chain.push(next)
    if ('cause' in next) ahead.push(next.cause)
    if ('errors' in next && Array.isArray(next.errors)) ahead.push(...next.errors)
  }
  return chain
}

/** The message of a thrown value, whatever it is. */
export function textOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string') {
    return thrown.message === '' && 'name' in thrown ? String(thrown.name) : thrown.message
  }
  try {
    return String(thrown)
  } catch {
    return 'a thrown value that has no text'
  }
}
