import type { BudgetOptions } from '../capacity/budget.ts'
import type { CheckCode, IntegrityOptions } from '../integrity/codes.ts'
import type { Hypothesis } from '../prereg/hypothesis.ts'
import type { AgentProfileInput } from '../record/agent-profile.ts'
import type { FailureClass } from '../record/failure.ts'
import type { Split } from '../record/record.ts'
import type { AcceptedComparator } from './accepted.ts'
import type { Json } from './canonical-json.ts'

export type { CheckCode, IntegrityOptions, Json, Split }

type MaybePromise<T> = T | Promise<T>

/** A record (keys are the ids), an array whose members carry an `id`, or a function (async allowed) giving either. */
export type Source<T> = Listing<T> | (() => MaybePromise<Listing<T>>)
export type Listing<T> = { readonly [id: string]: T } | readonly (T & { readonly id: string })[]

/** What any scenario may carry beside the user's own fields. */
export interface ScenarioOptions {
  /** Any failed seed of this scenario, where the comparator passes, is red at any sample size. */
  readonly mustPass?: boolean
  /** Scenarios of one family (template, document) are one unit of inference. */
  readonly family?: string
  /** Default: the campaign's `split`, else `holdout`. */
  readonly split?: Split
  /** Text that must never reach a provider request or an output: its appearance is the check `canary_leak`. */
  readonly canary?: string
}

/** What any variant may carry beside the user's own fields. */
export interface VariantOptions {
  /** The declared capacity lane; default: `provider/model` where the variant's `model` or `provider` says it. */
  readonly lane?: string
}

export interface RunContext<Variant, Scenario> {
  readonly variant: Variant & { readonly id: string }
  readonly scenario: Scenario & { readonly id: string }
  /** The number of the repetition. */
  readonly seed: number
  /** Aborts at the cell's deadline and at shutdown; hand it to every call. */
  readonly signal: AbortSignal
  readonly cellId: string
  /**
   * The lane this cell is to use, or null where none is declared: its own, or an `equivalent` one while its own is held
   * or closed. A variant whose lane has equivalents sends its requests where this says.
   */
  readonly lane: string | null
  /** A fetch captured and replayed like the global one, without passing through interception: faster in replay. */
  readonly fetch: typeof globalThis.fetch
  /** Records a number of your own beside the scores. Finite, else a TypeError. */
  metric(name: string, value: number): void
  /** Records a text of your own. No object, else a TypeError. */
  tag(name: string, value: string): void
  /** Writes a file into the run folder and returns its path. */
  artifact(name: string, data: string | Uint8Array): Promise<string>
  /** Ends the cell as `task_fail`: the subject failed, the test stays green. */
  fail(reason: string | { readonly class?: FailureClass; readonly mode?: string; readonly message: string }): never
  /** Declares who makes the output; kept in the record, and held against the wire. A TypeError names what is wrong. */
  profile(profile: AgentProfileInput): void
}

export interface ScoreContext<Variant, Scenario, Output> {
  readonly output: Output
  readonly variant: Variant & { readonly id: string }
  readonly scenario: Scenario & { readonly id: string }
  readonly seed: number
  readonly cellId: string
  readonly signal: AbortSignal
  readonly fetch: typeof globalThis.fetch
}

/** A boolean is pass or fail (1 or 0); a number is a score on the scorer's scale; null is "no opinion". */
export type ScoreValue =
  | boolean
  | number
  | null
  | { readonly value: number | boolean | null; readonly pass?: boolean | null; readonly rationale?: string }

export type ScoreFunction<Variant, Scenario, Output> = (
  context: ScoreContext<Variant, Scenario, Output>,
) => MaybePromise<ScoreValue>

export type ScorerRole = 'code' | 'judge' | 'command'

export interface ScorerObject<Variant, Scenario, Output> {
  readonly score: ScoreFunction<Variant, Scenario, Output>
  /** Default `code`. */
  readonly role?: ScorerRole
  /** Smallest and largest possible value; default [0, 1]. `null` is unbounded, and such a scorer cannot be primary. */
  readonly scale?: readonly [lowest: number, highest: number] | null
  /** From this value on (on the scale) a number counts as passed; without it numbers neither pass nor fail. */
  readonly passAt?: number
  /**
   * Whether the values say pass or fail: by `passAt`, by booleans, or by `{ value, pass }`. Default: true with a
   * `passAt` or the scale [0, 1], else false.
   */
  readonly passes?: boolean
  /** False leaves the scorer out of this scenario's cells. */
  readonly appliesTo?: (scenario: Scenario & { readonly id: string }) => boolean
  /** The lane of the provider calls this scorer makes. */
  readonly lane?: string
  /** Milliseconds; default: what is left of the cell's deadline. */
  readonly timeout?: number
  /**
   * Name of another scorer whose question this one answers too: the same judge once more, or another judge. Their
   * agreement is reported, and a judge below the floor ships nothing. Same scale; it is not that scorer's guardrail.
   */
  readonly rates?: string
  /** Anything that changes what the scorer measures and is not in its source: goes into the scorer digest. */
  readonly config?: Json
}

export type Scorer<Variant, Scenario, Output> =
  | ScoreFunction<Variant, Scenario, Output>
  | ScorerObject<Variant, Scenario, Output>

/**
 * A limit beside the primary score. `ratio`: largest acceptable candidate / comparator (`1.1`: a tenth more), for cost
 * and latency. `diff`: largest acceptable worsening in units of the endpoint (USD per cell, milliseconds, share of
 * passes, score), > 0. Exactly one of them.
 */
export interface GuardrailOptions {
  readonly ratio?: number
  readonly diff?: number
  /**
   * `not-violated` (default of a `pr` gate): only a shown violation counts. `shown` (default of a `release` gate): the
   * limit must be shown to hold before anything ships.
   */
  readonly require?: GuardrailRequirement
}
export type GuardrailRequirement = 'not-violated' | 'shown'

/** `latency` is the median, `latencyP95` the 95th percentile over all runs; any other key names a scorer. */
export interface Guardrails {
  readonly cost?: GuardrailOptions
  readonly latency?: GuardrailOptions
  readonly latencyP95?: GuardrailOptions
  readonly passRate?: GuardrailOptions
  readonly [scorer: string]: GuardrailOptions | undefined
}

/** The declared decision rule. */
export interface GateOptions {
  /**
   * `pr` (default): red only when something is shown wrong. `release`: green only when a candidate is shown good
   * enough; beside a comparator it needs a `margin` or a `minGain`, and a `target` (default: the margin).
   */
  readonly kind?: 'pr' | 'release'
  /**
   * Variant the others are compared with, or `accepted()`: the committed records of an earlier run. Without one,
   * `atLeast` or a must-pass scenario is needed.
   */
  readonly comparator?: string | AcceptedComparator
  /** Scorer that decides; default: the first declared. */
  readonly primary?: string
  /**
   * On the scorer's scale. `pr`: red when the upper bound of a variant's mean is below; `release`: green when the
   * lower bound is not.
   */
  readonly atLeast?: number
  /** Largest acceptable loss, score units, > 0. */
  readonly margin?: number
  /** Smallest gain worth shipping, score units, ≥ 0; default 0. */
  readonly minGain?: number
  /** Effect one wants to be able to see, score units; default: the margin. */
  readonly target?: number
  /** One-sided level; default 0.025. */
  readonly alpha?: number
  /** Variants that can turn the gate red; default: all but the comparator. */
  readonly candidates?: readonly string[]
  /** Limits that hold beside the primary score, each at the full level. */
  readonly guardrails?: Guardrails
  /** Whether a gate that decided nothing is red; default: `warn` in a `pr` gate, `fail` in a `release` gate. */
  readonly onInconclusive?: 'warn' | 'fail'
  /**
   * `bounded`: nothing ships on a t interval alone; a bound that holds whatever the distribution must clear the limit
   * too. Costs power, protects from rare large losses. Default `standard`.
   */
  readonly assurance?: 'standard' | 'bounded'
  /** What is claimed, fixed before the data; or register it in a `*.prereg.json` beside the eval file. */
  readonly hypothesis?: Hypothesis
  /** Confirmatory looks at these scenarios that are planned; each is decided at `alpha / looks`. Default 1. */
  readonly looks?: number
}

export interface CampaignDefinition<Variant extends object, Scenario extends object, Output> {
  readonly variants: Source<Variant & VariantOptions>
  readonly scenarios: Source<Scenario & ScenarioOptions>
  /** A count (0…n−1) or a list of unique safe integers; default 1. */
  readonly seeds?: number | readonly number[]
  run(context: RunContext<Variant, Scenario>): MaybePromise<Output>
  readonly scorers: { readonly [name: string]: Scorer<NoInfer<Variant>, NoInfer<Scenario>, NoInfer<Output>> }
  readonly gate?: GateOptions
  /** Share of an arm's planned cells that must be scored or `task_fail`; default .95. */
  readonly coverage?: number
  /** Split of scenarios that name none; default `holdout`. */
  readonly split?: Split
  /** Declared lane of a variant that names none. */
  readonly lane?: string | ((variant: Variant & { readonly id: string }) => string | null)
  /** Cell deadline in milliseconds; default: the project's (10 minutes). */
  readonly timeout?: number
  /** The most this campaign may spend in a run, US dollars; the run's own budget binds it as well. Default: that alone. */
  readonly budget?: BudgetOptions
  readonly tags?: { readonly [name: string]: string }
  /** msw request handlers for the campaign's tools; what they answer is recorded as mocked, never as a provider call. */
  readonly mocks?: readonly unknown[]
  readonly integrity?: IntegrityOptions
  /** Origins the subject may call; another one is `route_not_allowed`. Default: any. */
  readonly routes?: readonly string[]
  /** `off` for subjects that call no provider: nothing is captured and `no_provider_calls` is not checked. */
  readonly capture?: 'on' | 'off'
  /**
   * The subject does more than answer (it writes files, sends, books): a cell that was cut off is not run again by the
   * next run unless EVALS_RECONCILE=1 says that somebody has looked. Default false.
   */
  readonly sideEffects?: boolean
  /** Globs of files read at run time (prompts), relative to the project root: part of the fingerprint. */
  readonly digest?: { readonly files: readonly string[] }
}

/**
 * The signature of `evalCampaign`: every type is inferred from the sources and from what `run` returns.
 *
 * `Output = any` stands only while the compiler has not looked into `run` yet: it compares ready-made scorers first,
 * and a scorer of text would be refused beside the `unknown` it otherwise assumes.
 */
export type DeclareCampaign = <
  Variant extends object,
  Scenario extends object,
  // biome-ignore lint/suspicious/noExplicitAny: see above
  Output = any,
>(
  id: string,
  definition: CampaignDefinition<Variant, Scenario, Output>,
) => void
