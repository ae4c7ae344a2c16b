import { digestOf } from '../campaign/identity.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import { philoxKey } from '../stats/philox.ts'
import { type Arm, armOf, zeroCounts } from './arm.ts'
import { judgeCandidates } from './candidate.ts'
import { byCodeUnit, type Cells, placeRecords } from './cells.ts'
import { recordsFingerprint } from './fingerprint.ts'
import { scoreWords } from './numbers.ts'
import { differingJudges, evidenceOf, failuresOf, integrityOf, missingReasons } from './observations.ts'
import { type CampaignReport, REPORT_SCHEMA, type Reason, type ReportInput, type VariantSummary } from './report.ts'
import { rounded } from './rounding.ts'
import { unitsOf } from './units.ts'
import { summarize } from './variant-summary.ts'
import { coverageVerdict, gateVerdict } from './verdict.ts'
import { warningsOf } from './warnings.ts'

const DEFAULT_ALPHA = 0.025
/** Problems found outside the records after which no number is a verdict. */
const INVALIDATING: ReadonlySet<string> = new Set(['duplicate_cell', 'campaign_twice', 'interrupted', 'manifest_mismatch'])

/**
 * The report of one campaign: a pure function of plan, records and problems. The planned cells are the denominator;
 * records may come in any order, and run ids and clocks reach nothing but the latency of live cells and the dates of
 * recordings. Numbers are rounded to 6 significant digits.
 *
 * @throws Error when the plan contradicts itself: no cells, or a gate that names a variant or scorer it does not have
 */
export function buildReport(input: ReportInput): CampaignReport {
  const { plan } = input
  const names = checkPlan(plan)
  const cells = placeRecords(plan, input.fingerprint, input.records)
  const scale = primaryScale(plan)
  const units = unitsOf(cells.scenarios)
  const arms = cells.variants.map((_, variant) => armOf(cells, variant, scale ?? [0, 1]))
  const problems = input.problems.toSorted((a, b) => byCodeUnit(a.code, b.code) || byCodeUnit(a.text, b.text))
  const invalid = invalidReasons(plan, cells, arms, problems)
  const armNamed = (id: string): Arm | undefined => arms[cells.variants.findIndex((variant) => variant.id === id)]
  const comparator = names.comparator === null ? null : (armNamed(names.comparator) ?? null)
  const candidates = names.candidates.flatMap((id) => armNamed(id) ?? [])
  const alpha = plan.gate?.alpha ?? DEFAULT_ALPHA
  const roles = arms.map((arm): VariantSummary['role'] =>
    arm === comparator ? 'comparator' : candidates.includes(arm) ? 'candidate' : 'variant',
  )
  const order = arms.toSorted((a, b) => Number(b === comparator) - Number(a === comparator) || a.variant - b.variant)
  const variants = order.map((arm) => summarize(cells, arm, units, roles[arm.variant] ?? 'variant', 1 - 2 * alpha))
  const judged =
    plan.gate === null
      ? []
      : judgeCandidates({
          cells,
          arms,
          units,
          gate: plan.gate,
          scale: scale ?? [0, 1],
          comparator,
          candidates,
          coverageFloor: plan.coverage,
          invalid,
          key: philoxKey(
            plan.campaignId,
            cells.scenarios.map(({ digest }) => digest),
            plan.primary,
          ),
        })
  const integrity = integrityOf(cells)
  const counts = zeroCounts()
  for (const arm of arms)
    for (const status of Object.keys(counts) as (keyof typeof counts)[]) counts[status] += arm.counts[status]
  const splits = new Map<string, number>()
  for (const { split } of cells.scenarios) splits.set(split, (splits.get(split) ?? 0) + 1)

  const body: Omit<CampaignReport, 'fingerprint'> & {
    readonly fingerprint: Omit<CampaignReport['fingerprint'], 'report'>
  } = rounded({
    schema: REPORT_SCHEMA,
    campaignId: plan.campaignId,
    file: plan.file,
    line: plan.line,
    verdict:
      plan.gate === null
        ? coverageVerdict(variants, plan.coverage, plan.primary, invalid, scoreWords(scale ?? [0, 1]).value)
        : gateVerdict(judged, invalid),
    design: {
      comparator: names.comparator,
      candidates: names.candidates,
      primary: plan.primary,
      scale,
      scenarios: cells.scenarios.length,
      families: units.families,
      seeds: cells.seeds.length,
      splits: Object.fromEntries([...splits.keys()].sort(byCodeUnit).map((split) => [split, splits.get(split) ?? 0])),
      splitDeclared: cells.scenarios.every(({ splitDeclared }) => splitDeclared),
      margin: plan.gate?.margin ?? null,
      minGain: plan.gate?.minGain ?? 0,
      target: plan.gate?.target ?? plan.gate?.margin ?? null,
      alpha,
      coverageFloor: plan.coverage,
    },
    fingerprint: { campaign: input.fingerprint, records: recordsFingerprint(cells) },
    coverage: { planned: cells.records.length, counts, reasons: missingReasons(cells) },
    variants,
    candidates: judged.map(({ report }) => report),
    integrity,
    evidence: evidenceOf(cells),
    failures: failuresOf(cells),
    warnings: warningsOf({ cells, variants, integrity, judged, coverageFloor: plan.coverage, problems }),
  })
  return { ...body, fingerprint: { ...body.fingerprint, report: digestOf(body, 'report') } }
}

function primaryScale(plan: CampaignPlan): readonly [number, number] | null {
  return plan.scorers.find((scorer) => scorer.name === plan.primary)?.scale ?? null
}

function invalidReasons(plan: CampaignPlan, cells: Cells, arms: readonly Arm[], problems: readonly Reason[]): Reason[] {
  const empty = arms.filter((arm) => arm.counts.scored === 0).map((arm) => cells.variants[arm.variant]?.id ?? '')
  return [
    ...problems.filter(({ code }) => INVALIDATING.has(code)),
    ...cells.problems,
    ...(primaryScale(plan) === null
      ? [{ code: 'unbounded_primary', text: `the primary scorer ${plan.primary} has no bounded scale` }]
      : []),
    ...differingJudges(cells).map((text) => ({ code: 'judge_differs', text })),
    ...empty.map((id) => ({ code: 'no_scored_cell', text: `${id} has not one scored cell: nothing was measured` })),
  ]
}

function checkPlan(plan: CampaignPlan): { readonly comparator: string | null; readonly candidates: readonly string[] } {
  const where = `campaign ${plan.campaignId} (${plan.file})`
  if (plan.variants.length * plan.scenarios.length * plan.seeds.length === 0) {
    throw new Error(`${where} plans no cells: it needs at least one variant, one scenario and one seed`)
  }
  if (!plan.scorers.some(({ name }) => name === plan.primary)) {
    throw new Error(`${where}: the primary scorer ${plan.primary} is not among its scorers`)
  }
  if (plan.gate === null) return { comparator: null, candidates: [] }
  const { comparator, candidates } = plan.gate
  for (const id of comparator === null ? candidates : [comparator, ...candidates]) {
    if (!plan.variants.some((variant) => variant.id === id))
      throw new Error(`${where}: the gate names ${id}, which is no variant`)
  }
  return { comparator, candidates: [...new Set(candidates)].filter((id) => id !== comparator).sort(byCodeUnit) }
}
