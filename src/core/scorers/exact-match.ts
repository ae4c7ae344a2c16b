import { canonicalJson, type Json } from '../campaign/canonical-json.ts'
import type { ScorerObject } from '../campaign/definition.ts'
import { type Expected, expectedOf, shown } from './expected.ts'

export interface ExactMatchOptions<Scenario = never> {
  /** Default: the scenario's `expected`. */
  readonly expected?: Expected<Scenario, Json>
  /** Text is compared without white space around it; default true. */
  readonly trim?: boolean
  /** Default true: `Billing` is not `billing`. */
  readonly caseSensitive?: boolean
}

/**
 * Passes when the output equals the expected value. Text is compared as text, everything else by canonical JSON: the
 * order of keys does not count, `1` and `"1"` differ.
 */
export function exactMatch(
  options?: ExactMatchOptions & { readonly expected?: undefined },
): ScorerObject<unknown, { readonly expected: unknown }, unknown>
export function exactMatch<Scenario>(options: ExactMatchOptions<Scenario>): ScorerObject<unknown, Scenario, unknown>
export function exactMatch<Scenario>({
  expected,
  trim = true,
  caseSensitive = true,
}: ExactMatchOptions<Scenario> = {}): ScorerObject<unknown, Scenario, unknown> {
  const plain = (value: unknown): unknown => {
    if (typeof value !== 'string') return value
    const text = trim ? value.trim() : value
    return caseSensitive ? text : text.toLowerCase()
  }
  return {
    score({ output, scenario }) {
      const wanted = expectedOf('exactMatch', expected, scenario)
      const equal = canonicalJson(plain(output), 'output') === canonicalJson(plain(wanted), 'expected')
      return equal || { value: false, rationale: `expected ${shown(wanted)}, got ${shown(output)}` }
    },
    config: { scorer: 'exactMatch', trim, caseSensitive, ...constant(expected) },
  }
}

/** A constant is part of what a scorer measures; a function is part of the code, which has its own digest. */
function constant(expected: unknown): { readonly [key: string]: Json } {
  return expected === undefined || typeof expected === 'function' ? {} : { expected: expected as Json }
}
