import type { AttemptResult, ClosureReason } from './events.ts'
import type { WaitCause } from './snapshot.ts'

export const WAIT_KINDS = [
  'cells',
  'slots',
  'pace',
  'hold',
  'budget',
  'first-cell',
] as const satisfies readonly WaitCause['kind'][]
export type WaitKind = (typeof WAIT_KINDS)[number]

/** What a campaign asked of one lane, and what it waited for there. */
export interface LaneTraffic {
  readonly lane: string
  readonly account: string | null
  /** Requests that left, those made again among them. */
  readonly requests: number
  /** Most of them at the same time. */
  readonly peak: number
  /** As declared, of the whole lane. */
  readonly concurrency: number
  /** Answered 429, 503 or 529. */
  readonly throttled: number
  /** Lost connections and server faults. */
  readonly faults: number
  /** How long some cell, judge or request of it waited for each thing, milliseconds of the run; by the clock, not summed over those who wait. */
  readonly waitedMs: { readonly [kind in WaitKind]: number }
  readonly closed: { readonly reason: ClosureReason; readonly detail: string } | null
}

/** What the lane itself knows of it. */
export interface LaneFacts extends Pick<LaneTraffic, 'lane' | 'account' | 'concurrency' | 'closed'> {}

interface Counts {
  requests: number
  inFlight: number
  peak: number
  throttled: number
  faults: number
  readonly waited: Map<WaitKind, number>
}

/** Somebody of a campaign waits in a lane. */
export interface Waiting {
  readonly campaignId: string
  readonly lane: string
  readonly kind: WaitKind
}

/** Counts what each campaign asks of each lane. Who waits is looked at after every change; between two nothing changes but time. */
export class LaneTrafficCounts {
  readonly #campaigns = new Map<string, Map<string, Counts>>()
  #waiting: readonly Waiting[] = []
  #since = 0

  granted(campaignId: string, lane: string): void {
    const counts = this.#of(campaignId, lane)
    counts.requests++
    counts.peak = Math.max(counts.peak, ++counts.inFlight)
  }

  /** @param result how it ended; absent: its asker is gone */
  ended(campaignId: string, lane: string, result: AttemptResult | undefined): void {
    const counts = this.#of(campaignId, lane)
    counts.inFlight--
    if (result?.kind === 'unsent') counts.requests--
    if (result?.kind === 'throttled') counts.throttled++
    if (result?.kind === 'fault') counts.faults++
  }

  /** Those who waited until now did so until now. */
  advance(now: number): void {
    const ms = now - this.#since
    this.#since = now
    if (ms <= 0) return
    const told = new Set<string>()
    for (const { campaignId, lane, kind } of this.#waiting) {
      const key = JSON.stringify([campaignId, lane, kind])
      if (told.has(key)) continue
      told.add(key)
      const { waited } = this.#of(campaignId, lane)
      waited.set(kind, (waited.get(kind) ?? 0) + ms)
    }
  }

  /** Who waits from now on. */
  waits(waiting: readonly Waiting[]): void {
    this.#waiting = waiting
  }

  /** Lanes of a campaign that had a request or made somebody wait, in the order of their names; those that are closed too. */
  of(campaignId: string, factsOf: (lane: string) => LaneFacts): LaneTraffic[] {
    const lanes = this.#campaigns.get(campaignId)
    if (lanes === undefined) return []
    return [...lanes.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([lane, { requests, peak, throttled, faults, waited }]) => {
        const waitedMs = Object.fromEntries(
          WAIT_KINDS.map((kind) => [kind, Math.round(waited.get(kind) ?? 0)]),
        ) as LaneTraffic['waitedMs']
        const facts = factsOf(lane)
        const still = requests === 0 && facts.closed === null && Object.values(waitedMs).every((ms) => ms === 0)
        const { account, concurrency, closed } = facts
        // In the order in which the journal gives them back: the report computed of it has the same bytes.
        return still ? [] : [{ lane, account, requests, peak, concurrency, throttled, faults, waitedMs, closed }]
      })
  }

  #of(campaignId: string, lane: string): Counts {
    let lanes = this.#campaigns.get(campaignId)
    if (lanes === undefined) {
      lanes = new Map()
      this.#campaigns.set(campaignId, lanes)
    }
    let counts = lanes.get(lane)
    if (counts === undefined) {
      counts = { requests: 0, inFlight: 0, peak: 0, throttled: 0, faults: 0, waited: new Map() }
      lanes.set(lane, counts)
    }
    return counts
  }
}
