import { canonicalJson, childPath, type Json, NotJsonError } from './canonical-json.ts'
import type { ScoreFunction, ScorerRole } from './definition.ts'
import type { Refuse } from './definition-error.ts'
import { type Digest, digestOf, foldId, idProblem } from './identity.ts'
import type { Payload } from './listing.ts'
import { checkKeys, checkPositive, checkText, isObject, nameOf } from './options.ts'
import type { PlannedScorer } from './plan.ts'

export const SCORER_ROLES = ['code', 'judge', 'command'] as const satisfies readonly ScorerRole[]

/** A scorer with its defaults filled in, as the worker calls it. */
export interface LoadedScorer {
  readonly name: string
  readonly score: ScoreFunction<Payload, Payload, unknown>
  readonly role: ScorerRole
  readonly scale: readonly [lowest: number, highest: number] | null
  readonly passAt: number | null
  readonly passes: boolean
  readonly appliesTo: ((scenario: Payload) => boolean) | null
  readonly lane: string | null
  /** Milliseconds; null: what is left of the cell's deadline. */
  readonly timeout: number | null
  readonly config: Json
  readonly rates: string | null
}

const SCORER_KEYS = ['score', 'role', 'scale', 'passAt', 'passes', 'appliesTo', 'lane', 'timeout', 'rates', 'config']

export function loadScorers(scorers: unknown, refuse: Refuse): LoadedScorer[] {
  if (!isObject(scorers)) return refuse('scorers', `must be a record of scorers by name, not ${nameOf(scorers)}`)
  const names = Object.keys(scorers)
  if (names.length === 0) refuse('scorers', 'are empty: a campaign needs at least one scorer')
  const seen = new Map<string, string>()
  const loaded = names.map((name) => {
    const path = childPath('scorers', name)
    // No object takes it for a name of its own.
    const problem = name === '__proto__' ? 'no record can hold' : idProblem(name)
    if (problem !== null) refuse(path, `has a name that ${problem}`)
    const twin = seen.get(foldId(name))
    if (twin !== undefined)
      refuse(path, `differs from ${JSON.stringify(twin)} in case or Unicode form alone: rename one`)
    seen.set(foldId(name), name)
    return loadScorer(name, path, scorers[name], refuse)
  })
  for (const scorer of loaded) checkRates(scorer, loaded, refuse)
  return loaded
}

/** A second opinion is about a first one, on the same scale. */
function checkRates({ name, rates, scale }: LoadedScorer, all: readonly LoadedScorer[], refuse: Refuse): void {
  if (rates === null) return
  const path = `${childPath('scorers', name)}.rates`
  const rated = all.find((scorer) => scorer.name === rates)
  if (rated === undefined || rated.name === name) refuse(path, `is ${JSON.stringify(rates)}, which is no other scorer`)
  else if (rated.rates !== null)
    refuse(path, `is ${JSON.stringify(rates)}, which itself rates ${JSON.stringify(rated.rates)}: name that`)
  else if (JSON.stringify(rated.scale) !== JSON.stringify(scale)) {
    refuse(path, `is ${JSON.stringify(rates)}, whose scale is another: what they say could not be compared`)
  }
}

function loadScorer(name: string, path: string, scorer: unknown, refuse: Refuse): LoadedScorer {
  if (typeof scorer === 'function') {
    const score = scorer as LoadedScorer['score']
    const defaults = { role: 'code', scale: [0, 1], passAt: null, passes: true } as const
    return { name, score, ...defaults, appliesTo: null, lane: null, timeout: null, config: null, rates: null }
  }
  if (!isObject(scorer)) return refuse(path, `must be a function or an object with \`score\`, not ${nameOf(scorer)}`)
  checkKeys(scorer, path, SCORER_KEYS, refuse)
  const { score, appliesTo, lane, timeout, rates, config } = scorer
  if (typeof score !== 'function') refuse(`${path}.score`, `must be a function, not ${nameOf(score)}`)
  if (appliesTo !== undefined && typeof appliesTo !== 'function') {
    refuse(`${path}.appliesTo`, `must be a function, not ${nameOf(appliesTo)}`)
  }
  if (lane !== undefined) checkText(lane, `${path}.lane`, refuse)
  if (timeout !== undefined) checkPositive(timeout, `${path}.timeout`, refuse)
  if (rates !== undefined) checkText(rates, `${path}.rates`, refuse)
  const scale = scaleOf(scorer.scale, `${path}.scale`, refuse)
  const passAt = passAtOf(scorer.passAt, scale, `${path}.passAt`, refuse)
  return {
    name,
    score: score as LoadedScorer['score'],
    role: roleOf(scorer.role, `${path}.role`, refuse),
    scale,
    passAt,
    passes: passesOf(scorer.passes, scale, passAt, `${path}.passes`, refuse),
    appliesTo: (appliesTo as LoadedScorer['appliesTo']) ?? null,
    lane: lane ?? null,
    timeout: timeout ?? null,
    config: configOf(config, `${path}.config`, refuse),
    rates: rates ?? null,
  }
}

function roleOf(role: unknown, path: string, refuse: Refuse): ScorerRole {
  if (role === undefined) return 'code'
  const known = SCORER_ROLES.find((each) => each === role)
  return known ?? refuse(path, `must be one of ${SCORER_ROLES.join(', ')}, not ${nameOf(role)}`)
}

function scaleOf(scale: unknown, path: string, refuse: Refuse): readonly [number, number] | null {
  if (scale === undefined) return [0, 1]
  if (scale === null) return null
  const [lowest, highest] = Array.isArray(scale) && scale.length === 2 ? scale : []
  if (!Number.isFinite(lowest) || !Number.isFinite(highest) || lowest >= highest) {
    refuse(path, 'must be [lowest, highest] with lowest < highest, both finite, or null for a scale without bounds')
  }
  return [lowest, highest]
}

function passAtOf(passAt: unknown, scale: LoadedScorer['scale'], path: string, refuse: Refuse): number | null {
  if (passAt === undefined) return null
  if (typeof passAt !== 'number' || !Number.isFinite(passAt)) {
    return refuse(path, `must be a finite number, not ${nameOf(passAt)}`)
  }
  if (scale !== null && (passAt < scale[0] || passAt > scale[1])) {
    refuse(path, `is ${passAt}, outside the scale [${scale.join(', ')}]: every cell would pass, or none`)
  }
  return passAt
}

/** On a scale other than [0, 1] a bare number says neither pass nor fail, unless `passAt` or the scorer says so. */
function passesOf(
  passes: unknown,
  scale: LoadedScorer['scale'],
  passAt: number | null,
  path: string,
  refuse: Refuse,
): boolean {
  if (passes !== undefined && typeof passes !== 'boolean') refuse(path, `must be true or false, not ${nameOf(passes)}`)
  if (passes === false && passAt !== null) refuse(path, 'is false beside a `passAt`: drop one of the two')
  return passes ?? (passAt !== null || (scale !== null && scale[0] === 0 && scale[1] === 1))
}

function configOf(config: unknown, path: string, refuse: Refuse): Json {
  if (config === undefined) return null
  try {
    canonicalJson(config, path)
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    refuse(error.path, `${error.message.slice(error.path.length + 1)}: a scorer's config is hashed`, { cause: error })
  }
  return config as Json
}

/** The scorer that decides. The first declared one decides where the gate names none. */
export function choosePrimary(
  scorers: readonly LoadedScorer[],
  named: unknown,
  scenarios: readonly Payload[],
  refuse: Refuse,
): LoadedScorer {
  const primary = named === undefined ? scorers[0] : scorers.find(({ name }) => name === named)
  const path = named === undefined ? 'scorers' : 'gate.primary'
  if (primary === undefined) {
    const names = scorers.map(({ name }) => JSON.stringify(name)).join(', ')
    return refuse(path, `is ${nameOf(named)}, which is no scorer; the scorers are ${names}`)
  }
  const self = JSON.stringify(primary.name)
  const remedy = 'declare another scorer first, or name one with gate.primary'
  if (primary.scale === null) {
    refuse(path, `decide by ${self}, whose scale has no bounds: missing cells could not be bounded; ${remedy}`)
  }
  const left = scenarios.find((scenario) => !applies(primary, scenario, refuse))
  if (left !== undefined) {
    refuse(path, `decide by ${self}, which does not apply to the scenario ${JSON.stringify(left.id)}; ${remedy}`)
  }
  return primary
}

function applies(scorer: LoadedScorer, scenario: Payload, refuse: Refuse): boolean {
  if (scorer.appliesTo === null) return true
  const path = `${childPath('scorers', scorer.name)}.appliesTo`
  try {
    const answer: unknown = scorer.appliesTo(scenario)
    if (typeof answer === 'boolean') return answer
    return refuse(path, `gave ${nameOf(answer)} for the scenario ${JSON.stringify(scenario.id)}: return true or false`)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refuse(path, `threw for the scenario ${JSON.stringify(scenario.id)}: ${message}`, { cause: error })
  }
}

/** Such a scorer waits for a judge lease: one that is a judge, or that names the lane of what it calls. */
export const callsProvider = ({ role, lane }: Pick<PlannedScorer, 'role' | 'lane'>): boolean =>
  role === 'judge' || lane !== null

export function planScorer({ name, role, scale, passes, lane, rates }: LoadedScorer): PlannedScorer {
  return { name, role, scale, passes, lane, ...(rates === null ? {} : { rates }) }
}

/** What the scorers measure, apart from their code; the order in which they are written does not enter. */
export function scorerDigestOf(scorers: readonly LoadedScorer[], primary: LoadedScorer): Digest {
  const facts = scorers.map(({ name, role, scale, passAt, passes, config }) => [
    name,
    { role, scale, passAt, passes, config },
  ])
  return digestOf({ primary: primary.name, scorers: Object.fromEntries(facts) }, 'scorers')
}
