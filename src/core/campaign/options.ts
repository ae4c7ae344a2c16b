import { childPath } from './canonical-json.ts'
import type { Refuse } from './definition-error.ts'

/** Refuses a value that is no plain options object, and every key that is not an option. */
export function checkKeys(value: unknown, path: string, known: readonly string[], refuse: Refuse): void {
  if (!isObject(value)) refuse(path, `must be an object, not ${nameOf(value)}`)
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const hint = near === null ? `the options are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`
    refuse(childPath(path, key), `is no option: ${hint}`)
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A short name of a value for messages: what it is, never all of its content. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function checkText(value: unknown, path: string, refuse: Refuse): asserts value is string {
  if (typeof value !== 'string' || value.trim() === '') refuse(path, `must be non-empty text, not ${nameOf(value)}`)
}

export function checkPositive(value: unknown, path: string, refuse: Refuse): asserts value is number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    refuse(path, `must be a positive finite number, not ${nameOf(value)}`)
  }
}

/** The known word closest to `word` by edit distance (case ignored), or null when none is close. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
