import { cellIdOf, type Digest, digestOf } from '../../../src/core/campaign/identity.ts'
import type { CampaignPlan, PlannedGate, PlannedScenario, PlannedScorer } from '../../../src/core/campaign/plan.ts'
import { RUN_RECORD_SCHEMA, type RunRecord } from '../../../src/core/record/record.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import type { CampaignReport, Reason, ReportInput } from '../../../src/core/report/report.ts'

/** What a test says about a plan; everything else has a value that a small real campaign would have. */
export interface PlanParts {
  readonly campaignId?: string
  /** Ids; default `current` and `concise`. */
  readonly variants?: readonly string[]
  /** A count (ids `s01`, `s02`, …) or scenarios; default 12. */
  readonly scenarios?: number | readonly ({ readonly id: string } & Partial<PlannedScenario>)[]
  /** A count or the seeds; default 1. */
  readonly seeds?: number | readonly number[]
  /** `null`: no gate. Default: a `pr` gate of every variant against `current`. */
  readonly gate?: Partial<PlannedGate> | null
  /** Scale of the primary scorer `label`; default [0, 1]. */
  readonly scale?: PlannedScorer['scale']
  readonly coverage?: number
}

export interface Coordinates {
  readonly variant: string
  readonly scenario: string
  readonly seed: number
}

const digests = new Map<string, Digest>()
/** The digest of something that a test knows by a name; the same name, the same digest. */
export function idDigest(id: string): Digest {
  const digest = digests.get(id) ?? digestOf({ id })
  digests.set(id, digest)
  return digest
}

export const fingerprintOf = (plan: CampaignPlan): Digest => digestOf({ plan: plan.definitionDigest, code: 'test' })

export function scenarioId(index: number): string {
  return `s${String(index + 1).padStart(2, '0')}`
}

export function planOf(parts: PlanParts = {}): CampaignPlan {
  const variants = (parts.variants ?? ['current', 'concise']).map((id) => ({ id, digest: idDigest(id), lane: null }))
  const given = parts.scenarios ?? 12
  const listed = typeof given === 'number' ? Array.from({ length: given }, (_, i) => ({ id: scenarioId(i) })) : given
  const scenarios = listed.map(
    (scenario): PlannedScenario => ({
      digest: idDigest(scenario.id),
      family: null,
      split: 'holdout',
      splitDeclared: false,
      mustPass: false,
      ...scenario,
    }),
  )
  const seeds = typeof parts.seeds === 'object' ? parts.seeds : Array.from({ length: parts.seeds ?? 1 }, (_, i) => i)
  const comparator = parts.gate?.comparator === undefined ? 'current' : parts.gate.comparator
  const gate: PlannedGate | null =
    parts.gate === null
      ? null
      : {
          kind: 'pr',
          comparator,
          accepted: null,
          primary: 'label',
          atLeast: null,
          margin: null,
          minGain: 0,
          target: null,
          alpha: 0.025,
          candidates: variants.map(({ id }) => id).filter((id) => id !== comparator),
          guardrails: [],
          onInconclusive: parts.gate?.kind === 'release' ? 'fail' : 'warn',
          assurance: 'standard',
          looks: 1,
          ...parts.gate,
        }
  const plan = {
    campaignId: parts.campaignId ?? 'triage',
    file: 'evals/triage.eval.ts',
    line: 12,
    variants,
    scenarios,
    seeds,
    scorers: [
      {
        name: 'label',
        role: 'code',
        scale: parts.scale === undefined ? [0, 1] : parts.scale,
        passes: true,
        lane: null,
      },
    ],
    scorerDigest: idDigest('scorers'),
    primary: 'label',
    gate,
    hypothesis: null,
    coverage: parts.coverage ?? 0.95,
    timeoutMs: 600_000,
    capture: 'on',
    tags: {},
    digestFiles: [],
  } as const satisfies Omit<CampaignPlan, 'definitionDigest'>
  return { ...plan, definitionDigest: digestOf(plan) }
}

/** Every planned cell, variants outermost. */
export function cellsOf(plan: CampaignPlan): Coordinates[] {
  return plan.variants.flatMap(({ id: variant }) =>
    plan.scenarios.flatMap(({ id: scenario }) => plan.seeds.map((seed) => ({ variant, scenario, seed }))),
  )
}

/**
 * A valid record of one cell: live, scored 1, one provider call, its charge observed. A status without a score has
 * `score` and `pass` null; a number scored passes when it is the top of the scale.
 */
export function recordOf(plan: CampaignPlan, cell: Coordinates, parts: Partial<RunRecord> = {}): RunRecord {
  const { variant, scenario, seed } = cell
  const status = parts.status ?? 'scored'
  const top = plan.scorers[0]?.scale?.[1] ?? 1
  const score = status !== 'scored' ? null : parts.score === undefined ? top : parts.score
  const pass = score === null ? null : score === top
  const ran = status !== 'not_run' && status !== 'skipped'
  const planned = plan.scenarios.find(({ id }) => id === scenario)
  return {
    schema: RUN_RECORD_SCHEMA,
    runId: 'run-1',
    campaignId: plan.campaignId,
    fingerprint: fingerprintOf(plan),
    cellId: cellIdOf({ campaignId: plan.campaignId, variantId: variant, scenarioId: scenario, seed }),
    variantId: variant,
    variantDigest: idDigest(variant),
    scenarioId: scenario,
    scenarioDigest: planned?.digest ?? idDigest(scenario),
    ...(planned?.family == null ? {} : { family: planned.family }),
    seed,
    split: planned?.split ?? 'holdout',
    lane: 'openai/gpt-5-mini',
    status,
    score,
    pass,
    scores: { label: { value: score, pass, role: 'code' } },
    scorerDigest: plan.scorerDigest,
    judges: {},
    failure: status === 'task_fail' ? { class: 'unknown', mode: 'throw', message: 'the subject threw' } : null,
    output: ran ? { digest: idDigest(`${variant} ${scenario} ${seed}`), preview: 'billing' } : null,
    model: ran ? { requested: ['gpt-5-mini'], served: ['gpt-5-mini-2025-08-07'] } : { requested: [], served: [] },
    promptHash: ran ? idDigest(`prompt ${scenario}`) : null,
    configHash: idDigest(variant),
    commit: { sha: '0123456789abcdef0123456789abcdef01234567', dirty: false },
    attempts: ran ? 1 : 0,
    startedAt: ran ? '2026-01-02T03:04:05.000Z' : null,
    recordedAt: null,
    queueMs: 3,
    wallMs: ran ? 800 : null,
    providerMs: ran ? 700 : null,
    tokens: ran
      ? { input: 120, output: 20, reasoning: 0, cacheRead: 0, cacheWrite: 0, known: true }
      : { input: null, output: null, reasoning: null, cacheRead: null, cacheWrite: null, known: true },
    cost: ran
      ? { usd: 0.0004, provenance: 'observed', subjectUsd: 0.0004, judgeUsd: 0 }
      : { usd: 0, provenance: 'observed', subjectUsd: 0, judgeUsd: 0 },
    calls: { subject: ran ? 1 : 0, judge: 0, setup: 0, retried: 0, mocked: 0 },
    provenance: 'live',
    integrity: { ok: true, issues: [] },
    metrics: {},
    tags: {},
    ...parts,
  }
}

/** What became of a cell: a score, parts of its record, or null for a cell that left no record. */
export type Given = number | Partial<RunRecord> | null

/** Records of every planned cell, as `of` says. */
export function recordsOf(
  plan: CampaignPlan,
  of: (cell: Coordinates, at: { readonly scenario: number; readonly seed: number }) => Given,
): RunRecord[] {
  const scenarioAt = new Map(plan.scenarios.map(({ id }, i) => [id, i]))
  const seedAt = new Map(plan.seeds.map((seed, i) => [seed, i]))
  return cellsOf(plan).flatMap((cell) => {
    const given = of(cell, { scenario: scenarioAt.get(cell.scenario) ?? 0, seed: seedAt.get(cell.seed) ?? 0 })
    if (given === null) return []
    return [recordOf(plan, cell, typeof given === 'number' ? { score: given } : given)]
  })
}

export function inputOf(
  plan: CampaignPlan,
  records: Iterable<RunRecord>,
  problems: readonly Reason[] = [],
): ReportInput {
  return { plan, fingerprint: fingerprintOf(plan), records, problems }
}

/** The report of a small campaign in one call. */
export function reportOf(
  parts: PlanParts,
  of: Parameters<typeof recordsOf>[1],
  problems: readonly Reason[] = [],
): CampaignReport {
  const plan = planOf(parts)
  return buildReport(inputOf(plan, recordsOf(plan, of), problems))
}

export const isCandidate = ({ variant }: Coordinates): boolean => variant === 'concise'

export const warningCodes = ({ warnings }: CampaignReport): string[] => warnings.map(({ code }) => code)
