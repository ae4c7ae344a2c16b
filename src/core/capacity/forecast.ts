import type { MicroUsd } from '../record/usage.ts'
import { matchesGlob } from './glob.ts'
import { type CapacityOptions, DEFAULT_CELLS, DEFAULT_CONCURRENCY, parseCapacityOptions } from './options.ts'

/** What one kind of cell is expected to do in one lane; numbers come from earlier runs, null where there is none. */
export interface ExpectedUse {
  /** Null: the lane shows only on the wire. */
  readonly lane: string | null
  readonly role: 'subject' | 'judge'
  readonly callsPerCell: number | null
  readonly tokensPerCall: number | null
  /** Cheapest and dearest cell seen. */
  readonly microUsdPerCell: readonly [low: MicroUsd, high: MicroUsd] | null
  /** Mean duration of a call. */
  readonly msPerCall: number | null
}

/** Cells that are alike: those of one variant. */
export interface PlannedCells {
  readonly cells: number
  readonly uses: readonly ExpectedUse[]
}

/** What binds the time. */
export type Bound = 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency' | 'cells'

export interface Forecast {
  readonly cells: number
  /** Null: some use has no number yet, and a part of a sum is not the sum. */
  readonly calls: number | null
  readonly microUsd: readonly [low: MicroUsd, high: MicroUsd] | null
  /** No run within these limits can be faster; null while nothing is known of the time. */
  readonly minMs: number | null
  readonly boundBy: { readonly bound: Bound; readonly lane: string | null } | null
  /** What is missing for a whole answer, one sentence each. */
  readonly unknown: readonly string[]
}

/** What a run will take, before it spends anything. Retries, holds and throttling come on top. */
export function forecast(planned: readonly PlannedCells[], options: CapacityOptions): Forecast {
  const { cells: cap = DEFAULT_CELLS, lanes = [] } = parseCapacityOptions(options)
  const quotas = new Map<string, { lane: string; calls: number; tokens: number; busyMs: number }>()
  const unknown = new Set<string>()
  let cells = 0
  let calls: number | null = 0
  let low: number | null = 0
  let high: number | null = 0
  let busyMs = 0
  for (const { cells: count, uses } of planned) {
    cells += count
    for (const { lane, role, callsPerCell, tokensPerCall, microUsdPerCell, msPerCall } of uses) {
      const of = `the ${role} calls of ${lane ?? 'variants without a declared lane'}`
      if (callsPerCell === null) unknown.add(`how many ${of} a cell makes is known after the first run`)
      if (microUsdPerCell === null) unknown.add(`what ${of} cost is known after the first run`)
      if (msPerCall === null) unknown.add(`how long ${of} take is known after the first run`)
      const own = callsPerCell === null ? null : callsPerCell * count
      calls = calls === null || own === null ? null : calls + own
      low = low === null || microUsdPerCell === null ? null : low + microUsdPerCell[0] * count
      high = high === null || microUsdPerCell === null ? null : high + microUsdPerCell[1] * count
      if (own === null) continue
      busyMs += own * (msPerCall ?? 0)
      if (lane === null) continue
      const account = lanes.find(({ match }) => matchesGlob(match, lane))?.account
      const key = account === undefined ? `lane ${lane}` : `account ${account}`
      const quota = quotas.get(key) ?? { lane, calls: 0, tokens: 0, busyMs: 0 }
      quotas.set(key, quota)
      quota.calls += own
      quota.tokens += own * (tokensPerCall ?? 0)
      quota.busyMs += own * (msPerCall ?? 0)
    }
  }
  const bounds: { bound: Bound; lane: string | null; ms: number }[] = [{ bound: 'cells', lane: null, ms: busyMs / cap }]
  for (const { lane, calls, tokens, busyMs } of quotas.values()) {
    const limit = lanes.find(({ match }) => matchesGlob(match, lane))
    bounds.push({ bound: 'concurrency', lane, ms: busyMs / (limit?.concurrency ?? DEFAULT_CONCURRENCY) })
    bounds.push({ bound: 'requestsPerMinute', lane, ms: afterFullMinutes(calls, limit?.requestsPerMinute) })
    bounds.push({ bound: 'tokensPerMinute', lane, ms: afterFullMinutes(tokens, limit?.tokensPerMinute) })
  }
  const longest = bounds.reduce((a, b) => (b.ms > a.ms ? b : a))
  return {
    cells,
    calls,
    microUsd: low === null || high === null ? null : [low, high],
    minMs: longest.ms > 0 ? longest.ms : null,
    boundBy: longest.ms > 0 ? { bound: longest.bound, lane: longest.lane } : null,
    unknown: [...unknown],
  }
}

/** A minute's worth leaves at once; each further one takes a minute. */
function afterFullMinutes(units: number, perMinute: number | undefined): number {
  return perMinute === undefined ? 0 : Math.max(0, Math.ceil(units / perMinute) - 1) * 60_000
}
