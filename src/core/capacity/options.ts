import { z } from 'zod'

/** Limits of the lanes that match. */
export interface LaneLimit {
  /** `provider/model`, with `*` for any run of characters; case counts. */
  readonly match: string
  /** Cells (declared lane) and, separately, requests (wire lane) in flight; integer ≥ 1. Default 8. */
  readonly concurrency?: number
}

export interface CapacityOptions {
  /** Cells in flight in the whole run; integer ≥ 1. Default 32. */
  readonly cells?: number
  /** The first entry that matches a lane gives its limits; each lane counts for itself, also inside one entry. */
  readonly lanes?: readonly LaneLimit[]
}

export const DEFAULT_CELLS = 32
export const DEFAULT_CONCURRENCY = 8

/** Options of the design that nothing enforces yet: accepting them would promise a limit that is not kept. */
const NOT_YET = new Set(['requestsPerMinute', 'tokensPerMinute'])

const positiveInteger = z.custom<number>((value) => Number.isSafeInteger(value) && Number(value) >= 1, {
  error: (issue) => `must be an integer ≥ 1, got ${shown(issue.input)}`,
})

const laneLimit = z.strictObject(
  {
    match: z.custom<string>((value) => typeof value === 'string' && value.trim() !== '', {
      error: (issue) => `must be a non-empty pattern such as "openai/*", got ${shown(issue.input)}`,
    }),
    concurrency: positiveInteger.optional(),
  },
  { error: objectError('match and concurrency') },
)

export const CapacityOptions: z.ZodType<CapacityOptions> = z.strictObject(
  {
    cells: positiveInteger.optional(),
    lanes: z.array(laneLimit, { error: (issue) => `must be a list of lanes, got ${shown(issue.input)}` }).optional(),
  },
  { error: objectError('cells and lanes') },
)

/**
 * @param path where the options stand in the user's configuration, for the message
 * @throws TypeError with one line per problem, each naming its path
 */
export function parseCapacityOptions(input: unknown, path = 'capacity'): CapacityOptions {
  const parsed = CapacityOptions.safeParse(input)
  if (parsed.success) return parsed.data
  throw new TypeError(parsed.error.issues.flatMap((issue) => problems(issue, path)).join('\n'))
}

function problems(issue: z.core.$ZodIssue, root: string): string[] {
  const at = issue.path.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`),
    root,
  )
  if (issue.code !== 'unrecognized_keys') return [`${at} ${issue.message}`]
  return issue.keys.map((key) =>
    NOT_YET.has(key)
      ? `${at}.${key} is not supported yet: leave it out, concurrency is the limit that is kept`
      : `${at}.${key} ${issue.message}`,
  )
}

function objectError(allowed: string): z.core.$ZodErrorMap {
  return (issue) =>
    issue.code === 'unrecognized_keys'
      ? `is not an option; ${allowed} are`
      : `must be an object with ${allowed}, got ${shown(issue.input)}`
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}
