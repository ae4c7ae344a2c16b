import { z } from 'zod'
import { nearest } from '../core/campaign/options.ts'
import { BudgetOptions } from '../core/capacity/budget.ts'
import { CapacityOptions } from '../core/capacity/options.ts'
import type { RerunPolicy } from '../core/capacity/rerun.ts'
import { TASK_META_SHAPES, type TaskMetaShape } from '../core/report/run-source.ts'
import type { OnRecord } from './pool/record-listener.ts'
import { resolveTraffic, TrafficOptions, type TrafficSettings } from './traffic-options.ts'

/** How provider calls are answered: see `mode` in the README; `EVALS_MODE` overrides it. */
export const MODES = ['auto', 'live', 'record', 'replay'] as const
export type Mode = (typeof MODES)[number]

const positiveMs = z.number().positive().finite()

const shown = (value: unknown): string => (value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value)))

const retry = z.strictObject(
  { infra: z.union([z.literal(0), z.literal(1)], { error: ({ input }) => `must be 0 or 1, not ${shown(input)}` }) },
  {
    error: ({ code, input }) =>
      code === 'unrecognized_keys'
        ? undefined
        : `must be { infra: 0 } or { infra: 1 }, not ${shown(input)}: only infrastructure errors are run again`,
  },
)

/**
 * Options of `campaigns()`, the bare plugin, and of `evals()`.
 *
 * - `mode`: default `auto` (CI replays strictly, a laptop replays what is recorded and records what is not)
 * - `capacity`: cells in flight in the whole run and requests in flight per lane
 * - `budget`: US dollars that a run may spend; where `EVALS_BUDGET_USD` is set too, the smaller one. Default: no limit
 * - `retry`: `{ infra: 1 }` runs a cell that ended in an infrastructure error once more, at the end of its seed block
 * - `timeout`: deadline of a cell in milliseconds; default 10 minutes
 * - `stallTimeout`: the longest silence of a model provider in milliseconds, before its answer or between two parts of it,
 *   after which the request is ended and made again; default: the cell's deadline
 * - `shutdownTimeout`: what cells in flight get after the first SIGINT or SIGTERM, milliseconds; default 5,000
 * - `preflight`: asks the providers for the models of variants and judges before any cell runs, for nothing; a lane whose
 *   model is unknown or whose key is refused is closed
 * - `onRecord`: called in the main process with every RunRecord, once it is durable; a failure of it is told and loses
 *   nothing
 * - `passthrough`: origins of local services that a subject may reach in replay mode; not recorded
 * - `replay`, `volatile`, `redact`: see `TrafficOptions`
 * - `github`: whether verdicts go to the step summary and to annotations of GitHub Actions; default: where
 *   `GITHUB_ACTIONS` is `true`
 * - `taskMeta`: `vitest-evals` also gives every cell the `task.meta` that vitest-evals' GitHub action and report read
 * - `env`: `false` keeps the `.env` files of the root away from the workers
 */
export const CampaignsOptions = z.strictObject({
  mode: z.enum(MODES).optional(),
  capacity: CapacityOptions.optional(),
  budget: BudgetOptions.optional(),
  retry: retry.optional(),
  timeout: positiveMs.optional(),
  stallTimeout: positiveMs.optional(),
  shutdownTimeout: positiveMs.optional(),
  preflight: z.boolean().optional(),
  onRecord: z.custom<OnRecord>((value) => typeof value === 'function', { error: 'must be a function' }).optional(),
  passthrough: z.array(z.string()).optional(),
  env: z.literal(false).optional(),
  github: z.boolean().optional(),
  taskMeta: z.enum(TASK_META_SHAPES).optional(),
  ...TrafficOptions.shape,
})
export type CampaignsOptions = z.infer<typeof CampaignsOptions>

export interface ResolvedOptions {
  readonly mode: Mode
  readonly capacity: CapacityOptions
  readonly budget: BudgetOptions | null
  readonly retry: RerunPolicy
  readonly timeoutMs: number
  readonly stallTimeoutMs: number | null
  readonly shutdownTimeoutMs: number
  readonly preflight: boolean
  readonly onRecord: OnRecord | null
  /** Parsed origins. */
  readonly passthrough: readonly string[]
  readonly dotenv: boolean
  /** Null: where GitHub Actions says that it is there. */
  readonly github: boolean | null
  readonly taskMeta: TaskMetaShape | null
  readonly traffic: TrafficSettings
}

/**
 * Checks the options and fills in the defaults.
 *
 * @param where the function whose options these are, for messages
 * @param others options of the function that are not among these
 * @throws TypeError naming every wrong option and where it stands
 */
export function resolveOptions(
  options: CampaignsOptions,
  where: string,
  others: readonly string[] = [],
): ResolvedOptions {
  const parsed = CampaignsOptions.safeParse(options)
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, others))
    throw plainError(`${where}: ${problems.join('; ')}`)
  }
  return {
    mode: parsed.data.mode ?? 'auto',
    capacity: parsed.data.capacity ?? {},
    budget: parsed.data.budget ?? null,
    retry: parsed.data.retry ?? { infra: 0 },
    timeoutMs: parsed.data.timeout ?? 600_000,
    stallTimeoutMs: parsed.data.stallTimeout ?? null,
    shutdownTimeoutMs: parsed.data.shutdownTimeout ?? 5_000,
    preflight: parsed.data.preflight ?? false,
    onRecord: parsed.data.onRecord ?? null,
    passthrough: (parsed.data.passthrough ?? []).map((text, i) => originOf(text, `${where}: passthrough[${i}]`)),
    dotenv: parsed.data.env !== false,
    github: parsed.data.github ?? null,
    taskMeta: parsed.data.taskMeta ?? null,
    traffic: resolveTraffic(parsed.data, where),
  }
}

function problemsOf(issue: z.core.$ZodIssue, others: readonly string[]): string[] {
  const path = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') return [`${path.join('.') || 'the options'}: ${issue.message}`]
  const known = [...keysAt(CampaignsOptions, path), ...(path.length === 0 ? others : [])]
  return issue.keys.map((key) => {
    const near = nearest(key, known)
    const hint = near === null ? `the options are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`
    return `${[...path, key].join('.')} is no option: ${hint}`
  })
}

/** The options an object at this path may have. */
function keysAt(schema: unknown, path: readonly string[]): readonly string[] {
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap(), path)
  const [key, ...rest] = path
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  return key === undefined ? Object.keys(schema.shape) : keysAt(schema.shape[key], rest)
}

/** An error that is shown without a stack: Vitest prints one below a configuration's error, and all of it would be ours. */
export function plainError(message: string): TypeError {
  const error = new TypeError(message)
  error.stack = `TypeError: ${message}`
  return error
}

function originOf(text: string, where: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw plainError(
      `${where}: ${JSON.stringify(text)} is no http or https origin; write for instance http://127.0.0.1:8080`,
    )
  }
  return url.origin
}
