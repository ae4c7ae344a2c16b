import { type Hypothesis, HypothesisSchema } from '../prereg/hypothesis.ts'
import type { GateOptions } from './definition.ts'
import type { Refuse } from './definition-error.ts'
import { planGuardrails } from './guardrails.ts'
import { idProblem } from './identity.ts'
import { checkKeys, checkPositive, isObject, nameOf } from './options.ts'
import type { PlannedGate, PlannedScenario } from './plan.ts'
import type { LoadedScorer } from './scoring.ts'

const GATE_KEYS: readonly (keyof GateOptions)[] = [
  'kind',
  'comparator',
  'primary',
  'atLeast',
  'margin',
  'minGain',
  'target',
  'alpha',
  'candidates',
  'guardrails',
  'onInconclusive',
  'assurance',
  'looks',
  'hypothesis',
]
export const DEFAULT_ALPHA = 0.025

interface GateFacts {
  readonly variantIds: readonly string[]
  readonly scenarios: readonly Pick<PlannedScenario, 'mustPass'>[]
  readonly primary: LoadedScorer
  readonly scorers: readonly LoadedScorer[]
  readonly seeds: number
}

/** Name of the deciding scorer as the gate gives it; undefined where it gives none. */
export function namedPrimary(gate: unknown, refuse: Refuse): unknown {
  if (gate === undefined) return undefined
  checkKeys(gate, 'gate', GATE_KEYS, refuse)
  return isObject(gate) ? gate.primary : undefined
}

/** The gate with every default filled in; null where the campaign declares none. */
export function planGate(gate: unknown, facts: GateFacts, refuse: Refuse): PlannedGate | null {
  if (!isObject(gate)) return null
  const kind = choice(gate.kind, 'kind', ['pr', 'release'], refuse) ?? 'pr'
  const { primary, variantIds } = facts
  const accepted = acceptedOf(gate.comparator, refuse)
  const comparator = accepted === null ? comparatorOf(gate.comparator, variantIds, refuse) : null
  const compares = comparator !== null || accepted !== null
  const atLeast = atLeastOf(gate.atLeast, primary, refuse)
  const mustPass = facts.scenarios.some((scenario) => scenario.mustPass)
  if (!compares && atLeast === null && !mustPass) {
    refuse('gate', 'decides nothing: name a `comparator`, set `atLeast`, or mark scenarios with `mustPass: true`')
  }
  const margin = effectOf(gate.margin, 'margin', primary, refuse)
  const target = effectOf(gate.target, 'target', primary, refuse)
  const minGain = gate.minGain === 0 ? 0 : (effectOf(gate.minGain, 'minGain', primary, refuse) ?? 0)
  if (kind === 'release' && compares) {
    if (margin === null && minGain === 0) {
      refuse('gate', 'of kind "release" needs a `margin` (largest acceptable loss) or a `minGain` (smallest gain)')
    }
    if (target === null && margin === null) {
      refuse('gate.target', 'is missing: a release gate needs the effect that it must be able to see')
    }
  }
  return {
    kind,
    comparator,
    accepted,
    primary: primary.name,
    atLeast,
    margin,
    minGain,
    target: target ?? margin,
    alpha: alphaOf(gate.alpha, refuse),
    candidates: candidatesOf(gate.candidates, comparator, variantIds, refuse),
    guardrails: planGuardrails(
      gate.guardrails,
      { ...facts, kind, compares, runs: facts.scenarios.length * facts.seeds },
      refuse,
    ),
    onInconclusive:
      choice(gate.onInconclusive, 'onInconclusive', ['warn', 'fail'], refuse) ?? (kind === 'pr' ? 'warn' : 'fail'),
    assurance: choice(gate.assurance, 'assurance', ['standard', 'bounded'], refuse) ?? 'standard',
    looks: looksOf(gate.looks, refuse),
  }
}

/** The hypothesis that a gate registers; null where it registers none. */
export function planHypothesis(gate: unknown, campaignId: string, refuse: Refuse): Hypothesis | null {
  if (!isObject(gate) || gate.hypothesis === undefined) return null
  const parsed = HypothesisSchema.safeParse(gate.hypothesis)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = ['gate.hypothesis', ...(issue?.path ?? [])].join('.')
    return refuse(path, `is no part of a preregistration: ${issue?.message ?? 'it is not valid'}`)
  }
  if (parsed.data.campaign === campaignId) return parsed.data
  return refuse('gate.hypothesis.campaign', `is ${nameOf(parsed.data.campaign)}, which is another campaign`)
}

function choice<T extends string>(value: unknown, option: string, words: readonly T[], refuse: Refuse): T | undefined {
  if (value === undefined) return undefined
  const word = words.find((one) => one === value)
  const listed = words.map((one) => JSON.stringify(one)).join(' or ')
  return word ?? refuse(`gate.${option}`, `must be ${listed}, not ${nameOf(value)}`)
}

function looksOf(looks: unknown, refuse: Refuse): number {
  if (looks === undefined) return 1
  if (typeof looks !== 'number' || !Number.isSafeInteger(looks) || looks < 1) {
    return refuse('gate.looks', `must be a whole number of looks, at least 1, not ${nameOf(looks)}`)
  }
  return looks
}

/** `accepted()`; its variant may be one that only the accepted records still have. */
function acceptedOf(comparator: unknown, refuse: Refuse): PlannedGate['accepted'] {
  if (!isObject(comparator) || comparator.comparator !== 'accepted') return null
  const { variant } = comparator
  if (variant === null || (typeof variant === 'string' && idProblem(variant) === null)) return { variant }
  return refuse('gate.comparator', `is accepted(${nameOf(variant)}): the argument must be the id of a variant`)
}

function comparatorOf(comparator: unknown, variantIds: readonly string[], refuse: Refuse): string | null {
  if (comparator === undefined) return null
  if (typeof comparator !== 'string') {
    return refuse('gate.comparator', `must be the id of a variant or accepted(), not ${nameOf(comparator)}`)
  }
  if (!variantIds.includes(comparator)) {
    refuse('gate.comparator', `is ${JSON.stringify(comparator)}, which is no variant; ${listed(variantIds)}`)
  }
  if (variantIds.length === 1) {
    refuse('gate.comparator', `is the only variant, ${JSON.stringify(comparator)}: add the one to compare with it`)
  }
  return comparator
}

function candidatesOf(
  candidates: unknown,
  comparator: string | null,
  variantIds: readonly string[],
  refuse: Refuse,
): readonly string[] {
  if (candidates === undefined) return variantIds.filter((id) => id !== comparator)
  if (!Array.isArray(candidates) || candidates.length === 0) {
    return refuse('gate.candidates', `must be a list of variant ids with at least one, not ${nameOf(candidates)}`)
  }
  for (const [i, id] of candidates.entries()) {
    const path = `gate.candidates[${i}]`
    if (!variantIds.includes(id)) refuse(path, `is ${nameOf(id)}, which is no variant; ${listed(variantIds)}`)
    if (id === comparator) refuse(path, `is the comparator ${JSON.stringify(id)}: it cannot be compared with itself`)
    if (candidates.indexOf(id) !== i) refuse(path, `repeats ${JSON.stringify(id)}`)
  }
  return candidates
}

const listed = (ids: readonly string[]) => `the variants are ${ids.map((id) => JSON.stringify(id)).join(', ')}`

function atLeastOf(atLeast: unknown, { scale, name }: LoadedScorer, refuse: Refuse): number | null {
  if (atLeast === undefined) return null
  if (typeof atLeast !== 'number' || !Number.isFinite(atLeast)) {
    return refuse('gate.atLeast', `must be a finite number, not ${nameOf(atLeast)}`)
  }
  if (scale !== null && (atLeast < scale[0] || atLeast > scale[1])) {
    refuse('gate.atLeast', `is ${atLeast}, outside the scale [${scale.join(', ')}] of ${JSON.stringify(name)}`)
  }
  return atLeast
}

/** A difference of two means: positive, and smaller than the whole scale, which no difference can exceed. */
function effectOf(value: unknown, option: string, { scale, name }: LoadedScorer, refuse: Refuse): number | null {
  if (value === undefined) return null
  const path = `gate.${option}`
  checkPositive(value, path, refuse)
  if (scale !== null && value >= scale[1] - scale[0]) {
    refuse(path, `is ${value}, as large as the whole scale [${scale.join(', ')}] of ${JSON.stringify(name)}`)
  }
  return value
}

function alphaOf(alpha: unknown, refuse: Refuse): number {
  if (alpha === undefined) return DEFAULT_ALPHA
  if (typeof alpha !== 'number' || !(alpha > 0 && alpha <= 0.5)) {
    return refuse('gate.alpha', `must be above 0 and at most 0.5, not ${nameOf(alpha)}`)
  }
  return alpha
}
