import { joinAccepted } from '../accepted/pairing.ts'
import { digestOf } from '../campaign/identity.ts'
import type { CampaignPlan } from '../campaign/plan.ts'
import { preregistrationOf } from '../prereg/registration.ts'
import { philoxKey } from '../stats/philox.ts'
import { alphaPerLook } from '../stats/sequence/alpha-spending.ts'
import { actionsOf } from './actions.ts'
import { type Arm, armOf, zeroCounts } from './arm.ts'
import { budgetOf } from './budget.ts'
import { judgeCandidates } from './candidate.ts'
import { capacityOf, failoverWarnings } from './capacity.ts'
import { byCodeUnit, placeRecords } from './cells.ts'
import { exploratoryReasons } from './exploratory.ts'
import { failuresOf } from './failures.ts'
import { recordsFingerprint } from './fingerprint.ts'
import { frontierOf } from './frontier.ts'
import { interruptedText, invalidReasons, primaryScale, unpairedReasons } from './invalid.ts'
import { judgesOf } from './judges/judges.ts'
import { labelProblems } from './judges/ratings.ts'
import { isLive } from './latency.ts'
import { scoreWords } from './numbers.ts'
import { evidenceOf, integrityOf, missingReasons } from './observations.ts'
import { byProblem } from './problem-order.ts'
import { type AcceptedReport, type CampaignReport, REPORT_SCHEMA, type ReportInput } from './report.ts'
import { rounded } from './rounding.ts'
import { slicesOf } from './slices.ts'
import { decidingCells } from './splits.ts'
import { unitsOf } from './units.ts'
import type { VariantSummary } from './variant-report.ts'
import { summarize } from './variant-summary.ts'
import { coverageVerdict, gateVerdict } from './verdict.ts'
import { warningsOf } from './warnings.ts'

const DEFAULT_ALPHA = 0.025
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
  const own = placeRecords(plan, input.fingerprint, input.records)
  const joined =
    plan.gate?.accepted == null || input.accepted == null
      ? null
      : joinAccepted(plan, own, input.accepted, names.candidates)
  const all = joined?.cells ?? own
  const cells = decidingCells(all)
  const scale = primaryScale(plan)
  const units = unitsOf(cells.scenarios)
  const arms = cells.variants.map((_, variant) => armOf(cells, variant, scale ?? [0, 1]))
  const whole = cells === all ? arms : all.variants.map((_, variant) => armOf(all, variant, scale ?? [0, 1]))
  const problems = input.problems.toSorted(byProblem)
  const invalid = invalidReasons(plan, own, arms.slice(0, own.variants.length), problems)
  if (joined !== null) invalid.push(...unpairedReasons(joined.report, arms.slice(own.variants.length)))
  const interrupted = interruptedText(own, whole.slice(0, own.variants.length), invalid)
  const armNamed = (id: string): Arm | undefined => arms[cells.variants.findIndex((variant) => variant.id === id)]
  const candidates = names.candidates.flatMap((id) => armNamed(id) ?? [])
  const comparators = names.candidates.map((id) => {
    const comparator = joined === null ? names.comparator : (joined.comparatorOf.get(id) ?? null)
    return comparator === null ? null : (armNamed(comparator) ?? null)
  })
  const pairs = candidates.flatMap((arm, j) => {
    const comparator = comparators[j] ?? null
    return comparator === null ? [] : [{ arm, comparator }]
  })
  const compared = (arm: Arm): boolean =>
    comparators.includes(arm) || cells.variants[arm.variant]?.id === names.comparator
  const looks = looksOf(input)
  const declaredAlpha = plan.gate?.alpha ?? DEFAULT_ALPHA
  const alpha = alphaPerLook(declaredAlpha, looks.allowed)
  const prereg = input.prereg == null ? null : preregistrationOf(input.prereg, plan, own.records, input.looks?.since)
  const exploratory = exploratoryReasons(plan.gate, cells, looks, prereg, joined?.report ?? null)
  const roles = arms.map((arm): VariantSummary['role'] =>
    compared(arm) ? 'comparator' : candidates.includes(arm) ? 'candidate' : 'variant',
  )
  const order = arms.toSorted((a, b) => Number(compared(b)) - Number(compared(a)) || a.variant - b.variant)
  const key = philoxKey(
    plan.campaignId,
    cells.scenarios.map(({ digest }) => digest),
    plan.primary,
  )
  const level = 1 - 2 * alpha
  const frontier = frontierOf(cells, arms, units, alpha, key)
  const allLive = isLive(all.records)
  const variants = order.map((arm) =>
    summarize({
      cells,
      all,
      arm,
      whole: whole[arm.variant] ?? arm,
      units,
      role: roles[arm.variant] ?? 'variant',
      level,
      limitMs: plan.timeoutMs,
      allLive,
      scale: scale ?? [0, 1],
      frontier: frontier[arm.variant] ?? { class: null, dominatedBy: [], probability: null, refused: 'no_data' },
    }),
  )
  const labels = (input.labels ?? []).filter(({ campaignId }) => campaignId === plan.campaignId)
  const judges = judgesOf(cells, plan.scorers, labels, key)
  const judged =
    plan.gate === null
      ? []
      : judgeCandidates({
          cells,
          allCells: all,
          arms,
          units,
          gate: { ...plan.gate, alpha },
          scale: scale ?? [0, 1],
          comparators,
          candidates,
          coverageFloor: plan.coverage,
          invalid,
          exploratory,
          scales: new Map(plan.scorers.map((scorer) => [scorer.name, scorer.scale])),
          passes: plan.scorers.find(({ name }) => name === plan.primary)?.passes ?? false,
          judged: plan.scorers.find(({ name }) => name === plan.primary)?.role === 'judge',
          judge: judges.find(({ scorer }) => scorer === plan.primary) ?? null,
          key,
        })
  const integrity = integrityOf(own)
  const counts = zeroCounts()
  for (const arm of whole.slice(0, own.variants.length))
    for (const status of Object.keys(counts) as (keyof typeof counts)[]) counts[status] += arm.counts[status]
  const failures = failuresOf(own, plan.primary)
  const reasons = missingReasons(own)
  const budget = budgetOf(
    input.budget,
    own.records.flatMap((record) => record ?? []),
  )
  const capacity = capacityOf(
    input.capacity,
    own.records.flatMap((record) => record ?? []),
  )
  const splits = new Map<string, number>()
  for (const { split } of all.scenarios) splits.set(split, (splits.get(split) ?? 0) + 1)

  const body: Omit<CampaignReport, 'fingerprint'> & {
    readonly fingerprint: Omit<CampaignReport['fingerprint'], 'report'>
  } = rounded({
    schema: REPORT_SCHEMA,
    campaignId: plan.campaignId,
    file: plan.file,
    line: plan.line,
    verdict:
      plan.gate === null
        ? coverageVerdict(
            variants,
            plan.coverage,
            plan.primary,
            invalid,
            scoreWords(scale ?? [0, 1]).value,
            interrupted,
          )
        : gateVerdict(judged, plan.gate, invalid, interrupted),
    confirmatory: plan.gate !== null && exploratory.length === 0 && prereg?.verified === true && invalid.length === 0,
    prereg,
    looks,
    design: {
      comparator: joined === null ? names.comparator : comparatorName(joined.report),
      accepted: joined?.report ?? null,
      candidates: names.candidates,
      primary: plan.primary,
      scale,
      scenarios: all.scenarios.length,
      deciding: cells.scenarios.length,
      families: units.families,
      seeds: cells.seeds.length,
      splits: Object.fromEntries([...splits.keys()].sort(byCodeUnit).map((split) => [split, splits.get(split) ?? 0])),
      splitDeclared: all.scenarios.every(({ splitDeclared }) => splitDeclared),
      margin: plan.gate?.margin ?? null,
      minGain: plan.gate?.minGain ?? 0,
      target: plan.gate?.target ?? plan.gate?.margin ?? null,
      alpha: declaredAlpha,
      alphaOfLook: alpha,
      guardrails: plan.gate?.guardrails ?? [],
      assurance: plan.gate?.assurance ?? null,
      onInconclusive: plan.gate?.onInconclusive ?? null,
      coverageFloor: plan.coverage,
    },
    fingerprint: { campaign: input.fingerprint, records: recordsFingerprint(own) },
    coverage: { planned: own.records.length, counts, reasons },
    ...(budget === null ? {} : { budget }),
    ...(capacity === null ? {} : { capacity }),
    variants,
    candidates: judged.map(({ report }) => report),
    judges,
    slices: slicesOf(cells, pairs, scale ?? [0, 1]),
    integrity,
    evidence: evidenceOf(own),
    failures,
    warnings: warningsOf({
      cells: own,
      variants,
      accepted: joined?.report ?? null,
      integrity,
      judged,
      coverageFloor: plan.coverage,
      problems: [...problems, ...failoverWarnings(capacity), ...labelProblems(plan.scorers, labels)],
      judges,
      exploratory: plan.gate === null ? [] : exploratory,
      looks,
    }),
    actions: actionsOf({
      campaignId: plan.campaignId,
      accepted: joined?.report ?? null,
      judged,
      exploratory,
      variants,
      failures,
      counts,
      reasons,
      unjudged: own.records.filter((record) => record?.status === 'judge_error' && record.reason !== undefined).length,
      invalid,
      integrity,
      seeds: cells.seeds.length,
    }),
  })
  return { ...body, fingerprint: { ...body.fingerprint, report: digestOf(body, 'report') } }
}

function comparatorName({ arms }: AcceptedReport): string {
  const [only, ...others] = arms
  return only === undefined || others.length > 0 ? 'accepted records' : only.id
}

/** @throws Error for looks that cannot be counted */
function looksOf({ plan, looks }: ReportInput): CampaignReport['looks'] {
  const used = looks?.used ?? 1
  const allowed = looks?.allowed ?? plan.gate?.looks ?? 1
  for (const [name, count] of Object.entries({ used, allowed })) {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new Error(`campaign ${plan.campaignId}: looks.${name} must be a whole number from 1 on, not ${count}`)
    }
  }
  return { used, allowed, exhausted: used > allowed, spent: looks?.spent ?? null }
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
