import { z } from 'zod'
import type { GovernorSnapshot, LaneSnapshot } from '../../core/capacity/snapshot.ts'
import { CELL_STATUSES } from '../../core/record/status.ts'
import { writeAtomic } from './atomic-file.ts'
import type { Tally } from './tally.ts'

const count = z.number().int().nonnegative()
const instant = z.iso.datetime()

/** `status.json`: where a run stands, for programs that watch it. Rewritten every second while it lasts. */
export const RunStatus = z.strictObject({
  schema: z.literal('vitest-campaign/status@1'),
  runId: z.string(),
  state: z.enum(['running', 'draining', 'stopped', 'finished', 'interrupted']),
  startedAt: instant,
  at: instant,
  cells: z.strictObject({ planned: count, done: count, inFlight: count, cap: count, waiting: count }),
  /** Settled cells. */
  statuses: z.partialRecord(z.enum(CELL_STATUSES), count),
  replayed: count,
  live: count,
  spentUsd: z.number(),
  unknownCharges: count,
  etaMs: count.nullable(),
  budgets: z.array(
    z.strictObject({
      /** Null: the run's. */
      campaignId: z.string().nullable(),
      limitUsd: z.number(),
      chargedUsd: z.number(),
      heldUsd: z.number(),
      unknownUsd: z.number(),
    }),
  ),
  lanes: z.array(
    z.strictObject({
      lane: z.string(),
      account: z.string().nullable(),
      cells: count,
      requests: count,
      /** Requests at once: as declared, and as throttling lets it be now. */
      cap: count,
      concurrency: count,
      waiting: z.strictObject({ cells: count, judges: count, requests: count }),
      /** Of the last 60 seconds; null where no limit is declared. */
      requestsPerMinute: z.strictObject({ used: z.number(), limit: count }).nullable(),
      tokensPerMinute: z.strictObject({ used: z.number(), limit: count }).nullable(),
      hold: z.strictObject({ until: instant, reason: z.string() }).nullable(),
      closed: z.strictObject({ reason: z.string(), detail: z.string() }).nullable(),
      why: z.array(z.strictObject({ kind: z.string(), until: instant.nullable() })),
    }),
  ),
})
export type RunStatus = z.infer<typeof RunStatus>

export interface StatusFacts {
  readonly runId: string
  readonly startedAt: Date
  readonly tally: Tally
  readonly snapshot: GovernorSnapshot
  /** Set once the run is over. */
  readonly end: 'finished' | 'interrupted' | null
}

const STATES = { open: 'running', draining: 'draining', stopped: 'stopped' } as const
const usd = (micro: number): number => micro / 1_000_000

/** @param clock the governor's moment and the same one of the calendar */
export function statusOf(
  { runId, startedAt, tally, snapshot, end }: StatusFacts,
  clock: { readonly now: number; readonly epoch: number },
): RunStatus {
  const at = (until: number): string => new Date(clock.epoch + Math.max(0, until - clock.now)).toISOString()
  return {
    schema: 'vitest-campaign/status@1',
    runId,
    state: end ?? STATES[snapshot.state],
    startedAt: startedAt.toISOString(),
    at: new Date(clock.epoch).toISOString(),
    cells: { planned: tally.planned, done: tally.done, ...snapshot.cells },
    statuses: { ...tally.statuses },
    replayed: tally.replayed,
    live: tally.live,
    spentUsd: usd(tally.spent),
    unknownCharges: tally.unknownCharges,
    etaMs: end === null ? tally.etaMs(clock.epoch - startedAt.getTime()) : null,
    budgets: snapshot.budgets.map((budget) => ({
      campaignId: budget.campaignId,
      limitUsd: usd(budget.limitMicroUsd),
      chargedUsd: usd(budget.chargedMicroUsd),
      heldUsd: usd(budget.heldMicroUsd),
      unknownUsd: usd(budget.unknownMicroUsd),
    })),
    lanes: snapshot.lanes.map((lane) => laneOf(lane, at)),
  }
}

function laneOf(lane: LaneSnapshot, at: (until: number) => string): RunStatus['lanes'][number] {
  const { waitingCells, waitingJudges, waitingRequests, hold, why, closed } = lane
  return {
    lane: lane.lane,
    account: lane.account,
    cells: lane.cells,
    requests: lane.requests,
    cap: lane.cap,
    concurrency: lane.concurrency,
    waiting: { cells: waitingCells, judges: waitingJudges, requests: waitingRequests },
    requestsPerMinute: lane.requestsPerMinute,
    tokensPerMinute: lane.tokensPerMinute,
    hold: hold === null ? null : { until: at(hold.until), reason: hold.reason },
    closed,
    why: why.map((cause) => ({ kind: cause.kind, until: 'until' in cause ? at(cause.until) : null })),
  }
}

/** Rewrites the file now and then; the run does not wait for it, and no failure of it is the run's. */
export class StatusFile {
  readonly #path: string
  readonly #status: (end: StatusFacts['end']) => RunStatus
  readonly #timer: NodeJS.Timeout
  #writing: Promise<void> | null = null

  constructor(path: string, status: (end: StatusFacts['end']) => RunStatus, intervalMs = 1_000) {
    this.#path = path
    this.#status = status
    this.#timer = setInterval(() => this.#write(null), intervalMs)
    this.#timer.unref()
  }

  /** Says how the run ended. */
  async close(end: 'finished' | 'interrupted'): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    this.#write(end)
    await this.#writing
  }

  #write(end: StatusFacts['end']): void {
    if (this.#writing !== null) return
    const text = `${JSON.stringify(this.#status(end), null, 2)}\n`
    // A folder that is gone or full is told of by the journal.
    this.#writing = writeAtomic(this.#path, text)
      .catch(() => {})
      .finally(() => {
        this.#writing = null
      })
  }
}
