import type { Finder } from './spans.ts'

/** A secret whose value is known. */
export interface Literal {
  readonly rule: string
  readonly value: string
}

/** Shortest value that is looked for: shorter ones are words. */
export const SHORTEST_SECRET = 8

const secretName = /(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/**
 * The values of environment variables named like secrets, longest first.
 *
 * @param known values that are no secrets (placeholder keys)
 */
export function environmentSecrets(
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): Literal[] {
  const values = new Set<string>()
  for (const [name, raw] of Object.entries(env)) {
    const value = raw?.trim() ?? ''
    if (secretName.test(name) && value.length >= SHORTEST_SECRET && !known.has(value)) values.add(value)
  }
  return [...values].map((value) => ({ rule: 'env', value }))
}

/** Every form in which a value may stand in a body: as it is, escaped, encoded. */
export function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const ascii = json.replace(/[^\0-\x7f]/g, unicodeEscape)
  const percent = encodeURIComponent(value.toWellFormed())
  const bytes = Buffer.from(value, 'utf8')
  const forms = [
    value,
    json,
    json.replaceAll('/', '\\/'),
    ascii,
    // Go's and PHP's JSON, which escape for HTML.
    ascii.replace(/[<>&']/g, unicodeEscape),
    // JSON inside a JSON string: tool arguments, logged bodies.
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+').replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    bytes.toString('latin1'),
    bytes.toString('hex'),
    ...base64Forms(bytes),
  ]
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST_SECRET)
}

const unicodeEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Base64 of the bytes alone, and the characters that are the same wherever the bytes stand in a longer text
 * (`user:password` of Basic authentication): the three possible alignments without the characters shared with neighbours.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms = [bytes.toString('base64')]
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes])
    const from = Math.ceil((before * 8) / 6)
    const whole = Math.floor((shifted.length * 8) / 6)
    forms.push(shifted.toString('base64').slice(from, whole))
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')])
}

/**
 * Finds literals in one pass over the text, however many there are: a table of the first two code units says where it
 * is worth looking.
 */
export function findLiterals(literals: readonly Literal[]): Finder {
  const byStart = new Map<number, { readonly form: string; readonly rule: string }[]>()
  const starts = new Uint8Array(SLOTS)
  for (const { rule, value } of literals) {
    for (const form of formsOf(value)) {
      const slot = slotOf(form.charCodeAt(0), form.charCodeAt(1))
      starts[slot] = 1
      const list = byStart.get(slot)
      if (list === undefined) byStart.set(slot, [{ form, rule }])
      else list.push({ form, rule })
    }
  }
  for (const list of byStart.values()) list.sort((a, b) => b.form.length - a.form.length)
  if (byStart.size === 0) return () => {}

  return (text, found) => {
    let here = text.charCodeAt(0)
    for (let at = 0; at + 1 < text.length; at++) {
      const next = text.charCodeAt(at + 1)
      const slot = slotOf(here, next)
      here = next
      if (starts[slot] === 0) continue
      for (const { form, rule } of byStart.get(slot) ?? []) {
        if (text.startsWith(form, at)) {
          found.push({ start: at, end: at + form.length, rule })
          break
        }
      }
    }
  }
}

const SLOTS = 1 << 14
const slotOf = (first: number, second: number) => (first * 131 + second) & (SLOTS - 1)
