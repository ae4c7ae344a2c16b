import { expect, test } from 'vitest'
import { type CapacityOptions, createGovernor, type GovernorEvent } from '../../../src/core/capacity/governor.ts'
import type { LaneTraffic } from '../../../src/core/capacity/lane-traffic.ts'
import { decodeLine, encodeLine } from '../../../src/core/journal/line.ts'

const NOTHING = { cells: 0, slots: 0, pace: 0, hold: 0, budget: 0, 'first-cell': 0 }

function drive(options: CapacityOptions, limitMicroUsd?: number) {
  const clock = { now: 1_000 }
  const settings = limitMicroUsd === undefined ? {} : { budget: { limitMicroUsd } }
  const governor = createGovernor(options, () => clock.now, settings)
  let ids = 0
  return {
    governor,
    now: () => clock.now,
    send: (...events: GovernorEvent[]) => governor.send(events),
    after(ms: number) {
      clock.now += ms
      return governor.send([])
    },
    /** Asks for a lease, of a cell whose rank is its number. */
    cell: (cellId: string, lane: string, campaign = 'c'): GovernorEvent => ({
      type: 'ask-lease',
      request: { cellId, lane, rank: [0, ids++, 0, campaign] },
    }),
    permit: (permitId: number, cellId: string, lane: string): GovernorEvent => ({
      type: 'ask-permit',
      permitId,
      request: { cellId, lane, tokens: { input: 1, output: 1 } },
    }),
    done: (permitId: number, result: object = { kind: 'answered' }): GovernorEvent => ({
      type: 'release-permit',
      permitId,
      outcome: { result: result as never, tokens: null, microUsd: 0 },
    }),
    lane: (name: string, campaign = 'c'): LaneTraffic | undefined =>
      governor.traffic(campaign).find(({ lane }) => lane === name),
  }
}

test('requests, their peak, and the time that somebody waited for slots, by the clock', () => {
  const d = drive({ lanes: [{ match: '*', concurrency: 2, account: 'acme' }] })
  d.send(d.cell('1', 'a/m'), d.cell('2', 'a/m'), d.cell('3', 'a/m'), d.cell('4', 'a/m'))
  d.send(d.permit(1, '1', 'a/m'), d.permit(2, '2', 'a/m'), d.permit(3, '2', 'a/m'))
  d.after(400)
  // Two cells and a request wait, for one thing, at the same time.
  expect(d.lane('a/m')).toEqual({
    lane: 'a/m',
    account: 'acme',
    requests: 2,
    peak: 2,
    concurrency: 2,
    throttled: 0,
    faults: 0,
    waitedMs: { ...NOTHING, slots: 400 },
    closed: null,
  })
  d.send(d.done(1), { type: 'release-lease', leaseId: 1 })
  d.after(100)
  d.send({ type: 'release-lease', leaseId: 2 }, { type: 'forget', cellIds: ['4'] }, d.done(2, { kind: 'unsent' }))
  d.after(1_000)
  // The request that never left is none, and after the first second nobody waited.
  expect(d.lane('a/m')).toMatchObject({ requests: 2, peak: 2, waitedMs: { slots: 500 } })
})

test('pace, holds, faults and a closed lane', () => {
  const d = drive({ lanes: [{ match: '*', requestsPerMinute: 1 }] })
  d.send(d.cell('1', 'a/m'))
  d.send(d.permit(1, '1', 'a/m'), d.permit(2, '1', 'a/m'))
  d.after(3_000)
  expect(d.lane('a/m')?.waitedMs).toEqual({ ...NOTHING, pace: 3_000 })
  d.send(d.done(1, { kind: 'throttled', holdMs: 5_000, reason: 'Retry-After' }), d.cell('2', 'a/m'))
  d.after(5_000)
  // A window of a minute is told when it lets the next one go.
  const rest = (d.governor.nextWake() ?? 0) - d.now()
  d.after(rest)
  expect(d.lane('a/m')).toMatchObject({
    requests: 2,
    throttled: 1,
    waitedMs: { ...NOTHING, pace: 3_000 + rest, hold: 5_000 },
  })
  d.send(d.done(2, { kind: 'fault', holdMs: 10, reason: 'reset' }))
  d.send({ type: 'close-lane', lane: 'a/m', reason: 'lane-failed', detail: 'no such model' })
  expect(d.lane('a/m')).toMatchObject({ faults: 1, closed: { reason: 'lane-failed', detail: 'no such model' } })
})

test('money, the first cell of a lane, and the cells of the run', () => {
  const d = drive({ cells: 2, lanes: [{ match: 'b/*', usdPerCell: 0.6 }] }, 1_000_000)
  d.send(d.cell('1', 'a/m'), d.cell('2', 'a/m'))
  d.after(100)
  expect(d.lane('a/m')?.waitedMs).toEqual({ ...NOTHING, 'first-cell': 100 })
  const e = drive({ cells: 2, lanes: [{ match: '*', usdPerCell: 0.6 }] }, 1_000_000)
  e.send(e.cell('1', 'b/m'), e.cell('2', 'b/m'))
  e.after(100)
  expect(e.lane('b/m')?.waitedMs).toEqual({ ...NOTHING, budget: 100 })
  const f = drive({ cells: 1 })
  f.send(f.cell('1', 'a/m'), f.cell('2', 'a/m'))
  f.after(100)
  expect(f.lane('a/m')?.waitedMs).toEqual({ ...NOTHING, cells: 100 })
})

test('a judge that waits counts in its own lane, and not after it is gone', () => {
  const d = drive({ lanes: [{ match: 'j', concurrency: 1 }] })
  d.send(d.cell('1', 'a/m'), d.cell('2', 'a/m'))
  const judge = (judgeId: number, cellId: string): GovernorEvent => ({
    type: 'ask-judge',
    judgeId,
    request: { cellId, lane: 'j' },
  })
  d.send(judge(1, '1'), judge(2, '2'))
  d.after(70)
  expect(d.lane('j')?.waitedMs).toEqual({ ...NOTHING, slots: 70 })
  d.send({ type: 'forget', cellIds: ['2'] })
  d.after(50)
  d.send({ type: 'release-judge', judgeId: 1 })
  d.after(50)
  expect(d.lane('j')?.waitedMs).toEqual({ ...NOTHING, slots: 70 })
})

test('campaigns of one run are counted apart, in the order of the lanes; what nobody asked for is not there', () => {
  const d = drive({ lanes: [{ match: '*', concurrency: 1 }] })
  d.send(d.cell('1', 'b/m', 'one'), d.cell('2', 'b/m', 'two'), d.cell('3', 'a/m', 'two'), d.cell('4', 'z/m', 'two'))
  d.send(d.permit(1, '1', 'b/m'), d.permit(2, '3', 'a/m'), d.permit(3, '9', 'a/m'))
  d.after(10)
  expect(d.governor.traffic('one').map(({ lane, requests, waitedMs }) => [lane, requests, waitedMs.slots])).toEqual([
    ['b/m', 1, 0],
  ])
  // The second waits because the first has the slot; a request of no cell that holds a lease belongs to nobody.
  expect(d.governor.traffic('two').map(({ lane, requests, waitedMs }) => [lane, requests, waitedMs.slots])).toEqual([
    ['a/m', 1, 0],
    ['b/m', 0, 10],
  ])
  expect(d.governor.traffic('three')).toEqual([])
})

test('reads from the journal as it was written, in the same order: a report computed again has the same bytes', () => {
  const d = drive({ lanes: [{ match: '*', concurrency: 1 }] })
  d.send(d.cell('1', 'a/m'), d.cell('2', 'a/m'), d.permit(1, '1', 'a/m'))
  d.after(5)
  const lanes = d.governor.traffic('c')
  const { entry } = decodeLine(
    Buffer.from(encodeLine(0, { kind: 'lanes', campaignId: 'c', lanes: [...lanes] }).trimEnd()),
  )
  expect(JSON.stringify(entry.kind === 'lanes' && entry.lanes)).toBe(JSON.stringify(lanes))
})

test('a request that waits to be made again waits for a hold, whether its lane is held or not', () => {
  for (const result of [
    { kind: 'throttled', holdMs: 1_000, reason: '429 rate_limit' },
    { kind: 'fault', holdMs: 1_000, reason: 'ECONNRESET' },
  ]) {
    const d = drive({ lanes: [{ match: '*' }] })
    d.send(d.cell('1', 'a/m'), d.permit(1, '1', 'a/m'))
    d.send(d.done(1, result))
    d.send({ type: 'ask-permit', permitId: 2, request: { cellId: '1', lane: 'a/m', delayMs: 1_000 } })
    expect(d.governor.snapshot().lanes[0]?.why).toMatchObject([{ kind: 'hold', until: 2_000 }])
    d.after(1_000)
    expect(d.lane('a/m')?.waitedMs, result.kind).toEqual({ ...NOTHING, hold: 1_000 })
    d.after(500)
    expect(d.lane('a/m')?.waitedMs, 'it left').toEqual({ ...NOTHING, hold: 1_000 })
  }
})
