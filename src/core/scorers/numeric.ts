import type { ScorerObject } from '../campaign/definition.ts'
import { type Expected, expectedOf, shown } from './expected.ts'

export interface NumericOptions<Scenario = never> {
  /** Default: the scenario's `expected`. */
  readonly expected?: Expected<Scenario, number>
  /** Largest absolute difference that passes; default 0. */
  readonly tolerance?: number
  /** Largest difference that passes as a share of the expected value's size; the looser of the two counts. Default 0. */
  readonly relative?: number
  /** `whole`: the text is the number (default); `last`: the last number in the text, thousands commas allowed. */
  readonly from?: 'whole' | 'last'
}

type Numeric = number | string | null | undefined
/** A minus inside a word (`2024-05`) is no sign. */
const NUMBER = /(?:(?<!\w)[-+])?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?/g

/** Passes when the output is a number (or text that is one) within the tolerance of the expected number. */
export function numeric(
  options?: NumericOptions & { readonly expected?: undefined },
): ScorerObject<unknown, { readonly expected: number }, Numeric>
export function numeric<Scenario>(options: NumericOptions<Scenario>): ScorerObject<unknown, Scenario, Numeric>
export function numeric<Scenario>({
  expected,
  tolerance = 0,
  relative = 0,
  from = 'whole',
}: NumericOptions<Scenario> = {}): ScorerObject<unknown, Scenario, Numeric> {
  for (const [name, value] of Object.entries({ tolerance, relative })) {
    if (!Number.isFinite(value) || value < 0)
      throw new RangeError(`numeric: ${name} must be a number ≥ 0, not ${shown(value)}`)
  }
  return {
    score({ output, scenario }) {
      const wanted = expectedOf('numeric', expected, scenario)
      if (typeof wanted !== 'number' || !Number.isFinite(wanted)) {
        throw new TypeError(`numeric: the expected value must be a finite number, not ${shown(wanted)}`)
      }
      const actual = numberOf(output, from)
      if (actual === null) return { value: false, rationale: `no number in the output ${shown(output)}` }
      const allowed = Math.max(tolerance, relative * Math.abs(wanted))
      // One rounding step of slack: 0.3 and 0.1 + 0.2 are the same number to whoever wrote a tolerance of 0.
      const slack = Number.EPSILON * Math.max(Math.abs(wanted), Math.abs(actual))
      const close = Math.abs(actual - wanted) <= allowed + slack
      return (
        close || { value: false, rationale: `expected ${wanted}${allowed > 0 ? ` ± ${allowed}` : ''}, got ${actual}` }
      )
    },
    config: { scorer: 'numeric', tolerance, relative, from, ...(typeof expected === 'number' ? { expected } : {}) },
  }
}

function numberOf(output: unknown, from: 'whole' | 'last'): number | null {
  if (typeof output === 'number') return Number.isFinite(output) ? output : null
  if (typeof output !== 'string') return null
  if (from === 'last') return toNumber(output.match(NUMBER)?.at(-1)?.replaceAll(',', '') ?? '')
  return toNumber(output.trim())
}

/** Number() takes '', '0x1f' and 'Infinity'; none of them is what a model means by a number. */
function toNumber(text: string): number | null {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text)) return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}
