import { canonicalJson, childPath, type Json } from '../campaign/canonical-json.ts'
import type { ScorerObject } from '../campaign/definition.ts'
import { isObject } from '../campaign/options.ts'
import { expectedOf, shown } from './expected.ts'
import { isStandardSchema, issueText, type StandardSchema } from './standard-schema.ts'

/**
 * Passes when the output holds the expected JSON: every member of an expected object must be there and match, further
 * members are allowed; lists match member by member and in length; all else must be equal. With a Standard Schema
 * (zod, valibot, arktype) it passes when the schema accepts the output. Text is parsed as JSON first.
 *
 * @param shape the expected part, a function of the scenario giving it, or a schema; default: the scenario's `expected`
 */
export function jsonMatch(): ScorerObject<unknown, { readonly expected: unknown }, unknown>
export function jsonMatch(schema: StandardSchema): ScorerObject<unknown, unknown, unknown>
export function jsonMatch<Scenario>(shape: (scenario: Scenario) => Json): ScorerObject<unknown, Scenario, unknown>
export function jsonMatch(shape: Json): ScorerObject<unknown, unknown, unknown>
export function jsonMatch<Scenario>(
  shape?: StandardSchema | Json | ((scenario: Scenario) => Json),
): ScorerObject<unknown, Scenario, unknown> {
  const schema = isStandardSchema(shape) ? shape : null
  return {
    async score({ output, scenario }) {
      const wanted = schema === null ? expectedOf('jsonMatch', shape, scenario) : null
      const parsed = parse(output)
      if (parsed === null) return { value: false, rationale: `the output is no JSON: ${shown(output)}` }
      const problem = schema === null ? difference(wanted, parsed.value, '') : await rejection(schema, parsed.value)
      return problem === null || { value: false, rationale: problem }
    },
    config: {
      scorer: 'jsonMatch',
      ...(schema === null && shape !== undefined && typeof shape !== 'function' ? { shape: shape as Json } : {}),
    },
  }
}

function parse(output: unknown): { readonly value: unknown } | null {
  if (typeof output !== 'string') return { value: output }
  try {
    return { value: JSON.parse(output) }
  } catch {
    return null
  }
}

async function rejection(schema: StandardSchema, value: unknown): Promise<string | null> {
  const { issues } = await schema['~standard'].validate(value)
  if (issues === undefined) return null
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return `${first === undefined ? 'the schema rejects the output' : issueText(first)}${more}`
}

/** Where `actual` lacks what is wanted, or null. */
function difference(wanted: unknown, actual: unknown, path: string): string | null {
  const at = path === '' ? 'the output' : path
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual)) return `${at}: expected a list, got ${shown(actual)}`
    if (actual.length !== wanted.length) return `${at}: expected ${wanted.length} members, got ${actual.length}`
    return firstDifference(wanted.map((member, i) => difference(member, actual[i], `${path}[${i}]`)))
  }
  if (isObject(wanted)) {
    if (!isObject(actual)) return `${at}: expected an object, got ${shown(actual)}`
    return firstDifference(
      Object.entries(wanted).map(([key, member]) => {
        const below = childPath(path, key)
        return Object.hasOwn(actual, key) ? difference(member, actual[key], below) : `${below}: is missing`
      }),
    )
  }
  const equal = canonicalJson(wanted, 'expected') === canonicalJson(actual, 'output')
  return equal ? null : `${at}: expected ${shown(wanted)}, got ${shown(actual)}`
}

const firstDifference = (all: readonly (string | null)[]) => all.find((each) => each !== null) ?? null
