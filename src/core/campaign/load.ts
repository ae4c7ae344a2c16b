import type { IntegrityOptions } from '../integrity/codes.ts'
import type { Split } from '../record/record.ts'
import type { CampaignDefinition, RunContext } from './definition.ts'
import { type DefinitionSite, type Refuse, refuser } from './definition-error.ts'
import { definitionDigestOf } from './fingerprint.ts'
import { namedPrimary, planGate, planHypothesis } from './gate.ts'
import { idProblem } from './identity.ts'
import { declaredLane, laneOfPayload } from './lane.ts'
import { type Member, type Payload, resolveListing, type SettlesWithin } from './listing.ts'
import { checkKeys, checkText, nameOf } from './options.ts'
import type { CampaignPlan, PlannedScenario } from './plan.ts'
import { choosePrimary, type LoadedScorer, loadScorers, planScorer, scorerDigestOf } from './scoring.ts'
import { resolveSeeds } from './seeds.ts'
import { type GivenDefinition, readSettings, splitOf } from './settings.ts'

/** A campaign ready to run: the plan, and what a plan cannot carry because it is no JSON or too large. */
export interface Campaign {
  readonly plan: CampaignPlan
  /** By id, as `run` and the scorers see them. */
  readonly variants: ReadonlyMap<string, Payload>
  readonly scenarios: ReadonlyMap<string, Payload>
  /** In the order declared. */
  readonly scorers: readonly LoadedScorer[]
  readonly run: (context: RunContext<Payload, Payload>) => unknown
  readonly mocks: readonly unknown[]
  readonly integrity: IntegrityOptions
  /** Null: any origin may be called. */
  readonly routes: readonly string[] | null
}

export const DEFAULT_TIMEOUT_MS = 600_000

const DEFINITION_KEYS: readonly (keyof GivenDefinition)[] = [
  'variants',
  'scenarios',
  'seeds',
  'run',
  'scorers',
  'gate',
  'coverage',
  'split',
  'lane',
  'timeout',
  'budget',
  'tags',
  'mocks',
  'integrity',
  'routes',
  'capture',
  'sideEffects',
  'digest',
]

const isSettled: SettlesWithin = async (work) => {
  await work.catch(() => {})
  return true
}

/**
 * Resolves the sources of a definition, checks all of it and plans it.
 *
 * @param project defaults of the project; `timeoutMs` is the cell deadline of campaigns that set none
 * @param settlesWithin bounds how long variants and scenarios may load; default: for ever
 * @throws CampaignDefinitionError naming the campaign, the file, the option and what to do
 */
export async function loadDefinition<Variant extends object, Scenario extends object, Output>(
  id: string,
  definition: CampaignDefinition<Variant, Scenario, Output>,
  where: DefinitionSite,
  project: { readonly timeoutMs: number } = { timeoutMs: DEFAULT_TIMEOUT_MS },
  settlesWithin: SettlesWithin = isSettled,
): Promise<Campaign> {
  const refuse: Refuse = refuser(typeof id === 'string' ? id : nameOf(id), where)
  const problem = idProblem(id)
  if (problem !== null) refuse('', `has an id that ${problem}`)
  checkKeys(definition, '', DEFINITION_KEYS, refuse)
  const given: GivenDefinition = definition
  const { run } = given
  if (typeof run !== 'function') refuse('run', `must be a function, not ${nameOf(run)}`)
  const settings = readSettings(given, refuse)
  const scorers = loadScorers(given.scorers, refuse)
  const named = namedPrimary(given.gate, refuse)
  const seeds = resolveSeeds(given.seeds ?? 1, refuse)
  const variants = await resolveListing('variants', given.variants, refuse, settlesWithin)
  const scenarios = await resolveListing('scenarios', given.scenarios, refuse, settlesWithin)
  const payloads = scenarios.map(({ payload }) => payload)
  const primary = choosePrimary(scorers, named, payloads, refuse)

  const plannedScenarios = scenarios.map((scenario) => planScenario(scenario, settings.split, primary, refuse))
  const facts = {
    variantIds: variants.map((variant) => variant.id),
    scenarios: plannedScenarios,
    primary,
    scorers,
    seeds: seeds.length,
  }
  const plan = {
    campaignId: id,
    file: where.file,
    line: where.line,
    variants: variants.map((variant) => {
      const lane = declaredLane(variant, given.lane, refuse)
      const model = laneOfPayload(variant.payload)
      return { id: variant.id, digest: variant.digest, lane, ...(lane === model ? {} : { model }) }
    }),
    scenarios: plannedScenarios,
    seeds,
    scorers: scorers.map(planScorer),
    scorerDigest: scorerDigestOf(scorers, primary),
    primary: primary.name,
    gate: planGate(given.gate, facts, refuse),
    hypothesis: planHypothesis(given.gate, id, refuse),
    coverage: settings.coverage,
    timeoutMs: settings.timeoutMs ?? project.timeoutMs,
    ...(settings.budgetUsd === null ? {} : { budgetUsd: settings.budgetUsd }),
    capture: settings.capture,
    ...(settings.sideEffects ? { sideEffects: true as const } : {}),
    tags: settings.tags,
    digestFiles: settings.digestFiles,
  }
  return {
    plan: { ...plan, definitionDigest: definitionDigestOf(plan) },
    variants: payloadsOf(variants),
    scenarios: payloadsOf(scenarios),
    scorers,
    // Called on the definition: a `run` written as a method may use `this`.
    run: (context) => run.call(definition, context),
    mocks: settings.mocks,
    integrity: settings.integrity,
    routes: settings.routes,
  }
}

const payloadsOf = (members: readonly Member[]) => new Map(members.map(({ id, payload }) => [id, payload]))

function planScenario(
  { id, digest, path, payload }: Member,
  fallback: Split | null,
  primary: LoadedScorer,
  refuse: Refuse,
): PlannedScenario {
  const { mustPass, family, split, canary } = payload
  if (mustPass !== undefined && typeof mustPass !== 'boolean') {
    refuse(`${path}.mustPass`, `must be true or false, not ${nameOf(mustPass)}`)
  }
  if (mustPass === true && !primary.passes) {
    const name = JSON.stringify(primary.name)
    refuse(`${path}.mustPass`, `needs a scorer that says pass or fail; ${name} gives numbers only: set its \`passAt\``)
  }
  if (family !== undefined) checkText(family, `${path}.family`, refuse)
  if (canary !== undefined) checkText(canary, `${path}.canary`, refuse)
  const declared = split === undefined ? fallback : splitOf(split, `${path}.split`, refuse)
  return {
    id,
    digest,
    family: family ?? null,
    split: declared ?? 'holdout',
    splitDeclared: declared !== null,
    mustPass: mustPass === true,
  }
}
