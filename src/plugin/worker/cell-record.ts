import { canonicalJson, type Json } from '../../core/campaign/canonical-json.ts'
import { type CheckedCall, checkCell } from '../../core/integrity/check.ts'
import type { SubjectFacts } from '../../core/journal/entry.ts'
import { buildRecord, type SubjectOutcome } from '../../core/record/build.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { StatusReason } from '../../core/record/status.ts'
import type { CallRole } from '../../core/traffic/exchange.ts'
import type { CellTraffic, CellTrafficResult } from '../replay/traffic.ts'
import type { CellContext } from './cell-context.ts'
import type { Scoring } from './score.ts'

/** What came of an execution. */
export interface CellFacts {
  readonly outcome: SubjectOutcome
  readonly scoring: Scoring
  readonly calls: readonly CheckedCall[]
  /** Attempts made again before the subject or scorer saw them. */
  readonly retried: readonly CheckedCall[]
  readonly closed: CellTrafficResult | null
  /** The output, redacted; null where there is none. */
  readonly kept: Json
  /** Of a subject that an earlier run ran: it is scored here, and nothing else. */
  readonly before: SubjectFacts | null
  /** Names of the rules that found secrets in what was to be recorded. */
  readonly secrets: readonly string[]
}

/** Checks the cell and builds its record. */
export function cellRecord(context: CellContext, facts: CellFacts, traffic: CellTraffic | null): RunRecord {
  const { planned, cell, lease, notes, scenario, bridge } = context
  const { campaign } = context.registered
  const { plan } = campaign
  const { outcome, scoring, calls, retried, closed, before, secrets } = facts
  const { canary } = scenario
  const issues = checkCell(
    {
      capture: traffic === null ? 'off' : 'on',
      subject: outcome.kind === 'output' ? 'output' : 'failed',
      failing: failingRoles(outcome, scoring),
      calls,
      open: closed?.open ?? [],
      late: traffic?.late() ?? [],
      misses: closed?.misses.map((miss) => miss.message) ?? [],
      unused: closed?.unused ?? [],
      secrets,
      routes: campaign.routes,
      canary: typeof canary === 'string' ? canary : null,
      profile: notes.profile,
      // Only a canary is looked for in it, and writing every output out once more is not free.
      output: typeof canary === 'string' && facts.kept !== null ? canonicalJson(facts.kept) : null,
    },
    campaign.integrity,
  )
  return buildRecord({
    run: { ...planned.run, fingerprint: planned.fingerprint },
    plan,
    cell,
    outcome,
    scores: scoring.scores,
    calls,
    retried,
    issues,
    ...unjudged(context, scoring),
    attempts: lease.attempt,
    startedAt: before?.startedAt ?? context.startedAt,
    queueMs: before?.queueMs ?? lease.queueMs,
    wallMs: bridge.clock.now() - context.started + (before?.wallMs ?? 0),
    metrics: notes.metrics,
    tags: notes.tags,
    ...(notes.profile === null ? {} : { agentProfile: notes.profile }),
  })
}

/** Why the primary scorer has no score, where the run is the reason. */
function unjudged({ registered, deadline }: CellContext, { scores, unjudged }: Scoring): { unjudged?: StatusReason } {
  const { primary } = registered.campaign.plan
  const reason = unjudged[primary]
  if (reason !== undefined) return { unjudged: reason }
  return deadline.endedBy === 'shutdown' && scores[primary]?.error !== undefined ? { unjudged: 'interrupted' } : {}
}

/** Whose failed calls the record tells of: that of the subject, or those of scorers that gave no score. */
function failingRoles(outcome: SubjectOutcome, { scores }: Scoring): CallRole[] {
  const roles: CallRole[] = []
  if (outcome.kind === 'failed' && outcome.status === 'infra_error') roles.push('subject')
  if (Object.values(scores).some(({ error }) => error !== undefined)) roles.push('judge')
  return roles
}
