import { type Digest, digestOf } from '../campaign/identity.ts'
import type { CampaignPlan, PlannedCell } from '../campaign/plan.ts'
import type { IntegrityIssue } from '../integrity/codes.ts'
import type { AgentProfile } from './agent-profile.ts'
import {
  type CellCall,
  costOf,
  countsOf,
  modelsOf,
  type ProviderCall,
  promptHashOf,
  provenanceOf,
  providerCalls,
  recordedAtOf,
  tokensOf,
} from './calls.ts'
import type { Failure } from './failure.ts'
import { cut, type RecordedOutput } from './output.ts'
import { type RecordedScore, RUN_RECORD_SCHEMA, type RunRecord } from './record.ts'
import type { StatusReason } from './status.ts'
import { NO_USAGE } from './usage.ts'

/** What is the same for all cells of a campaign in one run. */
export interface RecordRun {
  readonly runId: string
  /** Of the campaign: `fingerprintOf(plan, codeDigest)`. */
  readonly fingerprint: string
  readonly commit: { readonly sha: string | null; readonly dirty: boolean }
}

/** How `run` ended: with an output, or with what was made of its throw. `not_run`: nothing it asked for was sent. */
export type SubjectOutcome =
  | { readonly kind: 'output'; readonly output: RecordedOutput }
  | {
      readonly kind: 'failed'
      readonly status: 'task_fail' | 'infra_error' | 'not_run'
      readonly reason?: StatusReason
      readonly failure: Failure
    }

/** Everything that happened in a cell that ran. Texts are redacted before they come here. */
export interface CellFacts {
  readonly run: RecordRun
  readonly plan: CampaignPlan
  readonly cell: PlannedCell
  readonly outcome: SubjectOutcome
  /** By scorer name; scorers that did not apply are left out. */
  readonly scores: { readonly [name: string]: RecordedScore }
  readonly calls: readonly CellCall[]
  /** Attempts the recorder made again before the client saw them: their tokens and their bill count. Default: none. */
  readonly retried?: readonly CellCall[]
  readonly issues: readonly IntegrityIssue[]
  /** Why the run let the primary scorer give no score; default: it did. */
  readonly unjudged?: StatusReason
  readonly attempts: number
  /** ISO instant. */
  readonly startedAt: string
  readonly queueMs: number
  readonly wallMs: number
  readonly metrics?: { readonly [name: string]: number }
  readonly tags?: { readonly [name: string]: string }
  readonly agentProfile?: AgentProfile
}

/** Longest failure message, reason of a score or text of an issue, in UTF-16 code units. */
export const MESSAGE_LENGTH = 2000

/** The record of a cell that ran. Pure, and without a schema check: `buildRecord` gives valid records by construction. */
export function buildRecord(facts: CellFacts): RunRecord {
  const { plan, cell, outcome, calls } = facts
  const toProviders = providerCalls(calls)
  const billed = [...toProviders, ...providerCalls(facts.retried ?? [])]
  const broken = facts.issues.some(isError)
  const primary = facts.scores[plan.primary]
  const decided = outcome.kind === 'output' && primary !== undefined && primary.value !== null
  const scored = decided && !broken
  const provenance = provenanceOf(calls)
  return rowOf(facts.run, plan, cell, {
    lane: toProviders.find(({ role }) => role === 'subject')?.reading.lane ?? cell.variant.lane,
    status: broken ? 'capture_error' : outcome.kind === 'failed' ? outcome.status : scored ? 'scored' : 'judge_error',
    reason: broken || scored ? undefined : outcome.kind === 'failed' ? outcome.reason : facts.unjudged,
    score: scored ? primary.value : null,
    pass: scored ? primary.pass : null,
    scores: facts.scores,
    judges: judgesOf(plan, facts.scores, toProviders),
    failure: outcome.kind === 'failed' ? shortened(outcome.failure) : null,
    output: outcome.kind === 'output' ? outcome.output : null,
    model: modelsOf(toProviders, 'subject'),
    promptHash: promptHashOf(toProviders),
    agentProfile: facts.agentProfile,
    attempts: facts.attempts,
    startedAt: facts.startedAt,
    recordedAt: recordedAtOf(calls),
    queueMs: facts.queueMs,
    wallMs: provenance === 'live' ? facts.wallMs : null,
    providerMs: providerMsOf(toProviders),
    tokens: plan.capture === 'off' ? { ...NO_USAGE, known: false } : tokensOf(billed),
    cost: costOf(billed, { subject: isBlind(plan, calls, 'subject'), judge: isBlind(plan, calls, 'judge') }),
    calls: countsOf(calls),
    provenance,
    issues: facts.issues,
    metrics: facts.metrics ?? {},
    tags: facts.tags ?? {},
  })
}

/** The time of all calls; null without any, and where one's is not known (an import that does not say). */
function providerMsOf(toProviders: readonly CellCall[]): number | null {
  if (toProviders.length === 0) return null
  return toProviders.reduce<number | null>(
    (sum, { totalMs }) => (sum === null || totalMs === null ? null : sum + totalMs),
    0,
  )
}

/**
 * A role that reached only hosts which are no model provider may have bought tokens behind one of them; nobody saw the
 * bill, and an unseen bill is not 0.
 */
function isBlind(plan: CampaignPlan, calls: readonly CellCall[], role: CellCall['role']): boolean {
  if (plan.capture === 'off') return true
  const own = calls.filter((call) => call.role === role && call.source !== 'mocked')
  return own.length > 0 && own.every(({ reading }) => reading === null)
}

/** Why a cell has no result of its own. */
export interface NeverRan {
  readonly status: 'not_run' | 'skipped' | 'infra_error'
  readonly reason: StatusReason
  readonly message?: string
  /** More than 0: it was started and lost, so that what it cost is unknown. Default 0. */
  readonly attempts?: number
  readonly startedAt?: string
  readonly queueMs?: number
}

/** The record of a cell that never ran, or whose worker died under it. */
export function neverRan(run: RecordRun, plan: CampaignPlan, cell: PlannedCell, why: NeverRan): RunRecord {
  const attempts = why.attempts ?? 0
  const lost = attempts > 0
  const explained = why.status === 'infra_error' || why.message !== undefined
  const failure: Failure = {
    class: why.status === 'infra_error' ? 'sandbox_failure' : 'unknown',
    mode: why.reason,
    ...(why.message === undefined ? {} : { message: why.message }),
  }
  return rowOf(run, plan, cell, {
    lane: cell.variant.lane,
    status: why.status,
    reason: why.reason,
    score: null,
    pass: null,
    scores: {},
    judges: {},
    failure: explained ? shortened(failure) : null,
    output: null,
    model: { requested: [], served: [] },
    promptHash: null,
    agentProfile: undefined,
    attempts,
    startedAt: why.startedAt ?? null,
    recordedAt: null,
    queueMs: why.queueMs ?? 0,
    wallMs: null,
    providerMs: null,
    tokens: { ...NO_USAGE, known: !lost },
    cost: costOf([], { subject: lost, judge: lost }),
    calls: countsOf([]),
    provenance: 'live',
    issues: [],
    metrics: {},
    tags: {},
  })
}

/** What differs between cells; the rest of a row is the run's and the plan's. */
type Findings = Pick<
  RunRecord,
  | 'lane'
  | 'status'
  | 'score'
  | 'pass'
  | 'judges'
  | 'failure'
  | 'output'
  | 'model'
  | 'promptHash'
  | 'attempts'
  | 'startedAt'
  | 'recordedAt'
  | 'queueMs'
  | 'wallMs'
  | 'providerMs'
  | 'tokens'
  | 'cost'
  | 'calls'
  | 'provenance'
> &
  Pick<CellFacts, 'scores' | 'issues'> & {
    readonly reason: StatusReason | undefined
    readonly agentProfile: AgentProfile | undefined
    readonly metrics: { readonly [name: string]: number }
    readonly tags: { readonly [name: string]: string }
  }

/** One literal without spreads: an object of this width made by spreading costs over ten times as much, per cell. */
function rowOf(run: RecordRun, plan: CampaignPlan, cell: PlannedCell, found: Findings): RunRecord {
  const { variant, scenario } = cell
  const row: RunRecord = {
    schema: RUN_RECORD_SCHEMA,
    runId: run.runId,
    campaignId: plan.campaignId,
    fingerprint: run.fingerprint,
    cellId: cell.cellId,
    variantId: variant.id,
    variantDigest: variant.digest,
    scenarioId: scenario.id,
    scenarioDigest: scenario.digest,
    seed: cell.seed,
    split: scenario.split,
    lane: found.lane,
    status: found.status,
    score: found.score,
    pass: found.pass,
    scores: { ...found.scores },
    scorerDigest: plan.scorerDigest,
    judges: found.judges,
    failure: found.failure,
    output: found.output,
    model: found.model,
    promptHash: found.promptHash,
    configHash: configHashOf(plan, variant.digest),
    commit: { sha: run.commit.sha, dirty: run.commit.dirty },
    attempts: found.attempts,
    startedAt: found.startedAt,
    recordedAt: found.recordedAt,
    queueMs: found.queueMs,
    wallMs: found.wallMs,
    providerMs: found.providerMs,
    tokens: found.tokens,
    cost: found.cost,
    calls: found.calls,
    provenance: found.provenance,
    integrity: { ok: !found.issues.some(isError), issues: [...found.issues] },
    metrics: { ...found.metrics },
    tags: { ...plan.tags, ...found.tags },
  }
  if (scenario.family !== null) row.family = scenario.family
  if (found.reason !== undefined) row.reason = found.reason
  if (found.agentProfile !== undefined) row.agentProfile = found.agentProfile
  return row
}

const isError = ({ severity }: IntegrityIssue) => severity === 'error'

const configHashes = new WeakMap<CampaignPlan, Map<Digest, Digest>>()

/** Digest of how a variant was measured. Kept per plan: a campaign has few variants and many cells. */
function configHashOf(plan: CampaignPlan, variantDigest: Digest): Digest {
  const ofPlan = configHashes.get(plan) ?? new Map<Digest, Digest>()
  configHashes.set(plan, ofPlan)
  const kept = ofPlan.get(variantDigest)
  if (kept !== undefined) return kept
  const { scorerDigest, definitionDigest } = plan
  const hash = digestOf({ variantDigest, scorerDigest, definitionDigest })
  ofPlan.set(variantDigest, hash)
  return hash
}

/** The model is known where all judge calls of the cell asked for one and the same. */
function judgesOf(
  plan: CampaignPlan,
  scores: CellFacts['scores'],
  calls: readonly ProviderCall[],
): RunRecord['judges'] {
  const judges: RunRecord['judges'] = {}
  for (const { name, role } of plan.scorers) {
    if (role !== 'judge' || scores[name] === undefined) continue
    const { requested } = modelsOf(calls, 'judge')
    const model = requested.length === 1 ? (requested[0] ?? null) : null
    judges[name] = { model, digest: digestOf({ name, scorerDigest: plan.scorerDigest }) }
  }
  return judges
}

function shortened(failure: Failure): Failure {
  const { message } = failure
  return message === undefined ? failure : { ...failure, message: cut(message, MESSAGE_LENGTH) }
}
