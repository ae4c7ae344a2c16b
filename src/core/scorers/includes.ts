import type { ScorerObject } from '../campaign/definition.ts'
import { type Expected, expectedOf, shown } from './expected.ts'

export interface IncludesOptions<Scenario = never> {
  /** Text that must occur, or a list of which every member must. Default: the scenario's `expected`. */
  readonly expected?: Expected<Scenario, string | readonly string[]>
  /** Default false. */
  readonly caseSensitive?: boolean
}

/** Text, or the null of a model that gave none. */
type Text = string | null | undefined

/** Passes when the output text contains the expected text, or every one of them. */
export function includes(
  options?: IncludesOptions & { readonly expected?: undefined },
): ScorerObject<unknown, { readonly expected: string | readonly string[] }, Text>
export function includes<Scenario>(options: IncludesOptions<Scenario>): ScorerObject<unknown, Scenario, Text>
export function includes<Scenario>({
  expected,
  caseSensitive = false,
}: IncludesOptions<Scenario> = {}): ScorerObject<unknown, Scenario, Text> {
  const plain = (text: string) => (caseSensitive ? text : text.toLowerCase())
  return {
    score({ output, scenario }) {
      const wanted = wordsOf(expectedOf('includes', expected, scenario))
      const text = textOutput('includes', output)
      if (text === null) return { value: false, rationale: 'the output is null: the subject gave no text' }
      const missing = wanted.filter((word) => !plain(text).includes(plain(word)))
      return (
        missing.length === 0 || {
          value: false,
          rationale: `the output does not contain ${missing.map(shown).join(', ')}`,
        }
      )
    },
    config: {
      scorer: 'includes',
      caseSensitive,
      ...(expected === undefined || typeof expected === 'function' ? {} : { expected }),
    },
  }
}

function wordsOf(wanted: unknown): string[] {
  const words: unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (words.length === 0 || !words.every((word) => typeof word === 'string' && word !== '')) {
    throw new TypeError(
      `includes: the expected value must be text or a list of texts, none empty, not ${shown(wanted)}`,
    )
  }
  return words as string[]
}

/**
 * The output of a scorer that reads text; null where the subject gave none.
 *
 * @throws TypeError for any other value: the scorer does not fit the campaign
 */
export function textOutput(scorer: string, output: unknown): string | null {
  if (typeof output === 'string') return output
  if (output === null || output === undefined) return null
  throw new TypeError(
    `${scorer}: the output must be text, not ${shown(output)}; return the text from run, or use jsonMatch`,
  )
}
