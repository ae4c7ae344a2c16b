import { z } from 'zod'
import { nearest } from '../campaign/options.ts'
import type { Price } from '../record/cost.ts'
import { matchesGlob } from './glob.ts'

/** Limits of the lanes that match. */
export interface LaneLimit {
  /** `provider/model`, with `*` for any run of characters; case counts. */
  readonly match: string
  /** Cells (declared lane) and, separately, requests (wire lane) in flight; integer ≥ 1. Default 8. */
  readonly concurrency?: number
  /** Requests that may leave in any 60 seconds; integer ≥ 1. Default: no limit. */
  readonly requestsPerMinute?: number
  /** Input and output tokens in any 60 seconds; integer ≥ 1. Default: no limit. */
  readonly tokensPerMinute?: number
  /**
   * Where the provider fills a bucket instead of counting a minute: how much of the limits above it takes at once, in
   * seconds of them; 1 to 60. The rest leaves as it flows in. Default: all of a minute at once.
   */
  readonly burstSeconds?: number
  /** Lanes that name the same account share one quota: concurrency, pace and holds. Default: each lane its own. */
  readonly account?: string
  /** Lanes that serve the same model: a cell goes there where its own lane is held or closed. The only failover. */
  readonly equivalent?: readonly string[]
  /** USD per million tokens; 0: nothing is paid (a local model). Default: the price list. */
  readonly price?: Price
  /** The most one cell is charged here, USD: what is held for it under a budget. Default: learnt from the first one. */
  readonly usdPerCell?: number
}

export interface CapacityOptions {
  /** Cells in flight in the whole run; integer ≥ 1. Default 32. */
  readonly cells?: number
  /** The first entry that matches a lane gives its limits; each lane counts for itself, also inside one entry. */
  readonly lanes?: readonly LaneLimit[]
}

export const DEFAULT_CELLS = 32
export const DEFAULT_CONCURRENCY = 8

const custom = <T>(fits: (value: unknown) => boolean, must: string): z.ZodType<T> =>
  z.custom<T>(fits, { error: (issue) => `must be ${must}, got ${shown(issue.input)}` })

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0

const positiveInteger = custom<number>((value) => Number.isSafeInteger(value) && Number(value) >= 1, 'an integer ≥ 1')
const amount = custom<number>(isAmount, 'a finite number ≥ 0')

const price = z.union(
  [
    z.literal(0),
    z.strictObject({ input: amount, output: amount, cacheRead: amount.optional(), cacheWrite: amount.optional() }),
  ],
  {
    error: (issue) =>
      `must be 0 or an object with input and output (USD per million tokens, ≥ 0), got ${shown(issue.input)}`,
  },
)

const laneShape = {
  match: custom<string>(isText, 'a non-empty pattern such as "openai/*"'),
  concurrency: positiveInteger.optional(),
  requestsPerMinute: positiveInteger.optional(),
  tokensPerMinute: positiveInteger.optional(),
  burstSeconds: custom<number>(
    (value) => isAmount(value) && Number(value) >= 1 && Number(value) <= 60,
    'a number of seconds from 1 to 60',
  ).optional(),
  account: custom<string>(isText, 'a non-empty name').optional(),
  equivalent: custom<readonly string[]>(
    (value) => Array.isArray(value) && value.every((name) => isText(name) && !name.includes('*')),
    'a list of lanes such as ["azure/gpt-5"], without patterns',
  ).optional(),
  price: price.optional(),
  usdPerCell: custom<number>((value) => isAmount(value) && Number(value) > 0, 'a finite number > 0').optional(),
}

const laneKeys = Object.keys(laneShape)

const laneLimit = z.strictObject(laneShape, {
  error: objectError(`${laneKeys.slice(0, -1).join(', ')} and ${laneKeys.at(-1)}`),
})

export const CapacityOptions: z.ZodType<CapacityOptions> = z
  .strictObject(
    {
      cells: positiveInteger.optional(),
      lanes: z.array(laneLimit, { error: (issue) => `must be a list of lanes, got ${shown(issue.input)}` }).optional(),
    },
    { error: objectError('cells and lanes') },
  )
  .superRefine(({ lanes = [] }, context) => {
    for (const [at, lane] of lanes.entries()) {
      const first = lanes.find(({ account }) => account !== undefined && account === lane.account)
      if (first === undefined || first === lane) continue
      for (const key of ['concurrency', 'requestsPerMinute', 'tokensPerMinute', 'burstSeconds'] as const) {
        if (lane[key] === first[key]) continue
        const message = `must be what the first lane of account ${JSON.stringify(lane.account)} says (${first[key] ?? 'nothing'}), because they share it; got ${lane[key] ?? 'nothing'}`
        context.addIssue({ code: 'custom', path: ['lanes', at, key], message })
      }
    }
  })

/**
 * Checks the options.
 *
 * @param path where the options stand in the user's configuration, for the message
 * @throws TypeError with one line per problem, each naming its path
 */
export function parseCapacityOptions(input: unknown, path = 'capacity'): CapacityOptions {
  const parsed = CapacityOptions.safeParse(input)
  if (parsed.success) return parsed.data
  throw new TypeError(parsed.error.issues.flatMap((issue) => problems(issue, path)).join('\n'))
}

/** Entries that no lane can reach, because an earlier one takes all they match; one sentence each. */
export function shadowedLanes({ lanes = [] }: CapacityOptions, path = 'capacity'): string[] {
  return lanes.flatMap(({ match }, at) => {
    // A `*` of the later pattern is only ever matched by a `*` of the earlier one: then it takes all of it.
    const by = lanes.findIndex((earlier, before) => before < at && matchesGlob(earlier.match, match))
    if (by === -1) return []
    const first = JSON.stringify(lanes[by]?.match)
    return `${path}.lanes[${at}] (${JSON.stringify(match)}) is never used: lanes[${by}] (${first}) comes first and takes all it matches. Put the narrower pattern first`
  })
}

/**
 * Entries whose pattern took none of these lanes, one sentence each: nothing they say has held. A pattern of `*` alone
 * misses nobody.
 */
export function unusedLanes({ lanes = [] }: CapacityOptions, seen: readonly string[], path = 'capacity'): string[] {
  if (seen.length === 0) return []
  const spare = lanes.flatMap(({ equivalent = [] }) => equivalent)
  const known = [...new Set(seen.flatMap((lane) => [lane, lane.replace(/\/.*$/s, '/*')]))]
  return lanes.flatMap(({ match }, at) => {
    if (/^\*+$/.test(match) || [...seen, ...spare].some((lane) => matchesGlob(match, lane))) return []
    const near = nearest(match, known)
    const hint = near === null ? '' : `. Did you mean ${JSON.stringify(near)}?`
    return `${path}.lanes[${at}] (${JSON.stringify(match)}) matched nothing in this run, whose lanes were ${few(seen)}${hint}`
  })
}

/** Lanes that are named; the others are counted. */
const NAMED = 4

const few = (lanes: readonly string[]): string =>
  lanes.slice(0, NAMED).join(', ') + (lanes.length > NAMED ? ` and ${lanes.length - NAMED} more` : '')

function problems(issue: z.core.$ZodIssue, root: string): string[] {
  const at = issue.path.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`),
    root,
  )
  if (issue.code !== 'unrecognized_keys') return [`${at} ${issue.message}`]
  return issue.keys.map((key) => `${at}.${key} ${issue.message}`)
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
