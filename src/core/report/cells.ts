import type { CampaignPlan, PlannedScenario, PlannedVariant } from '../campaign/plan.ts'
import type { RunRecord } from '../record/record.ts'
import type { Reason } from './report.ts'

/**
 * The planned cells with their records. The plan is the denominator: a cell without a record is there and empty.
 * Variants, scenarios and seeds are in code-unit order, so that neither the order of declaration nor that of arrival
 * reaches a sum.
 */
export interface Cells {
  readonly variants: readonly PlannedVariant[]
  readonly scenarios: readonly PlannedScenario[]
  readonly seeds: readonly number[]
  /** The record at `(variant · scenarios + scenario) · seeds + seed`; a hole where there is none that counts. */
  readonly records: readonly (RunRecord | undefined)[]
  /** Records that cannot be part of this campaign; any makes it invalid. */
  readonly unplaced: readonly RunRecord[]
  /** Why the campaign is invalid, one reason per kind. */
  readonly problems: readonly Reason[]
}

export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byId = (a: { readonly id: string }, b: { readonly id: string }): number => byCodeUnit(a.id, b.id)

/** Puts every record in its planned cell, and names what does not fit. */
export function placeRecords(plan: CampaignPlan, fingerprint: string, records: Iterable<RunRecord>): Cells {
  const variants = plan.variants.toSorted(byId)
  const scenarios = plan.scenarios.toSorted(byId)
  const seeds = plan.seeds.toSorted((a, b) => a - b)
  const variantAt = new Map(variants.map((variant, i) => [variant.id, i]))
  const scenarioAt = new Map(scenarios.map((scenario, i) => [scenario.id, i]))
  const seedAt = new Map(seeds.map((seed, i) => [seed, i]))
  const placed = new Array<RunRecord | undefined>(variants.length * scenarios.length * seeds.length).fill(undefined)
  const twice = new Set<number>()
  const cellIds = new Map<string, number>()
  const unplaced: RunRecord[] = []
  const findings = new Findings()
  const scale = plan.scorers.find((scorer) => scorer.name === plan.primary)?.scale ?? null

  for (const record of records) {
    const variant = variantAt.get(record.variantId)
    const scenario = scenarioAt.get(record.scenarioId)
    const seed = seedAt.get(record.seed)
    const where = `${record.variantId} / ${record.scenarioId} / seed ${record.seed}`
    if (
      variant === undefined ||
      scenario === undefined ||
      seed === undefined ||
      record.campaignId !== plan.campaignId
    ) {
      findings.add('unexpected_cell', where)
      unplaced.push(record)
      continue
    }
    if (record.fingerprint !== fingerprint) {
      findings.add('fingerprint_mismatch', where)
      unplaced.push(record)
      continue
    }
    const at = (variant * scenarios.length + scenario) * seeds.length + seed
    const namesake = cellIds.get(record.cellId)
    if (placed[at] !== undefined || twice.has(at) || namesake !== undefined) {
      findings.add('duplicate_cell', where)
      unplaced.push(record)
      // None of them counts: which one came first must not decide.
      for (const cell of new Set([at, namesake ?? at])) {
        const first = placed[cell]
        if (first !== undefined) unplaced.push(first)
        placed[cell] = undefined
        twice.add(cell)
      }
      continue
    }
    cellIds.set(record.cellId, at)
    placed[at] = record
    const digests =
      record.variantDigest === variants[variant]?.digest && record.scenarioDigest === scenarios[scenario]?.digest
    if (!digests) findings.add('content_mismatch', where)
    if (record.scorerDigest !== plan.scorerDigest) findings.add('scorer_mismatch', where)
    if (record.status === 'scored') checkScore(record, scale, where, findings)
    if (record.integrity.issues.some((issue) => issue.code === 'canary_leak' && issue.severity === 'error')) {
      findings.add('canary_leak', where)
    }
  }
  return { variants, scenarios, seeds, records: placed, unplaced, problems: findings.reasons() }
}

function checkScore(
  record: RunRecord,
  scale: readonly [number, number] | null,
  where: string,
  findings: Findings,
): void {
  if (record.score === null || !Number.isFinite(record.score)) findings.add('score_not_finite', where)
  else if (scale !== null && (record.score < scale[0] || record.score > scale[1])) {
    findings.add('score_outside_scale', `${where}: ${record.score}`)
  }
  if (record.integrity.issues.some((issue) => issue.severity === 'error')) findings.add('unsound_score', where)
}

const TEXTS = {
  unexpected_cell: 'records of cells that the plan does not have',
  fingerprint_mismatch: 'records measured with another definition or other code than this plan',
  duplicate_cell: 'records for cells that have one already',
  content_mismatch: 'records of a variant or scenario with other contents than planned',
  scorer_mismatch: 'records scored by other scorers than planned',
  score_not_finite: 'scored records without a finite score',
  score_outside_scale: 'scores outside the scale of the primary scorer',
  unsound_score: 'scored records whose integrity checks failed',
  canary_leak: 'records in which a canary leaked',
} as const
type Finding = keyof typeof TEXTS

/** Counts findings and keeps the example that is first by code unit, so that arrival order never shows. */
class Findings {
  readonly #found = new Map<Finding, { count: number; example: string }>()

  add(code: Finding, example: string): void {
    const known = this.#found.get(code)
    if (known === undefined) this.#found.set(code, { count: 1, example })
    else {
      known.count++
      if (byCodeUnit(example, known.example) < 0) known.example = example
    }
  }

  reasons(): Reason[] {
    return Object.entries(TEXTS).flatMap(([code, text]) => {
      const found = this.#found.get(code as Finding)
      return found === undefined ? [] : [{ code, text: `${found.count} ${text} (first: ${found.example})` }]
    })
  }
}
