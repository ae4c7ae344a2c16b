import type { MicroUsd } from '../record/usage.ts'
import type { CallRole } from '../traffic/exchange.ts'
import { matchesGlob } from './glob.ts'
import { type CapacityOptions, DEFAULT_CELLS, DEFAULT_CONCURRENCY, parseCapacityOptions } from './options.ts'

/** What a cell is expected to ask of one lane; null where no cell that was seen says it. */
export interface ExpectedUse {
  /** Null: the lane shows only on the wire. */
  readonly lane: string | null
  readonly role: CallRole
  readonly callsPerCell: number
  readonly tokensPerCall: number | null
  /** Mean duration of a call. */
  readonly msPerCall: number | null
}

/** What a cell costs, all of its calls together. */
export interface Money {
  /** The cheapest cell seen. */
  readonly low: MicroUsd
  readonly mean: MicroUsd
  /** The dearest cell seen. */
  readonly high: MicroUsd
}

/** What cells that were seen lead to expect of others like them. */
export interface Expected {
  readonly uses: readonly ExpectedUse[]
  readonly microUsd: Money | null
  /** How long a cell has calls open; null where a call's time is not known. */
  readonly msPerCell: number | null
}

/** Cells that are alike. */
export interface PlannedCells {
  readonly cells: number
  /** Or why none of their like was seen. */
  readonly expected: Expected | { readonly unseen: string }
}

const UNSEEN: { readonly [what in Exclude<Unknown, 'calls'>]: string } = {
  cost: 'no cell like it that ran has a bill that is known',
  time: 'of no cell like it that ran all calls have a known time',
  tokens: 'no call like theirs that was seen reports its tokens',
}

/** What binds the time; `cell`: the calls of one cell take that long. */
export type Bound = 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency' | 'cells' | 'cell'

export type Unknown = 'calls' | 'cost' | 'time' | 'tokens'

export interface Forecast {
  readonly cells: number
  /** Null: some cells have no number yet, and a part of a sum is not the sum. */
  readonly calls: number | null
  readonly microUsd: Money | null
  /**
   * No run within these limits can be faster, as far as cells are like those seen; of the cells whose time is known where
   * some is not. Null while nothing is known of the time.
   */
  readonly minMs: number | null
  readonly boundBy: { readonly bound: Bound; readonly lane: string | null; readonly account: string | null } | null
  /** What is not known of how many cells, and why. */
  readonly unknown: readonly { readonly what: readonly Unknown[]; readonly cells: number; readonly why: string }[]
}

interface Quota {
  readonly lane: string
  readonly account: string | null
  calls: number
  tokens: number
  busyMs: number
}

/**
 * What a run will take, before it spends anything. Retries, holds, throttling and what a judge does again come on top: the
 * time is a bound from below, and not when the run will be over.
 */
export function forecast(planned: readonly PlannedCells[], options: CapacityOptions): Forecast {
  const { cells: cap = DEFAULT_CELLS, lanes = [] } = parseCapacityOptions(options)
  const limitOf = (lane: string) => lanes.find(({ match }) => matchesGlob(match, lane))
  const quotas = new Map<string, Quota>()
  const unknown = new Map<string, { readonly what: readonly Unknown[]; cells: number; readonly why: string }>()
  const lacks = (what: readonly Unknown[], count: number, why: string): void => {
    const key = `${what.join()} ${why}`
    const found = unknown.get(key) ?? { what, cells: 0, why }
    unknown.set(key, found)
    found.cells += count
  }
  let cells = 0
  let calls: number | null = 0
  let money: Money | null = { low: 0, mean: 0, high: 0 }
  let busyMs = 0
  let longestMs = 0
  for (const { cells: count, expected } of planned) {
    if (count === 0) continue
    cells += count
    if ('unseen' in expected) {
      lacks(['calls', 'cost', 'time'], count, expected.unseen)
      calls = null
      money = null
      continue
    }
    const { microUsd, msPerCell, uses } = expected
    if (microUsd === null) lacks(['cost'], count, UNSEEN.cost)
    money = microUsd === null || money === null ? null : added(money, microUsd, count)
    if (msPerCell === null) lacks(['time'], count, UNSEEN.time)
    busyMs += (msPerCell ?? 0) * count
    longestMs = Math.max(longestMs, msPerCell ?? 0)
    for (const { lane, callsPerCell, tokensPerCall, msPerCall } of uses) {
      const own = callsPerCell * count
      calls = calls === null ? null : calls + own
      if (lane === null) continue
      const limit = limitOf(lane)
      if (tokensPerCall === null && limit?.tokensPerMinute !== undefined) lacks(['tokens'], count, UNSEEN.tokens)
      const account = limit?.account ?? null
      const key = account === null ? `lane ${lane}` : `account ${account}`
      const quota = quotas.get(key) ?? { lane, account, calls: 0, tokens: 0, busyMs: 0 }
      quotas.set(key, quota)
      quota.calls += own
      quota.tokens += own * (tokensPerCall ?? 0)
      quota.busyMs += own * (msPerCall ?? 0)
    }
  }
  const bounds: (NonNullable<Forecast['boundBy']> & { readonly ms: number })[] = [
    { bound: 'cell', lane: null, account: null, ms: longestMs },
    { bound: 'cells', lane: null, account: null, ms: busyMs / cap },
  ]
  for (const { lane, account, calls, tokens, busyMs } of quotas.values()) {
    const limit = limitOf(lane)
    // The last request of a minute's worth still takes its time.
    const last = calls === 0 ? 0 : busyMs / calls
    const where = { lane, account }
    bounds.push({ bound: 'concurrency', ...where, ms: busyMs / (limit?.concurrency ?? DEFAULT_CONCURRENCY) })
    const { requestsPerMinute, tokensPerMinute, burstSeconds } = limit ?? {}
    bounds.push({ bound: 'requestsPerMinute', ...where, ms: paced(calls, requestsPerMinute, burstSeconds, last) })
    bounds.push({ bound: 'tokensPerMinute', ...where, ms: paced(tokens, tokensPerMinute, burstSeconds, last) })
  }
  const { ms, ...boundBy } = bounds.reduce((a, b) => (b.ms > a.ms ? b : a))
  return {
    cells,
    calls: calls === null ? null : Math.round(calls),
    microUsd: money,
    minMs: ms > 0 ? ms : null,
    boundBy: ms > 0 ? boundBy : null,
    unknown: [...unknown.values()],
  }
}

const added = (sum: Money, { low, mean, high }: Money, count: number): Money => ({
  low: sum.low + low * count,
  mean: sum.mean + mean * count,
  high: sum.high + high * count,
})

/** A minute's worth leaves at once, and each further one takes a minute; of a bucket what it holds, and the rest flows in. */
function paced(units: number, perMinute: number | undefined, burstSeconds: number | undefined, lastMs: number): number {
  if (perMinute === undefined) return 0
  const window = Math.max(0, Math.ceil(units / perMinute) - 1) * 60_000
  const bucket = burstSeconds === undefined ? 0 : (units / perMinute) * 60_000 - burstSeconds * 1_000
  const ms = Math.max(window, bucket)
  return ms <= 0 ? 0 : ms + lastMs
}
