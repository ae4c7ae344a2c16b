import type { LaneTraffic } from '../capacity/lane-traffic.ts'
import type { RunRecord } from '../record/record.ts'
import { plural } from './numbers.ts'
import type { Reason, RefusalCode, ReportInput } from './report.ts'

/** What is known of a campaign's way through the lanes beside its records. */
export interface CapacityBasis {
  /** Null beside a refusal: nobody wrote it down. */
  readonly lanes: readonly LaneTraffic[] | null
  readonly refused?: RefusalCode
  /** Of cells that were sent to an `equivalent` of their declared lane: that one. */
  readonly failovers: ReadonlyMap<string, string>
}

/** Cells that an equivalent lane served: the same model elsewhere, which may not be quite the same. */
export interface Failover {
  /** That served. */
  readonly lane: string
  readonly cells: number
  /** Of their subjects. */
  readonly calls: number
  /** Every variant with cells that ran, those that none was served elsewhere among them. */
  readonly variants: readonly { readonly variant: string; readonly cells: number; readonly of: number }[]
}

export interface CapacityReport {
  /** Lanes that were asked or waited for; null: unknown. */
  readonly lanes: readonly LaneTraffic[] | null
  readonly refused?: RefusalCode
  readonly failovers: readonly Failover[]
}

/** Null where no lane was asked for anything: all of it was served from recordings. */
export function capacityOf(basis: ReportInput['capacity'], records: readonly RunRecord[]): CapacityReport | null {
  if (basis == null) return null
  const { refused } = basis
  // Recorded cells wait for a place in their lane too, where others may go live; it says nothing of the lane.
  const served = records.every(({ provenance, status }) => provenance === 'replayed' && status !== 'not_run')
  const lanes = basis.lanes?.filter(({ requests, closed }) => !served || requests > 0 || closed !== null) ?? null
  const failovers = failoversOf(basis.failovers, records)
  if (lanes?.length === 0 && failovers.length === 0) return null
  return { lanes, ...(refused === undefined ? {} : { refused }), failovers }
}

function failoversOf(to: ReadonlyMap<string, string>, records: readonly RunRecord[]): Failover[] {
  if (to.size === 0) return []
  const ran = new Map<string, number>()
  const byLane = new Map<string, RunRecord[]>()
  for (const record of records) {
    if (record.attempts === 0) continue
    ran.set(record.variantId, (ran.get(record.variantId) ?? 0) + 1)
    const lane = to.get(record.cellId)
    // It was sent there; whether its subject went there the wire says.
    if (lane === undefined || record.lane !== lane) continue
    const own = byLane.get(lane)
    if (own === undefined) byLane.set(lane, [record])
    else own.push(record)
  }
  return [...byLane]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([lane, own]) => ({
      lane,
      cells: own.length,
      calls: own.reduce((sum, { calls }) => sum + calls.subject, 0),
      variants: Array.from(ran, ([variant, of]) => ({
        variant,
        cells: own.filter(({ variantId }) => variantId === variant).length,
        of,
      })),
    }))
}

/** Variants whose cells were served elsewhere in other shares were not measured alike. */
export function failoverWarnings(capacity: CapacityReport | null): Reason[] {
  return (capacity?.failovers ?? []).map(({ lane, cells, calls, variants }) => {
    const shares = variants.map(({ variant, cells: own, of }) => `${variant} ${own} of ${of}`).join(', ')
    const alike = new Set(variants.map(({ cells: own, of }) => own / of)).size === 1
    const what = alike ? 'of every variant alike' : 'so that the variants were not measured alike'
    const text = `${lane} served ${plural(cells, 'cell')} (${plural(calls, 'call')}) in place of their declared lane, ${what}: ${shares}`
    return { code: 'failover', text }
  })
}
