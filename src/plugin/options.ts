import { z } from 'zod'
import { CapacityOptions } from '../core/capacity/options.ts'
import { resolveTraffic, TrafficOptions, type TrafficSettings } from './traffic-options.ts'

/** How provider calls are answered: see `mode` in the README; `EVALS_MODE` overrides it. */
export const MODES = ['auto', 'live', 'record', 'replay'] as const
export type Mode = (typeof MODES)[number]

const positiveMs = z.number().positive().finite()

/**
 * Options of `campaigns()`, the bare plugin, and of `evals()`.
 *
 * - `mode`: default `auto` (CI replays strictly, a laptop replays what is recorded and records what is not)
 * - `capacity`: cells in flight in the whole run and requests in flight per lane
 * - `timeout`: deadline of a cell in milliseconds; default 10 minutes
 * - `shutdownTimeout`: what cells in flight get after the first SIGINT or SIGTERM, milliseconds; default 5,000
 * - `passthrough`: origins of local services that a subject may reach in replay mode; not recorded
 * - `replay`, `volatile`, `redact`: see `TrafficOptions`
 * - `env`: `false` keeps the `.env` files of the root away from the workers
 */
export const CampaignsOptions = z.strictObject({
  mode: z.enum(MODES).optional(),
  capacity: CapacityOptions.optional(),
  timeout: positiveMs.optional(),
  shutdownTimeout: positiveMs.optional(),
  passthrough: z.array(z.string()).optional(),
  env: z.literal(false).optional(),
  ...TrafficOptions.shape,
})
export type CampaignsOptions = z.infer<typeof CampaignsOptions>

export interface ResolvedOptions {
  readonly mode: Mode
  readonly capacity: CapacityOptions
  readonly timeoutMs: number
  readonly shutdownTimeoutMs: number
  /** Parsed origins. */
  readonly passthrough: readonly string[]
  readonly dotenv: boolean
  readonly traffic: TrafficSettings
}

/**
 * Checks the options and fills in the defaults.
 *
 * @param where the function whose options these are, for messages
 * @throws TypeError naming every wrong option and where it stands
 */
export function resolveOptions(options: CampaignsOptions, where: string): ResolvedOptions {
  const parsed = CampaignsOptions.safeParse(options)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.') || 'options'}: ${issue.message}`)
    throw new TypeError(`${where}: these options cannot be used\n${problems.join('\n')}`)
  }
  return {
    mode: parsed.data.mode ?? 'auto',
    capacity: parsed.data.capacity ?? {},
    timeoutMs: parsed.data.timeout ?? 600_000,
    shutdownTimeoutMs: parsed.data.shutdownTimeout ?? 5_000,
    passthrough: (parsed.data.passthrough ?? []).map((text, i) => originOf(text, `${where}: passthrough[${i}]`)),
    dotenv: parsed.data.env !== false,
    traffic: resolveTraffic(parsed.data, where),
  }
}

function originOf(text: string, where: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(
      `${where}: ${JSON.stringify(text)} is no http or https origin; write for instance http://127.0.0.1:8080`,
    )
  }
  return url.origin
}
