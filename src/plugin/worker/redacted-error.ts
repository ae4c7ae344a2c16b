import { printable } from '../../core/traffic/hostile.ts'
import type { Redactor } from '../../core/traffic/redact.ts'

const COLOUR = /(\x1b\[[\d;]*m)/
const escaped = (part: string, at: number): string => (at % 2 === 1 ? part : printable(part))
/** Without colours, which compilers put into what they say: the text itself stays. */
const plain = (text: string): string =>
  printable(
    text
      .split(COLOUR)
      .filter((_, at) => at % 2 === 0)
      .join(''),
  )

/** Deeper than any error that somebody reads; what lies below is left out, because nobody looked at it. */
const DEPTH = 40
const LEFT_OUT = '[…]'

/**
 * What was thrown, without secrets and safe to print: Vitest prints the message, the stack, the causes and every property
 * of an error, and SDKs put a provider's words and headers there. The thing itself where nothing of it has to change.
 */
export function redactedError(thrown: unknown, redactor: Redactor): unknown {
  const cleaning = new Cleaning(redactor)
  const clean = cleaning.value(thrown, 0)
  return cleaning.changed ? clean : thrown
}

/** One pass over a value: each object once, because a client's error leads to requests and sockets that know each other. */
class Cleaning {
  changed = false
  readonly #redactor: Redactor
  readonly #copies = new Map<object, object>()
  /** The errors whose causes are looked at: one that is its own cause ends Vitest's printing with a stack overflow. */
  readonly #causes = new Set<unknown>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  value(thrown: unknown, depth: number): unknown {
    if (typeof thrown === 'string') return this.#noted(thrown, plain(this.#redactor.text(thrown).text))
    if (typeof thrown !== 'object' || thrown === null) return thrown
    const known = this.#copies.get(thrown)
    if (known !== undefined) return known
    const isError = thrown instanceof Error
    const prototype: unknown = Object.getPrototypeOf(thrown)
    // Vitest's serialised errors have no prototype.
    const isPlain = Array.isArray(thrown) || prototype === Object.prototype || prototype === null
    if (!isError && !isPlain) return thrown
    if (depth > DEPTH) return this.#noted(thrown, LEFT_OUT)
    return isError ? this.#error(thrown, depth) : this.#members(thrown, Array.isArray(thrown) ? [] : {}, depth)
  }

  #error(thrown: Error, depth: number): object {
    // A copy: the user's error may be frozen, and is the user's.
    const copy = new Error(thrown.message)
    define(copy, 'name', this.#noted(thrown.name, this.#member('name', thrown.name, depth)))
    return this.#members(thrown, copy, depth, ['message', 'stack', 'cause'])
  }

  #members(thrown: object, copy: object, depth: number, hidden: readonly string[] = []): object {
    this.#copies.set(thrown, copy)
    for (const name of new Set([...hidden, ...Object.keys(thrown)])) {
      const value: unknown = Reflect.get(thrown, name)
      define(copy, name, name === 'cause' ? this.#cause(thrown, value, depth) : this.#member(name, value, depth))
    }
    return copy
  }

  #cause(thrown: object, cause: unknown, depth: number): unknown {
    this.#causes.add(thrown)
    const clean = this.#causes.has(cause) ? this.#noted(cause, LEFT_OUT) : this.#member('cause', cause, depth)
    this.#causes.delete(thrown)
    return clean
  }

  /** By its name alone, too: `{ apiKey: … }`. */
  #member(name: string, value: unknown, depth: number): unknown {
    if (typeof value !== 'string') return this.value(value, depth + 1)
    return this.#noted(value, redactMember(name, value, this.#redactor))
  }

  #noted<T>(before: unknown, now: T): T {
    if (now !== before) this.changed = true
    return now
  }
}

/** Members that are the headers of a request, or node's way to give it a user and a password. */
const HEADER = /-|^auth$/

function redactMember(name: string, value: string, redactor: Redactor): string {
  // As a text too: it may be a body that was sent, and quotes are escaped in JSON.
  const { text } = redactor.text(value)
  const { [name]: json = text } = redactor.json({ [name]: text }).value
  const [[, member = json] = []] = HEADER.test(name) ? redactor.headers([[name, json]]).headers : []
  // Vitest colours what differs; its colours stay, and what they would hide is shown by the text itself.
  return name === 'diff' ? member.split(COLOUR).map(escaped).join('') : plain(member)
}

function define(target: object, name: string, value: unknown): void {
  const hidden = target instanceof Error && ['message', 'stack', 'cause', 'name'].includes(name)
  if (value !== undefined || !hidden)
    Object.defineProperty(target, name, { value, enumerable: !hidden, writable: true, configurable: true })
}
