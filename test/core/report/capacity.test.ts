import { expect, test } from 'vitest'
import type { LaneTraffic } from '../../../src/core/capacity/lane-traffic.ts'
import { buildReport } from '../../../src/core/report/build.ts'
import { type CapacityBasis, capacityOf } from '../../../src/core/report/capacity.ts'
import { CampaignReportSchema } from '../../../src/core/report/schema.ts'
import { cellsOf, fingerprintOf, planOf, recordOf } from './records.ts'

const LANE: LaneTraffic = {
  lane: 'openai/gpt-5-mini',
  account: null,
  requests: 24,
  peak: 8,
  concurrency: 8,
  throttled: 2,
  faults: 0,
  waitedMs: { cells: 0, slots: 4_000, pace: 0, hold: 1_500, budget: 0, 'first-cell': 0 },
  closed: null,
}
const plan = planOf()
const EQUIVALENT = 'azure/gpt-5-mini'

function reportWith(capacity: CapacityBasis | undefined, sent: (variant: string, at: number) => boolean = () => false) {
  const failovers = new Map<string, string>()
  const records = cellsOf(plan).map((cell, at) => {
    const own = recordOf(plan, cell)
    if (!sent(cell.variant, at)) return own
    failovers.set(own.cellId, EQUIVALENT)
    return { ...own, lane: EQUIVALENT, calls: { ...own.calls, subject: 3 } }
  })
  const basis = capacity === undefined ? {} : { capacity: { ...capacity, failovers } }
  const report = buildReport({ plan, fingerprint: fingerprintOf(plan), records, problems: [], ...basis })
  expect(CampaignReportSchema.safeParse(JSON.parse(JSON.stringify(report))).error).toBeUndefined()
  return report
}
const NONE: CapacityBasis = { lanes: [], failovers: new Map() }

test('a lane that nothing was asked of is none of a replay, whose cells waited for a place in it', () => {
  const idle = { ...LANE, requests: 0, peak: 0, throttled: 0 }
  const closed = { ...idle, closed: { reason: 'lane-failed', detail: 'unknown model' } } as const
  const lanesOf = (provenance: 'live' | 'replayed', status: 'scored' | 'not_run', lane: LaneTraffic) => {
    const records = cellsOf(plan).map((cell) => ({ ...recordOf(plan, cell), provenance, status }))
    return capacityOf({ lanes: [lane], failovers: new Map() }, records)?.lanes ?? null
  }
  expect(lanesOf('replayed', 'scored', idle)).toBeNull()
  expect(lanesOf('replayed', 'scored', LANE)).toEqual([LANE])
  expect(lanesOf('replayed', 'scored', closed)).toEqual([closed])
  expect(lanesOf('live', 'scored', idle)).toEqual([idle])
  expect(lanesOf('replayed', 'not_run', idle)).toEqual([idle])
})

test('lanes stand in the report where some were asked, and it has no such section where none was', () => {
  expect(reportWith(undefined)).not.toHaveProperty('capacity')
  expect(reportWith(NONE)).not.toHaveProperty('capacity')
  expect(reportWith({ ...NONE, lanes: [LANE] }).capacity).toEqual({ lanes: [LANE], failovers: [] })
  expect(reportWith({ ...NONE, lanes: null, refused: 'cut_off' }).capacity).toEqual({
    lanes: null,
    refused: 'cut_off',
    failovers: [],
  })
})

test('cells that an equivalent lane served are named by variant, and warned about', () => {
  const report = reportWith(NONE, (variant, at) => variant === 'concise' && at % 4 === 0)
  expect(report.capacity?.failovers).toEqual([
    {
      lane: EQUIVALENT,
      cells: 3,
      calls: 9,
      variants: [
        { variant: 'concise', cells: 3, of: 12 },
        { variant: 'current', cells: 0, of: 12 },
      ],
    },
  ])
  expect(report.warnings).toContainEqual({
    code: 'failover',
    text: 'azure/gpt-5-mini served 3 cells (9 calls) in place of their declared lane, so that the variants were not measured alike: concise 3 of 12, current 0 of 12',
  })
  const alike = reportWith(NONE, () => true).warnings.find(({ code }) => code === 'failover')
  expect(alike?.text).toContain('of every variant alike: concise 12 of 12, current 12 of 12')
})

test('a cell that was sent to another lane and did not go there was not served by it', () => {
  const records = cellsOf(plan).map((cell) => recordOf(plan, cell))
  const failovers = new Map(records.map(({ cellId }) => [cellId, EQUIVALENT]))
  const input = { plan, fingerprint: fingerprintOf(plan), records, problems: [], capacity: { lanes: [], failovers } }
  expect(buildReport(input)).not.toHaveProperty('capacity')
})
