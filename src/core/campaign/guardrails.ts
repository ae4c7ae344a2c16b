import { childPath } from './canonical-json.ts'
import type { Refuse } from './definition-error.ts'
import { checkKeys, checkPositive, isObject, nameOf } from './options.ts'
import type { GuardrailEndpoint, PlannedGate, PlannedGuardrail } from './plan.ts'
import type { LoadedScorer } from './scoring.ts'

const BUILT_IN: readonly Exclude<GuardrailEndpoint, 'score'>[] = ['cost', 'latency', 'latencyP95', 'passRate']
/** Fewest runs of which the largest bounds the 95th percentile with 95 % confidence: 1 − .95^59 = .9515. */
export const FEWEST_P95_RUNS = 59

interface GuardrailFacts {
  readonly kind: PlannedGate['kind']
  /** The gate has something to compare with. */
  readonly compares: boolean
  readonly primary: LoadedScorer
  readonly scorers: readonly LoadedScorer[]
  /** Runs planned for each variant. */
  readonly runs: number
}

/** Guardrails with their defaults, in the order declared. */
export function planGuardrails(guardrails: unknown, facts: GuardrailFacts, refuse: Refuse): PlannedGuardrail[] {
  if (guardrails === undefined) return []
  const names = facts.scorers.map(({ name }) => name).filter((name) => name !== facts.primary.name)
  checkKeys(guardrails, 'gate.guardrails', [...new Set([...BUILT_IN, ...names, facts.primary.name])], refuse)
  if (!isObject(guardrails)) return []
  return Object.keys(guardrails).flatMap((name) => {
    const path = childPath('gate.guardrails', name)
    if (guardrails[name] === undefined) return []
    if (!facts.compares) refuse(path, 'compares with the comparator, and the gate names none')
    return [planGuardrail(name, path, guardrails[name], facts, refuse)]
  })
}

function planGuardrail(
  name: string,
  path: string,
  given: unknown,
  { kind, primary, scorers, runs }: GuardrailFacts,
  refuse: Refuse,
): PlannedGuardrail {
  checkKeys(given, path, ['ratio', 'diff', 'require'], refuse)
  const { ratio, diff, require } = isObject(given) ? given : {}
  const scorer = scorers.find((one) => one.name === name)
  const builtIn = BUILT_IN.find((one) => one === name)
  if (builtIn !== undefined && scorer !== undefined) {
    refuse(path, 'could mean the scorer of this name or what the run measures: rename the scorer')
  }
  if (builtIn === undefined && name === primary.name) refuse(path, 'is the primary scorer: its limit is `gate.margin`')
  if (builtIn === 'passRate' && !primary.passes) {
    refuse(path, `needs a primary scorer that says pass or fail; ${JSON.stringify(primary.name)} gives numbers only`)
  }
  if (builtIn === 'latencyP95' && runs < FEWEST_P95_RUNS) {
    refuse(path, `needs at least ${FEWEST_P95_RUNS} runs of each variant; scenarios × seeds are ${runs}`)
  }
  if ((ratio === undefined) === (diff === undefined)) refuse(path, 'needs one limit: either `ratio` or `diff`')
  const score = builtIn === undefined || builtIn === 'passRate'
  if (ratio !== undefined) {
    if (score) refuse(`${path}.ratio`, 'is for cost and latency: give the largest acceptable loss as `diff`')
    checkPositive(ratio, `${path}.ratio`, refuse)
  }
  if (diff !== undefined) {
    checkPositive(diff, `${path}.diff`, refuse)
    const scale = builtIn === 'passRate' ? ([0, 1] as const) : (scorer?.scale ?? null)
    if (score && scale !== null && diff >= scale[1] - scale[0]) {
      refuse(`${path}.diff`, `is ${diff}, as large as the whole scale [${scale.join(', ')}]`)
    }
  }
  if (require !== undefined && require !== 'not-violated' && require !== 'shown') {
    refuse(`${path}.require`, `must be "not-violated" or "shown", not ${nameOf(require)}`)
  }
  return {
    name,
    endpoint: builtIn ?? 'score',
    ratio: ratio ?? null,
    diff: diff ?? null,
    require: require ?? (kind === 'pr' ? 'not-violated' : 'shown'),
  }
}
