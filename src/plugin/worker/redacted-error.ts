import { printable } from '../../core/traffic/hostile.ts'
import type { Redactor } from '../../core/traffic/redact.ts'

const COLOUR = /(\x1b\[[\d;]*m)/
const escaped = (part: string, at: number): string => (at % 2 === 1 ? part : printable(part))

/** Deeper than any error that somebody reads. */
const DEPTH = 8

/**
 * What was thrown, without secrets and safe to print: Vitest prints the message, the stack, the causes and every property
 * of an error, and SDKs put a provider's words and headers there. The thing itself where nothing of it has to change.
 */
export function redactedError(thrown: unknown, redactor: Redactor, depth = 0): unknown {
  if (typeof thrown === 'string') return printable(redactor.text(thrown).text)
  if (typeof thrown !== 'object' || thrown === null || depth > DEPTH) return thrown
  const clean = (value: unknown) => redactedError(value, redactor, depth + 1)
  if (Array.isArray(thrown)) {
    const items = thrown.map(clean)
    return items.some((item, index) => item !== thrown[index]) ? items : thrown
  }
  const isError = thrown instanceof Error
  const prototype: unknown = Object.getPrototypeOf(thrown)
  // Vitest's serialised errors have no prototype.
  if (!isError && prototype !== Object.prototype && prototype !== null) return thrown
  const names = new Set([...(isError ? ['message', 'stack', 'cause'] : []), ...Object.keys(thrown)])
  const changed: Record<string, unknown> = {}
  for (const name of names) {
    const value: unknown = Reflect.get(thrown, name)
    // By its name alone, too: `{ apiKey: … }`.
    const now = typeof value === 'string' ? redactMember(name, value, redactor) : clean(value)
    if (now !== value) changed[name] = now
  }
  if (Object.keys(changed).length === 0) return thrown
  // A copy: the user's error may be frozen, and is the user's.
  const copy: object = isError ? new Error(thrown.message) : { ...thrown }
  if (isError) {
    for (const name of names) define(copy, name, Reflect.get(thrown, name))
    define(copy, 'name', thrown.name)
  }
  for (const [name, value] of Object.entries(changed)) define(copy, name, value, !isError)
  return copy
}

function redactMember(name: string, value: string, redactor: Redactor): string {
  const { [name]: member = value } = redactor.json({ [name]: value }).value
  // Vitest colours what differs; its colours stay, and what they would hide is shown by the text itself.
  return name === 'diff' ? member.split(COLOUR).map(escaped).join('') : printable(member)
}

function define(target: object, name: string, value: unknown, plain = false): void {
  const enumerable = plain || (name !== 'message' && name !== 'stack' && name !== 'cause' && name !== 'name')
  if (value !== undefined)
    Object.defineProperty(target, name, { value, enumerable, writable: true, configurable: true })
}
