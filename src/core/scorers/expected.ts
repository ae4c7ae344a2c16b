/** What a scorer compares with: a constant, or a function of the scenario. Default: the scenario's `expected`. */
export type Expected<Scenario, Value> = Value | ((scenario: Scenario) => Value)

/** A scenario does not say what is expected: a gap in the data, which must not look like a wrong answer. */
export class MissingExpectedError extends Error {
  override readonly name = 'MissingExpectedError'
}

/**
 * The expected value of one scenario.
 *
 * @throws MissingExpectedError when it is undefined
 */
export function expectedOf<Scenario extends { readonly id: string }>(
  scorer: string,
  option: unknown,
  scenario: Scenario,
): unknown {
  const own = option === undefined && 'expected' in scenario ? scenario.expected : option
  const value: unknown = typeof own === 'function' ? own(scenario) : own
  if (value !== undefined) return value
  const where = option === undefined ? 'has no `expected`' : 'is given no expected value by the `expected` option'
  throw new MissingExpectedError(
    `${scorer}: scenario ${JSON.stringify(scenario.id)} ${where}: add it, pass \`expected\`, or leave the scenario out with \`appliesTo\``,
  )
}

/** A value in a rationale: short, on one line. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
