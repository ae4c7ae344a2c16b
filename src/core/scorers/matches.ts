import type { ScorerObject } from '../campaign/definition.ts'
import { shown } from './expected.ts'
import { textOutput } from './includes.ts'

/**
 * Passes when the pattern is found in the output text. Anchor it (`^…$`) to match the whole.
 *
 * @param pattern a regular expression, or a function of the scenario giving one; the flags g and y have no effect
 */
export function matches<Scenario = unknown>(
  pattern: RegExp | ((scenario: Scenario) => RegExp),
): ScorerObject<unknown, Scenario, string | null | undefined> {
  return {
    score({ output, scenario }) {
      const given: unknown = typeof pattern === 'function' ? pattern(scenario) : pattern
      if (!(given instanceof RegExp)) throw new TypeError(`matches: ${shown(given)} is no regular expression`)
      const text = textOutput('matches', output)
      if (text === null) return { value: false, rationale: 'the output is null: the subject gave no text' }
      // A fresh one: g and y make test() remember where the last output ended.
      const found = new RegExp(given.source, given.flags.replace(/[gy]/g, '')).test(text)
      return found || { value: false, rationale: `${String(given)} is not found in ${shown(text)}` }
    },
    config: { scorer: 'matches', ...(typeof pattern === 'function' ? {} : { pattern: String(pattern) }) },
  }
}
