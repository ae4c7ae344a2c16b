import { z } from 'zod'
import { CHECK_CODES, SEVERITIES } from '../integrity/codes.ts'
import { AgentProfile } from './agent-profile.ts'
import { FAILURE_CLASSES } from './failure.ts'
import { CELL_STATUSES, STATUS_REASONS } from './status.ts'
import { COST_PROVENANCES } from './usage.ts'

export const RUN_RECORD_SCHEMA = 'vitest-campaign/run-record@1'

export const SPLITS = ['search', 'dev', 'holdout'] as const
/** `search`: tuned on; `dev`: looked at while building; `holdout`: decided on. */
export type Split = (typeof SPLITS)[number]

const digest = z.string().regex(/^sha256-jcs:[0-9a-f]{64}$/)
const count = z.number().int().nonnegative()
const tokenCount = count.nullable()
const usd = z.number().nonnegative().nullable()
const instant = z.iso.datetime()

const score = z.strictObject({
  value: z.number().nullable(),
  pass: z.boolean().nullable(),
  rationale: z.string().optional(),
  role: z.enum(['code', 'judge', 'command']),
  error: z.string().optional(),
})

const tokens = z
  .strictObject({
    input: tokenCount,
    output: tokenCount,
    reasoning: tokenCount,
    cacheRead: tokenCount,
    cacheWrite: tokenCount,
    known: z.boolean(),
  })
  .refine((t) => t.input === null || (t.cacheRead ?? 0) + (t.cacheWrite ?? 0) <= t.input, {
    message: 'cache reads and writes are part of input and cannot exceed it',
  })
  .refine((t) => t.output === null || (t.reasoning ?? 0) <= t.output, {
    message: 'reasoning is part of output and cannot exceed it',
  })

/** The one row per cell that all analysis reads. Strict: an unknown key is an error, an unknown value is null. */
export const RunRecord = z.strictObject({
  schema: z.literal(RUN_RECORD_SCHEMA),
  runId: z.string(),
  campaignId: z.string(),
  fingerprint: digest,
  cellId: z.string().regex(/^[0-9a-f]{16}$/),
  variantId: z.string(),
  variantDigest: digest,
  scenarioId: z.string(),
  scenarioDigest: digest,
  family: z.string().optional(),
  seed: z.number().int(),
  split: z.enum(SPLITS),
  /** The lane of the subject's calls as read off the wire, else the declared one, else null. */
  lane: z.string().nullable(),
  status: z.enum(CELL_STATUSES),
  reason: z.enum(STATUS_REASONS).optional(),
  score: z.number().nullable(),
  pass: z.boolean().nullable(),
  scores: z.record(z.string(), score),
  scorerDigest: digest,
  judges: z.record(z.string(), z.strictObject({ model: z.string().nullable(), digest })),
  failure: z
    .strictObject({ class: z.enum(FAILURE_CLASSES), mode: z.string().optional(), message: z.string().optional() })
    .nullable(),
  /** `path` (relative to the run folder) where the output is larger than the preview. */
  output: z.strictObject({ digest, preview: z.string(), path: z.string().optional() }).nullable(),
  model: z.strictObject({ requested: z.array(z.string()), served: z.array(z.string()) }),
  promptHash: digest.nullable(),
  configHash: digest,
  commit: z.strictObject({ sha: z.string().nullable(), dirty: z.boolean() }),
  agentProfile: AgentProfile.optional(),
  /** 1 for a cell that ran once; 0 for a cell that never ran. */
  attempts: count,
  startedAt: instant.nullable(),
  /** When the provider traffic was recorded; null for live cells. */
  recordedAt: instant.nullable(),
  queueMs: z.number().nonnegative(),
  /** Null unless every call was live: the wall clock of a replay measures nothing. */
  wallMs: z.number().nonnegative().nullable(),
  /** Sum of the provider calls' durations, from the wire or from the recording; null without calls. */
  providerMs: z.number().nonnegative().nullable(),
  tokens,
  cost: z.strictObject({ usd, provenance: z.enum(COST_PROVENANCES), subjectUsd: usd, judgeUsd: usd }),
  calls: z.strictObject({ subject: count, judge: count, setup: count, retried: count, mocked: count }),
  provenance: z.enum(['live', 'replayed', 'mixed', 'carried']),
  integrity: z.strictObject({
    ok: z.boolean(),
    issues: z.array(z.strictObject({ code: z.enum(CHECK_CODES), severity: z.enum(SEVERITIES), message: z.string() })),
  }),
  metrics: z.record(z.string(), z.number()),
  tags: z.record(z.string(), z.string()),
})
export type RunRecord = z.infer<typeof RunRecord>
export type RecordedScore = z.infer<typeof score>
