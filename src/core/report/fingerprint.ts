import { createHash } from 'node:crypto'
import type { RunRecord } from '../record/record.ts'
import { byCodeUnit, type Cells } from './cells.ts'

/** What a second run of the same thing changes without changing what was measured. */
type Clock = 'runId' | 'startedAt' | 'recordedAt' | 'queueMs' | 'wallMs' | 'providerMs'
/** Every key of T, so that a field added to the record cannot be left out of its digest unnoticed. */
type All<T> = { readonly [key in keyof Required<T>]: unknown }

/**
 * Digest of the records: every field of every record — score, status, cost, attempts — but run id and clocks. One
 * JSON line per record, in the order of the plan; what has no place in the plan follows, sorted.
 */
export function recordsFingerprint(cells: Cells): string {
  const hash = createHash('sha256')
  for (const record of cells.records) if (record !== undefined) hash.update(`${contentLine(record)}\n`)
  for (const line of cells.unplaced.map(contentLine).sort(byCodeUnit)) hash.update(`${line}\n`)
  return `sha256:${hash.digest('hex')}`
}

/**
 * Text of a record without its clocks, the same whatever the order of its keys. The known ones stand in code-unit order in the literal, which the
 * platform's own JSON.stringify keeps: several times faster than sorting each record's keys.
 */
function contentLine(record: RunRecord): string {
  const { calls, commit, cost, failure, integrity, model, output, tokens } = record
  const content: All<Omit<RunRecord, Clock>> = {
    agentProfile: sorted(record.agentProfile),
    attempts: record.attempts,
    calls: {
      judge: calls.judge,
      mocked: calls.mocked,
      retried: calls.retried,
      setup: calls.setup,
      subject: calls.subject,
    } satisfies All<typeof calls>,
    campaignId: record.campaignId,
    cellId: record.cellId,
    commit: { dirty: commit.dirty, sha: commit.sha } satisfies All<typeof commit>,
    configHash: record.configHash,
    cost: {
      judgeUsd: cost.judgeUsd,
      provenance: cost.provenance,
      subjectUsd: cost.subjectUsd,
      usd: cost.usd,
    } satisfies All<typeof cost>,
    failure:
      failure === null
        ? null
        : ({ class: failure.class, message: failure.message, mode: failure.mode } satisfies All<typeof failure>),
    family: record.family,
    fingerprint: record.fingerprint,
    integrity: {
      issues: integrity.issues.map(({ code, message, severity }) => ({ code, message, severity })),
      ok: integrity.ok,
    } satisfies All<typeof integrity>,
    judges: sorted(record.judges),
    lane: record.lane,
    metrics: sorted(record.metrics),
    model: { requested: model.requested, served: model.served } satisfies All<typeof model>,
    output:
      output === null
        ? null
        : ({ digest: output.digest, path: output.path, preview: output.preview } satisfies All<typeof output>),
    pass: record.pass,
    promptHash: record.promptHash,
    provenance: record.provenance,
    reason: record.reason,
    scenarioDigest: record.scenarioDigest,
    scenarioId: record.scenarioId,
    schema: record.schema,
    score: sorted(record.score),
    scorerDigest: record.scorerDigest,
    scores: sorted(record.scores),
    seed: record.seed,
    split: record.split,
    status: record.status,
    tags: sorted(record.tags),
    tokens: {
      cacheRead: tokens.cacheRead,
      cacheWrite: tokens.cacheWrite,
      input: tokens.input,
      known: tokens.known,
      output: tokens.output,
      reasoning: tokens.reasoning,
    } satisfies All<typeof tokens>,
    variantDigest: record.variantDigest,
    variantId: record.variantId,
  }
  return JSON.stringify(content)
}

/**
 * A value with its keys in code-unit order (keys that are whole numbers first: the engine puts them there). A number
 * that JSON cannot say becomes its name, so that it changes the digest.
 */
function sorted(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const keys = Object.keys(value)
  let inOrder = true
  if (keys.length === 0) return value
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) inOrder = false
  if (!inOrder) keys.sort(byCodeUnit)
  const result: { [key: string]: unknown } = {}
  for (const key of keys) result[key] = sorted(Reflect.get(value, key))
  return result
}
