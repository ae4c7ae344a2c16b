import type { Hypothesis } from '../prereg/hypothesis.ts'
import type { Split } from '../record/record.ts'
import type { GuardrailRequirement, ScorerRole } from './definition.ts'
import type { Digest } from './identity.ts'

export interface PlannedVariant {
  readonly id: string
  readonly digest: Digest
  /** Declared lane, or null when the variant says none. */
  readonly lane: string | null
  /** Set where the lane is a name that somebody gave it: the `provider/model` that its other fields show, or null. */
  readonly model?: string | null
}

export interface PlannedScenario {
  readonly id: string
  readonly digest: Digest
  readonly family: string | null
  readonly split: Split
  readonly splitDeclared: boolean
  readonly mustPass: boolean
}

export interface PlannedScorer {
  readonly name: string
  readonly role: ScorerRole
  /** Null: unbounded. */
  readonly scale: readonly [number, number] | null
  readonly passes: boolean
  readonly lane: string | null
  /** The scorer that this one rates beside: the same question, asked again or of somebody else. */
  readonly rates?: string
}

export const GUARDRAIL_ENDPOINTS = ['cost', 'latency', 'latencyP95', 'passRate', 'score'] as const
export type GuardrailEndpoint = (typeof GUARDRAIL_ENDPOINTS)[number]

export interface PlannedGuardrail {
  /** The endpoint, or the name of the scorer where the endpoint is `score`. */
  readonly name: string
  readonly endpoint: GuardrailEndpoint
  /** Largest acceptable candidate / comparator; null beside a `diff`. */
  readonly ratio: number | null
  /** Largest acceptable worsening, > 0; null beside a `ratio`. */
  readonly diff: number | null
  readonly require: GuardrailRequirement
}

/** The gate with every default filled in. */
export interface PlannedGate {
  readonly kind: 'pr' | 'release'
  readonly comparator: string | null
  /** Compared with accepted records: with those of one variant, or (null) each variant with its own. */
  readonly accepted: { readonly variant: string | null } | null
  readonly primary: string
  readonly atLeast: number | null
  readonly margin: number | null
  readonly minGain: number
  readonly target: number | null
  readonly alpha: number
  readonly candidates: readonly string[]
  readonly guardrails: readonly PlannedGuardrail[]
  readonly onInconclusive: 'warn' | 'fail'
  readonly assurance: 'standard' | 'bounded'
  readonly looks: number
}

/**
 * Everything about a campaign that is fixed before the first call. JSON: it crosses the control port, stands in the
 * journal and is what a report is computed from. Its cells are the product variants × scenarios × seeds.
 */
export interface CampaignPlan {
  readonly campaignId: string
  /** Eval file, relative to the project root, with `/`. */
  readonly file: string
  /** Line of the evalCampaign() call; null when the stack did not show it. */
  readonly line: number | null
  readonly variants: readonly PlannedVariant[]
  readonly scenarios: readonly PlannedScenario[]
  readonly seeds: readonly number[]
  readonly scorers: readonly PlannedScorer[]
  readonly scorerDigest: Digest
  /** The scorer that decides. */
  readonly primary: string
  readonly gate: PlannedGate | null
  /** What the gate registers of itself: no part of what is measured. */
  readonly hypothesis: Hypothesis | null
  readonly coverage: number
  readonly timeoutMs: number
  /** What the campaign may spend in a run; absent: the run's budget alone binds it. No part of what is measured. */
  readonly budgetUsd?: number
  readonly capture: 'on' | 'off'
  /** Its subjects change more than they answer: a cell that was cut off is not run again unasked. Absent: they do not. */
  readonly sideEffects?: true
  readonly tags: { readonly [name: string]: string }
  readonly digestFiles: readonly string[]
  /** Digest of the parts above that decide what is measured, without the code. */
  readonly definitionDigest: Digest
}

/** The cells of a plan that this run executes: `all`, or the ids that were selected. */
export type Selection = 'all' | readonly string[]

export interface PlannedCell {
  readonly cellId: string
  readonly campaignId: string
  readonly variant: PlannedVariant
  readonly scenario: PlannedScenario
  readonly seed: number
  /** Position in the plan: seeds first, then scenarios, then variants. */
  readonly position: readonly [seed: number, scenario: number, variant: number]
}
