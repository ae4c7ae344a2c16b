import { z } from 'zod'
import type { Digest } from '../campaign/identity.ts'
import {
  type CampaignPlan,
  GUARDRAIL_ENDPOINTS,
  type PlannedGate,
  type PlannedGuardrail,
  type PlannedScenario,
  type PlannedScorer,
  type PlannedVariant,
  type Selection,
} from '../campaign/plan.ts'
import { HypothesisSchema } from '../prereg/hypothesis.ts'
import { SPLITS } from '../record/record.ts'

/** Every key of T, so that a field added to a plan cannot be forgotten here. */
type ShapeOf<T> = { [K in keyof Required<T>]: z.ZodType<T[K]> }

export const digest = z.custom<Digest>(
  (value) => typeof value === 'string' && /^sha256-jcs:[0-9a-f]{64}$/.test(value),
  {
    error: 'must be a digest (sha256-jcs: and 64 hex characters)',
  },
)

const seed = z.number().int()
const lane = z.string().nullable()

const variant = z.strictObject({
  id: z.string(),
  digest,
  lane,
  model: lane.optional(),
} satisfies ShapeOf<PlannedVariant>)

const scenario = z.strictObject({
  id: z.string(),
  digest,
  family: z.string().nullable(),
  split: z.enum(SPLITS),
  splitDeclared: z.boolean(),
  mustPass: z.boolean(),
} satisfies ShapeOf<PlannedScenario>)

const scorer = z.strictObject({
  name: z.string(),
  role: z.enum(['code', 'judge', 'command']),
  scale: z.tuple([z.number(), z.number()]).nullable(),
  passes: z.boolean(),
  lane,
  rates: z.string().optional(),
} satisfies ShapeOf<PlannedScorer>)

const guardrail = z.strictObject({
  name: z.string(),
  endpoint: z.enum(GUARDRAIL_ENDPOINTS),
  ratio: z.number().nullable(),
  diff: z.number().nullable(),
  require: z.enum(['not-violated', 'shown']),
} satisfies ShapeOf<PlannedGuardrail>)

const gate = z.strictObject({
  kind: z.enum(['pr', 'release']),
  comparator: z.string().nullable(),
  accepted: z.strictObject({ variant: z.string().nullable() }).nullable(),
  primary: z.string(),
  atLeast: z.number().nullable(),
  margin: z.number().nullable(),
  minGain: z.number(),
  target: z.number().nullable(),
  alpha: z.number(),
  candidates: z.array(z.string()),
  guardrails: z.array(guardrail),
  onInconclusive: z.enum(['warn', 'fail']),
  assurance: z.enum(['standard', 'bounded']),
  looks: z.number().int().positive(),
} satisfies ShapeOf<PlannedGate>)

export const plan: z.ZodType<CampaignPlan> = z.strictObject({
  campaignId: z.string(),
  file: z.string(),
  line: z.number().int().nullable(),
  variants: z.array(variant),
  scenarios: z.array(scenario),
  seeds: z.array(seed),
  scorers: z.array(scorer),
  scorerDigest: digest,
  primary: z.string(),
  gate: gate.nullable(),
  hypothesis: HypothesisSchema.nullable(),
  coverage: z.number(),
  timeoutMs: z.number(),
  budgetUsd: z.number().nonnegative().optional(),
  capture: z.enum(['on', 'off']),
  sideEffects: z.literal(true).optional(),
  tags: z.record(z.string(), z.string()),
  digestFiles: z.array(z.string()),
  definitionDigest: digest,
} satisfies ShapeOf<CampaignPlan>)

export const selection: z.ZodType<Selection> = z.union([z.literal('all'), z.array(z.string())])
