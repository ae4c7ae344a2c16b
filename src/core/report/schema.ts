import { z } from 'zod'
import { GUARDRAIL_ENDPOINTS } from '../campaign/plan.ts'
import { CLOSURES } from '../capacity/events.ts'
import type { LaneTraffic } from '../capacity/lane-traffic.ts'
import { COST_PROVENANCES } from '../record/usage.ts'
import { FRONTIER_CLASSES } from '../stats/bootstrap/frontier.ts'
import type { BudgetReport } from './budget.ts'
import type { CandidateReport, GuardrailReport, ScenarioChange } from './candidate-report.ts'
import type { CapacityReport, Failover } from './capacity.ts'
import { judge } from './judges/schema.ts'
import { CLOCKS } from './latency.ts'
import {
  type AcceptedReport,
  type CampaignReport,
  type FailureCluster,
  MISMATCHES,
  REPORT_SCHEMA,
  type SliceReport,
} from './report.ts'
import {
  count,
  estimate,
  interval,
  number,
  outcome,
  pValue,
  reason,
  refused,
  type ShapeOf,
  statusCounts,
  text,
  variance,
} from './shapes.ts'
import type { Flakiness, Latency, VariantSummary } from './variant-report.ts'

const plannedGuardrail = {
  name: text,
  endpoint: z.enum(GUARDRAIL_ENDPOINTS),
  ratio: number,
  diff: number,
  require: z.enum(['not-violated', 'shown']),
}

const guardrail = z.strictObject({
  ...plannedGuardrail,
  comparator: number,
  candidate: number,
  estimate,
  outcome: z.enum(['ok', 'violated', 'unproven']),
  clock: z.enum(CLOCKS).nullable(),
} satisfies ShapeOf<GuardrailReport>)

const flakiness = z.strictObject({
  flaky: count,
  stablePass: count,
  stableFail: count,
  unknown: count,
  share: number,
  disagreement: estimate,
  scenarios: z.array(z.strictObject({ scenario: text, passed: count, runs: count, lo: z.number(), hi: z.number() })),
  refused,
} satisfies ShapeOf<Flakiness>)

const latency = { medianMs: estimate, p95Ms: estimate }

const variant = z.strictObject({
  id: text,
  role: z.enum(['comparator', 'candidate', 'variant']),
  counts: statusCounts,
  planned: count,
  coverage: z.number(),
  mean: estimate,
  bounds: z.strictObject({ lo: number, hi: number }),
  passRate: estimate,
  cost: z.strictObject({
    totalUsd: number,
    knownUsd: z.number(),
    uncapturedCells: count,
    perCellUsd: number,
    perSuccessUsd: number,
    provenance: z.enum(COST_PROVENANCES),
    refused,
  }),
  latency: z.strictObject({
    ...latency,
    censored: count,
    limitMs: z.number(),
    source: z.enum(['live', 'recorded', 'mixed', 'none']),
    wall: z.strictObject(latency satisfies ShapeOf<Latency>),
  }),
  tokens: z.strictObject({ input: number, output: number, known: z.boolean() }),
  reliability: z.strictObject({
    k: count,
    passAtK: estimate,
    passHatK: estimate,
    bounds: z.strictObject({ passAtK: interval.nullable(), passHatK: interval.nullable() }),
  }),
  flakiness,
  variance,
  splits: z.array(z.strictObject({ split: text, scenarios: count, mean: estimate })),
  overfitGap: estimate.nullable(),
  frontier: z.strictObject({
    class: z.enum(FRONTIER_CLASSES).nullable(),
    dominatedBy: z.array(text),
    probability: number,
    refused,
  }),
} satisfies ShapeOf<VariantSummary>)

const change = z.strictObject({
  scenario: text,
  comparator: number,
  candidate: number,
  delta: number,
  comparatorSeeds: text,
  candidateSeeds: text,
  flaky: z.strictObject({ comparator: z.boolean(), candidate: z.boolean() }),
} satisfies ShapeOf<ScenarioChange>)

const candidate = z.strictObject({
  id: text,
  comparator: text.nullable(),
  outcome,
  rule: text,
  reasons: z.array(reason),
  difference: estimate.nullable(),
  completeCase: estimate.nullable(),
  bounds: z.strictObject({ lo: number, hi: number, tippingCells: count.nullable() }).nullable(),
  signFlip: pValue.nullable(),
  adjusted: z.strictObject({
    method: z.enum(['holm', 'maxT', 'none']),
    p: number,
    intervals: z.enum(['maxT', 'bonferroni', 'none']),
  }),
  tests: z.strictObject({
    mcnemar: z
      .strictObject({ better: count, worse: count, p: z.number(), midP: z.number(), interval: estimate })
      .nullable(),
    wilcoxon: z
      .strictObject({ p: number, pFloor: z.number(), moving: count, zeros: count, pseudoMedian: estimate })
      .nullable(),
  }),
  detectableDrop: z.strictObject({ drop: number, refused }),
  unseenLoss: z.strictObject({ lost: count, units: count, upperRate: z.number() }).nullable(),
  atLeast: z.strictObject({ threshold: z.number(), outcome, mean: estimate }).nullable(),
  mustPass: z.strictObject({
    scenarios: count,
    broken: z.array(z.strictObject({ scenario: text, failedSeeds: z.array(z.number().int()) })),
  }),
  guardrails: z.array(guardrail),
  boundedLower: estimate.nullable(),
  variance,
  power: z.strictObject({
    target: number,
    unit: z.enum(['scenario', 'family']),
    requiredScenarios: count.nullable(),
    requiredAtAnySeeds: count.nullable(),
    requiredUsd: number,
    seedsNarrowBy: number,
    advice: text.nullable(),
    refused,
  }),
  costRatio: z.strictObject({ perCell: estimate, perSuccess: estimate }),
  latencyRatio: z.strictObject({ clock: z.enum(CLOCKS), median: estimate, p95: estimate }),
  flakinessChange: estimate,
  worst: z.array(change),
  changed: z.strictObject({ worse: count, better: count, same: count, missing: count }),
} satisfies ShapeOf<CandidateReport>)

const accepted = z.strictObject({
  digest: text,
  runId: text,
  commit: text.nullable(),
  measuredFrom: text.nullable(),
  measuredTo: text.nullable(),
  arms: z.array(
    z.strictObject({
      id: text,
      variant: text,
      candidates: z.array(text),
      paired: count,
      mismatches: z.array(z.strictObject({ code: z.enum(MISMATCHES), count, example: text })),
      models: z.array(z.strictObject({ requested: text, accepted: z.array(text), now: z.array(text) })),
    }),
  ),
  without: z.array(text),
} satisfies ShapeOf<AcceptedReport>)

const cluster = {
  count,
  example: text.nullable(),
  messages: z.array(z.strictObject({ text, count })),
  distinct: count,
  cells: z.array(text),
} satisfies ShapeOf<FailureCluster>

const capacity = z.strictObject({
  lanes: z
    .array(
      z.strictObject({
        lane: text,
        account: text.nullable(),
        requests: count,
        peak: count,
        concurrency: count,
        throttled: count,
        faults: count,
        waitedMs: z.strictObject({
          cells: count,
          slots: count,
          pace: count,
          hold: count,
          budget: count,
          'first-cell': count,
        } satisfies ShapeOf<LaneTraffic['waitedMs']>),
        closed: z.strictObject({ reason: z.enum(CLOSURES), detail: text }).nullable(),
      } satisfies ShapeOf<LaneTraffic>),
    )
    .nullable(),
  refused,
  failovers: z.array(
    z.strictObject({
      lane: text,
      cells: count,
      calls: count,
      variants: z.array(z.strictObject({ variant: text, cells: count, of: count })),
    } satisfies ShapeOf<Failover>),
  ),
} satisfies ShapeOf<CapacityReport>)

/** The report as it is written. Strict: an unknown key is an error; every number is finite. */
export const CampaignReportSchema = z.strictObject({
  schema: z.literal(REPORT_SCHEMA),
  campaignId: text,
  file: text,
  line: count.nullable(),
  verdict: z.strictObject({
    word: z.enum(['PASS', 'FAIL', 'NO VERDICT']),
    gate: z.enum(['pr', 'release', 'none']),
    outcome: outcome.nullable(),
    rule: text.nullable(),
    red: z.boolean(),
    exitCode: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    headline: text,
    reasons: z.array(reason),
  }),
  confirmatory: z.boolean(),
  prereg: z
    .strictObject({
      hash: text,
      claim: text,
      source: text,
      commit: text.nullable(),
      order: z.enum(['before', 'after', 'uncommitted', 'unknown']),
      verified: z.boolean(),
      deviations: z.array(z.strictObject({ field: text, planned: z.json(), actual: z.json() })),
    })
    .nullable(),
  looks: z.strictObject({ used: count, allowed: count, exhausted: z.boolean(), spent: number }),
  design: z.strictObject({
    comparator: text.nullable(),
    accepted: accepted.nullable(),
    candidates: z.array(text),
    primary: text,
    scale: interval.nullable(),
    scenarios: count,
    deciding: count,
    families: count.nullable(),
    seeds: count,
    splits: z.record(z.string(), count),
    splitDeclared: z.boolean(),
    margin: number,
    minGain: z.number(),
    target: number,
    alpha: z.number(),
    alphaOfLook: z.number(),
    guardrails: z.array(z.strictObject(plannedGuardrail)),
    assurance: z.enum(['standard', 'bounded']).nullable(),
    onInconclusive: z.enum(['warn', 'fail']).nullable(),
    coverageFloor: z.number(),
  } satisfies ShapeOf<CampaignReport['design']>),
  fingerprint: z.strictObject({ campaign: text, records: text, report: text }),
  coverage: z.strictObject({ planned: count, counts: statusCounts, reasons: z.record(z.string(), count) }),
  variants: z.array(variant),
  candidates: z.array(candidate),
  judges: z.array(judge),
  slices: z.array(
    z.strictObject({
      by: text,
      value: text,
      candidate: text,
      scenarios: count,
      difference: estimate,
      p: number,
      q: number,
    } satisfies ShapeOf<SliceReport>),
  ),
  integrity: z.strictObject({
    backend: z.enum(['real', 'mixed', 'stub', 'none']),
    issues: z.array(z.strictObject({ code: text, severity: z.enum(['error', 'warn']), count, example: text })),
  }),
  budget: z
    .strictObject({
      usd: number,
      runUsd: number,
      spentUsd: z.number(),
      heldUsd: z.number(),
      unknownUsd: z.number(),
      unknownCells: count,
      reconciledCells: count,
      overUsd: z.number(),
    } satisfies ShapeOf<BudgetReport>)
    .optional(),
  capacity: capacity.optional(),
  evidence: z.strictObject({
    live: count,
    replayed: count,
    mixed: count,
    carried: count,
    silent: count,
    recordedFrom: text.nullable(),
    recordedTo: text.nullable(),
  }),
  failures: z.array(
    z.strictObject({
      class: text,
      mode: text.nullable(),
      ...cluster,
      variants: z.array(z.strictObject({ variant: text, ...cluster })),
    }),
  ),
  warnings: z.array(reason),
  actions: z.array(reason),
} satisfies ShapeOf<CampaignReport>)

/** JSON Schema of the report, as published in `docs/report.schema.json`. */
export function reportJsonSchema(): object {
  return {
    ...z.toJSONSchema(CampaignReportSchema, { target: 'draft-2020-12' }),
    title: REPORT_SCHEMA,
    description: 'The report of one campaign: the one source of every rendering. A null stands beside its reason.',
  }
}
