import { expect, test } from 'vitest'
import {
  type CapacityOptions,
  createGovernor,
  type GovernorEffect,
  type GovernorEvent,
  type GovernorSettings,
} from '../../../src/core/capacity/governor.ts'
import { parseCapacityOptions } from '../../../src/core/capacity/options.ts'
import { type SimCell, Simulation } from './simulator/run.ts'

/** The scenarios an earlier orchestrator was tested by, restated for cells; the numbers are theirs. */
function drive(options: CapacityOptions = {}, settings: GovernorSettings = {}) {
  const clock = { now: 0 }
  const governor = createGovernor(options, () => clock.now, settings)
  let next = 1
  let effects: GovernorEffect[] = []
  const send = (...events: GovernorEvent[]) => {
    effects = governor.send(events)
    return effects
  }
  return {
    governor,
    clock,
    send,
    ask: (cellId: string, lane: string | null = null, judges: (string | null)[] = [], scenario = next++) =>
      send({ type: 'ask-lease', request: { cellId, lane, rank: [0, scenario, 0, 'c'], judges } }),
    judge: (judgeId: number, cellId: string, lane: string | null) =>
      send({ type: 'ask-judge', judgeId, request: { cellId, lane } }),
    /** A call from its permit to its bill. */
    call: (cellId: string, lane: string, microUsd: number | null, role: 'subject' | 'judge' = 'subject') => {
      const permitId = 1_000 + next++
      send({ type: 'ask-permit', permitId, request: { cellId, lane, role } })
      return send({
        type: 'release-permit',
        permitId,
        outcome: { result: { kind: 'answered' }, tokens: null, microUsd },
      })
    },
    fail: (
      cellId: string,
      lane: string,
      result: Extract<GovernorEvent, { type: 'release-permit' }>['outcome'] extends infer T | undefined
        ? T extends { result: infer R }
          ? R
          : never
        : never,
    ) => {
      const permitId = 1_000 + next++
      send({ type: 'ask-permit', permitId, request: { cellId, lane } })
      return send({ type: 'release-permit', permitId, outcome: { result, tokens: null, microUsd: 0 } })
    },
    release: (leaseId: number) => send({ type: 'release-lease', leaseId }),
    lane: (name: string) => governor.snapshot().lanes.find(({ lane }) => lane === name),
    budget: () => governor.snapshot().budgets[0],
  }
}

const granted = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) => (effect.type === 'lease-granted' ? [effect.cellId] : []))
const refused = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) => (effect.type === 'lease-refused' ? [`${effect.cellId}: ${effect.reason}`] : []))
const judges = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) => (effect.type === 'judge-granted' ? [effect.judgeId] : []))
const one = (match: string, concurrency = 1): CapacityOptions['lanes'] => [{ match, concurrency }]
const simCell = (id: string, more: Partial<SimCell> = {}): SimCell => ({
  id,
  lane: 'p/m',
  rank: [0, Number(id.slice(1)), 0, 'c'],
  rounds: [[{ lane: 'p/m', ms: 100 }]],
  ...more,
})

test('1: a concurrency of 2 is one, none is the default, 0 and 1.5 are refused', () => {
  expect(parseCapacityOptions({ lanes: one('*', 2) })).toBeTruthy()
  expect(drive().ask('a', 'p/m') && drive({ lanes: [{ match: '*' }] }).governor.snapshot().lanes).toEqual([])
  for (const concurrency of [0, 1.5]) expect(() => parseCapacityOptions({ lanes: one('*', concurrency) })).toThrow()
})

test('2: cells count for their lane, one without a lane for nobody', () => {
  const d = drive()
  for (const [cell, lane] of [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
    ['4', null],
  ] as const)
    d.ask(cell, lane)
  expect([d.lane('a')?.cells, d.lane('b')?.cells, d.governor.snapshot().cells.inFlight]).toEqual([2, 1, 4])
})

test('3: a lane at its cap takes nobody, one under it does, one that is held does not', () => {
  const d = drive({ lanes: one('a', 1) })
  expect(granted(d.ask('1', 'a'))).toEqual(['1'])
  expect(granted(d.ask('2', 'a'))).toEqual([])
  expect(granted(d.ask('3', 'b'))).toEqual(['3'])
  d.fail('3', 'b', { kind: 'throttled', holdMs: 1_000, reason: '429' })
  expect(granted(d.ask('4', 'b'))).toEqual([])
})

test('4, 6: a cell that is being scored holds its campaign slot, and its lane slot no longer', () => {
  const d = drive({ cells: 3 })
  d.ask('1', 'a')
  d.ask('2', 'b')
  d.send({ type: 'subject-done', cellId: '2' })
  expect(d.governor.snapshot().cells).toEqual({ inFlight: 2, cap: 3, waiting: 0 })
  expect([d.lane('a')?.cells, d.lane('b')?.cells]).toEqual([1, 0])
  expect(granted([...d.ask('3', 'a'), ...d.ask('4', 'a')])).toEqual(['3'])
})

test('5: what one decision grants counts for the next of the same batch', () => {
  const d = drive({ lanes: one('a', 2) })
  d.ask('1', 'a')
  const two = ['2', '3'].map((cellId): GovernorEvent => {
    return { type: 'ask-lease', request: { cellId, lane: 'a', rank: [0, 9, 0, 'c'] } }
  })
  expect(granted(d.send(...two))).toEqual(['2'])
})

test('7, 8: a told wait holds its lane alone, until it is over; one lost connection holds nobody, two do', () => {
  const d = drive()
  d.ask('1', 'a')
  d.fail('1', 'a', { kind: 'throttled', holdMs: 5_000, reason: '429 rate_limit, retry-after' })
  expect(granted([...d.ask('2', 'a'), ...d.ask('3', 'b'), ...d.ask('4', 'unlisted')])).toEqual(['3', '4'])
  expect(d.lane('a')).toMatchObject({
    concurrency: 4,
    waitingCells: 1,
    why: [{ kind: 'hold', until: 5_000, reason: '429 rate_limit, retry-after' }],
  })
  expect(d.governor.nextWake()).toBe(5_000)
  d.clock.now = 4_999
  expect(d.send()).toEqual([])
  d.clock.now = 5_000
  expect(granted(d.send())).toEqual(['2'])
  expect(d.governor.nextWake()).toBeNull()
  d.fail('3', 'b', { kind: 'fault', holdMs: 1_000, reason: 'ECONNRESET' })
  expect(granted(d.ask('5', 'b'))).toEqual(['5'])
  d.fail('3', 'b', { kind: 'fault', holdMs: 1_000, reason: 'ECONNRESET' })
  expect(granted(d.ask('6', 'b'))).toEqual([])
})

test('8: a hold is at most a quarter of an hour, and a wait that is no number holds nobody', () => {
  const d = drive({ cells: 99, lanes: one('*', 256) })
  d.ask('1', 'a')
  for (const holdMs of [Number.NaN, Number.NEGATIVE_INFINITY, -5, 0]) {
    d.fail('1', 'a', { kind: 'throttled', holdMs, reason: '429' })
    expect(granted(d.ask(`after ${holdMs}`, 'a'))).toHaveLength(1)
  }
  d.fail('1', 'a', { kind: 'throttled', holdMs: 31_536_000_000, reason: '429' })
  d.ask('2', 'a')
  expect(d.governor.nextWake()).toBe(15 * 60_000)
})

test('9: three independent cells: one at a time in a lane of one, together without', () => {
  const cells = ['c1', 'c2', 'c3'].map((id) => simCell(id))
  const capped = new Simulation({ options: { cells: 3, lanes: one('*') }, cells }).run()
  expect(capped.provider('p/m').peak).toBe(1)
  expect(new Simulation({ options: { cells: 3 }, cells }).run().provider('p/m').peak).toBe(3)
})

test('10, 14: who waits for a slot waits until a cell is released, however long it is scored', () => {
  const d = drive({ cells: 1 })
  d.ask('1', 'a')
  d.ask('2', 'a')
  expect(d.send({ type: 'subject-done', cellId: '1' })).toEqual([])
  expect(d.judge(7, '1', 'j')).toMatchObject([{ type: 'judge-granted' }])
  expect(d.send({ type: 'release-judge', judgeId: 7 })).toEqual([])
  expect(granted(d.release(1))).toEqual(['2'])
})

test('11: a cell that runs again waits for the slot, at the end of its seed block', () => {
  const refusing = {
    n: 1,
    with: { kind: 'fault', fault: { kind: 'fault', phase: 'connect', code: 'ECONNREFUSED', message: '' } },
  }
  const sim = new Simulation({
    options: { cells: 1 },
    cells: [
      simCell('c1', { lane: 'dead/m', rounds: [[{ lane: 'dead/m', ms: 10 }]] }),
      // Long enough for the dead lane's hold to be over.
      simCell('c2', { rounds: [[{ lane: 'p/m', ms: 60_000 }]] }),
      simCell('c3', { rank: [1, 0, 0, 'c'] }),
    ],
    providers: { 'dead/m': { concurrency: 1, every: refusing as never } },
    rerun: true,
  }).run()
  expect(sim.order).toEqual(['c1', 'c2', 'c1', 'c3'])
  expect(sim.settled.get('c1')).toMatchObject({ end: 'infra_error', reason: 'provider-fault' })
})

test('11: a subject that is over is never run again', () => {
  const d = drive()
  d.ask('1')
  d.send({ type: 'subject-done', cellId: '1' })
  d.release(1)
  expect(() => d.ask('1')).toThrow('cell 1 asked for a lease, but its subject is over and is never run again')
})

test('12: one slot, and the judge needs the lane a sibling waits for: the judge goes first', () => {
  const judged = { judges: [{ lane: 'p/m', calls: [{ lane: 'p/m', ms: 50 }] }] }
  const cells = [simCell('c1', judged), simCell('c2', judged), simCell('c3', judged)]
  for (const cap of [1, 2, 3]) {
    const sim = new Simulation({ options: { cells: cap, lanes: one('*') }, cells }).run()
    expect(sim.provider('p/m').peak).toBe(1)
    expect([...sim.settled.values()].map(({ end }) => end)).toEqual(['scored', 'scored', 'scored'])
  }
  const d = drive({ cells: 2, lanes: one('*') })
  d.ask('1', 'a')
  d.ask('2', 'a')
  expect(d.judge(1, '1', 'a')).toMatchObject([{ type: 'judge-granted', judgeId: 1 }])
  d.judge(2, '1', 'a')
  expect(d.lane('a')).toMatchObject({ waitingCells: 1, waitingJudges: 1, why: [{ kind: 'slots' }] })
  d.send({ type: 'release-judge', judgeId: 2 })
  expect(granted(d.send({ type: 'release-judge', judgeId: 1 }))).toEqual(['2'])
})

test('13: two cells that settle together are judged together', () => {
  const d = drive({ cells: 2 })
  d.ask('1', 'a')
  d.ask('2', 'a')
  expect(judges([...d.judge(1, '1', 'j'), ...d.judge(2, '2', 'j')])).toEqual([1, 2])
})

test('15, 16: judges of one slot go one after the other, re-asks inside their lease; each subject runs once', () => {
  const judge = {
    lane: 'j/m',
    calls: [
      { lane: 'j/m', ms: 50 },
      { lane: 'j/m', ms: 50 },
    ],
  }
  const cells = [simCell('c1', { judges: [judge] }), simCell('c2', { judges: [judge, judge] })]
  const sim = new Simulation({ options: { cells: 2, lanes: one('j/*') }, cells }).run()
  expect(sim.peakJudges).toBe(1)
  expect(sim.provider('j/m').arrived).toBe(6)
  expect([...sim.subjects.values()]).toEqual([1, 1])
  expect([...sim.settled.values()].map(({ end }) => end)).toEqual(['scored', 'scored'])
})

test('ten calls of one cell at once, in a lane of one, with a judge in the same lane', () => {
  const rounds = [Array.from({ length: 10 }, () => ({ lane: 'p/m', ms: 20 }))]
  const judge = { lane: 'p/m', calls: Array.from({ length: 3 }, () => ({ lane: 'p/m', ms: 20 })) }
  const cells = [simCell('c1', { rounds, judges: [judge, judge] }), simCell('c2', { rounds })]
  const sim = new Simulation({ options: { cells: 2, lanes: one('*') }, cells }).run()
  expect(sim.provider('p/m')).toMatchObject({ peak: 1, arrived: 26 })
})

test('16: a refused judge leaves its cell in flight, and the cell is never asked for again', () => {
  const d = drive()
  d.ask('1', 'a')
  d.send({ type: 'close-lane', lane: 'j', reason: 'lane-failed', detail: 'HTTP 401' })
  expect(d.judge(1, '1', 'j')).toEqual([
    { type: 'judge-refused', judgeId: 1, waitedMs: 0, reason: 'lane-failed', detail: 'HTTP 401' },
  ])
  expect(d.governor.snapshot().cells.inFlight).toBe(1)
})

test('18, 19: a budget is an integer ≥ 0 of micro-USD; a broken one of a campaign buys nothing', () => {
  for (const limitMicroUsd of [-1, Number.NaN, 25.5, '5' as unknown as number]) {
    expect(() => drive({}, { budget: { limitMicroUsd } })).toThrow('limitMicroUsd must be an integer of micro-USD ≥ 0')
  }
  expect(drive({}, { budget: { limitMicroUsd: 0 } }).budget()?.limitMicroUsd).toBe(0)
  const d = drive({}, { strict: false })
  const broken: GovernorEvent = { type: 'campaign-budget', campaignId: 'c', budget: { limitMicroUsd: -1 } }
  expect(d.send(broken)).toMatchObject([{ type: 'warning', text: expect.stringContaining('campaign c: budget') }])
  expect(d.send(broken)).toMatchObject([{ type: 'warning', text: 'campaign c was given a second budget' }])
  expect(refused(d.ask('1', 'a'))).toEqual(['1: budget'])
})

test('20: without a budget nothing is held and nothing is counted', () => {
  const d = drive()
  expect(d.ask('1', 'a')[0]).not.toHaveProperty('heldMicroUsd')
  d.call('1', 'a', 1_000_000_000)
  expect(d.governor.snapshot().budgets).toEqual([])
})

test('21, 22: an unknown bill keeps its bound, else the whole hold, and a late one replaces it', () => {
  const d = drive({ lanes: [{ match: '*', usdPerCell: 0.000_05 }] }, { budget: { limitMicroUsd: 100 } })
  d.ask('1', 'a')
  d.send({ type: 'ask-permit', permitId: 1, request: { cellId: '1', lane: 'a', boundMicroUsd: 20 } })
  d.send({
    type: 'release-permit',
    permitId: 1,
    outcome: { result: { kind: 'aborted' }, tokens: null, microUsd: null },
  })
  expect(d.budget()).toMatchObject({ heldMicroUsd: 30, unknownMicroUsd: 20, unknownCalls: 1, chargedMicroUsd: 0 })
  d.call('1', 'a', null)
  expect(d.budget()).toMatchObject({ heldMicroUsd: 0, unknownMicroUsd: 50, unknownCalls: 2 })
  d.send({ type: 'ask-permit', permitId: 2, request: { cellId: '1', lane: 'a' } })
  d.release(1)
  d.send({ type: 'release-permit', permitId: 2, outcome: { result: { kind: 'answered' }, tokens: null, microUsd: 12 } })
  expect(d.budget()).toMatchObject({ heldMicroUsd: 0, unknownMicroUsd: 50, chargedMicroUsd: 12, overshootMicroUsd: 12 })
})

test('23, 25, 26: a second release is an error, or a warning in production, and moves no money', () => {
  const settings = { budget: { limitMicroUsd: 100 } }
  const d = drive({ lanes: [{ match: '*', usdPerCell: 0.000_05 }] }, { ...settings, strict: false })
  d.ask('1', 'a')
  d.send({ type: 'ask-permit', permitId: 1, request: { cellId: '1', lane: 'a' } })
  const bill: GovernorEvent = {
    type: 'release-permit',
    permitId: 1,
    outcome: { result: { kind: 'answered' }, tokens: null, microUsd: 5 },
  }
  d.send(bill)
  const before = d.budget()
  expect(d.send(bill)).toMatchObject([
    { type: 'warning', text: expect.stringContaining('permit 1 was released twice') },
  ])
  expect(d.budget()).toEqual(before)
  d.release(1)
  expect(d.release(1)).toMatchObject([{ type: 'warning', text: expect.stringContaining('lease 1 was released twice') }])
  expect(d.send({ type: 'release-judge', judgeId: 9 })).toMatchObject([{ type: 'warning' }])
  expect(d.budget()).toMatchObject({ heldMicroUsd: 0, chargedMicroUsd: 5 })
  expect(() => drive({}, settings).release(4)).toThrow('lease 4 was released twice, was forgotten or never existed')
})

test('24: a charge beyond its hold is recorded as such', () => {
  const d = drive({ lanes: [{ match: '*', usdPerCell: 0.000_02 }] }, { budget: { limitMicroUsd: 100 } })
  d.ask('1', 'a')
  d.call('1', 'a', 25)
  d.release(1)
  expect(d.budget()).toMatchObject({ heldMicroUsd: 0, chargedMicroUsd: 25, overshootMicroUsd: 5 })
})

test('27: two of 80 against 100: one runs, the other waits, and is refused when nobody can free the rest', () => {
  const d = drive({ lanes: [{ match: '*', usdPerCell: 0.000_08 }] }, { budget: { limitMicroUsd: 100 } })
  expect(d.ask('1', 'a')).toMatchObject([{ type: 'lease-granted', heldMicroUsd: 80 }])
  expect(d.ask('2', 'b')).toEqual([])
  expect(d.lane('b')?.why).toEqual([{ kind: 'budget', budget: 'run' }])
  d.call('1', 'a', 80)
  const effects = d.release(1)
  expect(effects).toMatchObject([
    {
      type: 'lease-refused',
      cellId: '2',
      reason: 'budget',
      detail: expect.stringContaining('$0.00008 spent of $0.0001'),
    },
  ])
  const again = drive({ lanes: [{ match: '*', usdPerCell: 0.000_08 }] }, { budget: { limitMicroUsd: 100 } })
  again.ask('1', 'a')
  again.ask('2', 'b')
  again.call('1', 'a', 15)
  expect(granted(again.release(1))).toEqual(['2'])
})

test('30: the first cell of a lane runs alone, the next hold twice the largest bill', () => {
  const d = drive({}, { budget: { limitMicroUsd: 60 } })
  expect(d.ask('1', 'a')).toMatchObject([{ heldMicroUsd: 60 }])
  expect(granted([...d.ask('2', 'a'), ...d.ask('3', 'a'), ...d.ask('4', 'a')])).toEqual([])
  expect(d.lane('a')?.why).toEqual([{ kind: 'first-cell' }])
  d.call('1', 'a', 12)
  expect(d.release(1)).toMatchObject([
    { cellId: '2', heldMicroUsd: 24 },
    { cellId: '3', heldMicroUsd: 24 },
  ])
  expect(d.lane('a')?.why).toEqual([{ kind: 'budget', budget: 'run' }])
  d.call('2', 'a', 12)
  expect(granted(d.release(2))).toEqual([])
  d.call('3', 'a', 12)
  expect(granted(d.release(3))).toEqual(['4'])
})

test('31, 32: a judge is held with its cell; one that costs more is recorded, one without money is refused', () => {
  const lanes = [
    { match: 'a', usdPerCell: 0.000_06 },
    { match: 'j', usdPerCell: 0.000_05 },
  ]
  const d = drive({ lanes }, { budget: { limitMicroUsd: 300 } })
  expect(d.ask('1', 'a', ['j'])).toMatchObject([{ heldMicroUsd: 110 }])
  d.call('1', 'a', 60)
  expect(judges(d.judge(1, '1', 'j'))).toEqual([1])
  d.call('1', 'j', 162, 'judge')
  expect(d.budget()).toMatchObject({ chargedMicroUsd: 222, overshootMicroUsd: 112, heldMicroUsd: 0 })
  const poor = drive({ lanes }, { budget: { limitMicroUsd: 100 } })
  poor.ask('1', 'a')
  poor.call('1', 'a', 60)
  expect(poor.judge(1, '1', 'j')).toMatchObject([{ type: 'judge-refused', judgeId: 1, reason: 'budget' }])
  expect(poor.budget()).toMatchObject({ heldMicroUsd: 0, chargedMicroUsd: 60 })
})

test('55: a used-up quota ends what waits, and an equivalent lane takes it where one is declared', () => {
  const closing = { kind: 'closing', reason: 'lane-exhausted', detail: 'the quota is used up' } as const
  const d = drive({ lanes: [{ match: 'a', concurrency: 1 }] })
  d.ask('1', 'a')
  d.ask('2', 'a')
  expect(refused(d.fail('1', 'a', closing))).toEqual(['2: lane-exhausted'])
  expect(refused(d.ask('3', 'a'))).toEqual(['3: lane-exhausted'])
  const e = drive({ lanes: [{ match: 'a', concurrency: 1, equivalent: ['b'] }] })
  e.ask('1', 'a')
  e.ask('2', 'a')
  expect(e.fail('1', 'a', closing)).toContainEqual(expect.objectContaining({ cellId: '2', failover: 'b' }))
  expect([e.lane('a')?.cells, e.lane('b')?.cells]).toEqual([1, 1])
})

test('55: under a budget, a cell that an equivalent lane takes pays with what was held for it', () => {
  const d = drive({ lanes: [{ match: 'a', concurrency: 1, equivalent: ['b'] }] }, { budget: { limitMicroUsd: 100 } })
  const ask = (cellId: string, at: number) =>
    d.send({ type: 'ask-lease', request: { cellId, lane: null, rank: [0, at, 0, 'c'] } })
  const permit = (permitId: number, cellId: string, lane: string, boundMicroUsd: number) =>
    d.send({ type: 'ask-permit', permitId, request: { cellId, lane, boundMicroUsd } })
  ask('1', 1)
  permit(1, '1', 'a', 30)
  const answered = { result: { kind: 'answered' }, tokens: null, microUsd: 30 } as const
  d.send({ type: 'release-permit', permitId: 1, outcome: answered }, { type: 'release-lease', leaseId: 1 })
  ask('2', 2)
  d.fail('2', 'a', { kind: 'throttled', holdMs: 60_000, reason: '429' })
  // Its variant declares no lane, and was seen to use the one that is held.
  d.send({ type: 'forget', cellIds: ['2'] })
  expect(ask('3', 3)).toMatchObject([{ type: 'lease-granted', failover: 'b', heldMicroUsd: 60 }])
  expect(permit(3, '3', 'b', 60), '70 are left, of which 60 are its own').toMatchObject([{ type: 'permit-granted' }])
  d.send({ type: 'subject-done', cellId: '3' })
  d.send({ type: 'release-permit', permitId: 3, outcome: { ...answered, microUsd: 10 } })
  expect(d.budget()).toMatchObject({ heldMicroUsd: 0, chargedMicroUsd: 40 })
})

test('56: a hold lets cells wait, a closing ends them', () => {
  const d = drive()
  d.ask('1', 'a')
  d.fail('1', 'a', { kind: 'throttled', holdMs: 60_000, reason: '429' })
  expect(d.ask('2', 'a')).toEqual([])
  const effects = d.send({ type: 'close-lane', lane: 'a', reason: 'lane-failed', detail: 'no such model' })
  expect(refused(effects)).toEqual(['2: lane-failed'])
  expect(effects[0]).toMatchObject({
    type: 'notice',
    code: 'lane-closed',
    text: expect.stringContaining('no such model'),
  })
})

test('56: five identical errors in a row close a lane, an answer between them starts the count anew', () => {
  const d = drive()
  d.ask('1', 'a')
  const bad = (signature = 'HTTP 400: no') => d.fail('1', 'a', { kind: 'rejected', signature })
  for (let i = 0; i < 4; i++) bad()
  d.call('1', 'a', null)
  for (let i = 0; i < 4; i++) bad()
  bad('HTTP 400: something else')
  for (let i = 0; i < 4; i++) bad()
  expect(d.lane('a')?.closed).toBeNull()
  bad()
  expect(d.lane('a')?.closed).toMatchObject({
    reason: 'lane-failed',
    detail: expect.stringContaining('5 requests in a row'),
  })
})

test('57: a lost stream is waited out, not a failure', () => {
  const lost = {
    kind: 'fault',
    fault: { kind: 'fault', phase: 'headers', code: 'STREAM_CLOSED', message: '' },
  } as const
  const sim = new Simulation({
    options: {},
    cells: [simCell('c1'), simCell('c2'), simCell('c3')],
    providers: { 'p/m': { concurrency: 8, every: { n: 2, with: lost } } },
  }).run()
  expect([...sim.settled.values()].map(({ end }) => end)).toEqual(['scored', 'scored', 'scored'])
  expect(sim.provider('p/m').arrived).toBeGreaterThan(3)
})

test('58: three equivalent lanes that are all used up refuse with the reason of the declared one', () => {
  const d = drive({ lanes: [{ match: 'a', equivalent: ['b', 'c'] }] })
  d.ask('1', 'a')
  for (const lane of ['b', 'c', 'a']) {
    d.send({ type: 'close-lane', lane, reason: 'lane-exhausted', detail: `${lane} is used up` })
  }
  expect(d.ask('2', 'a')).toMatchObject([{ type: 'lease-refused', reason: 'lane-exhausted', detail: 'a is used up' }])
})

test('62: a bill of 0 is 0, none is unknown, and price 0 holds nothing', () => {
  const d = drive({ lanes: [{ match: 'local/*', price: 0 }] }, { budget: { limitMicroUsd: 100 } })
  expect(d.ask('1', 'local/m')).toMatchObject([{ heldMicroUsd: 0 }])
  d.call('1', 'local/m', 0)
  expect(d.budget()).toMatchObject({ chargedMicroUsd: 0, unknownMicroUsd: 0, unknownCalls: 0 })
  d.ask('2', 'paid/m')
  d.call('2', 'paid/m', null)
  expect(d.budget()).toMatchObject({ unknownMicroUsd: 100, unknownCalls: 1, chargedMicroUsd: 0 })
})

test('a lane without a price under a budget is refused with what to declare, before a byte leaves', () => {
  const d = drive({}, { budget: { limitMicroUsd: 100 }, priced: (lane) => lane !== 'my/model' })
  d.ask('1', 'mine')
  d.ask('2', 'mine')
  const effects = d.send({ type: 'ask-permit', permitId: 1, request: { cellId: '1', lane: 'my/model' } })
  const detail = expect.stringContaining('{ match: "my/model", price: { input, output } }')
  expect(effects).toContainEqual({ type: 'permit-refused', permitId: 1, waitedMs: 0, reason: 'budget', detail })
  // All that the declared lane leads to is closed, and so is it.
  expect(refused(effects)).toEqual(['2: budget'])
})

test('an account is one quota: what one of its lanes is told holds all of them, and they share its slots and pace', () => {
  const lanes = ['a', 'b'].map((match) => ({ match, account: 'acme', concurrency: 2, requestsPerMinute: 2 }))
  const d = drive({ lanes })
  expect(granted([...d.ask('1', 'a'), ...d.ask('2', 'b'), ...d.ask('3', 'b')])).toEqual(['1', '2'])
  d.call('1', 'a', null)
  d.call('2', 'b', null)
  expect(d.send({ type: 'ask-permit', permitId: 1, request: { cellId: '2', lane: 'b' } })).toEqual([])
  expect(d.lane('b')?.why).toContainEqual({ kind: 'pace', until: 60_500 })
  d.clock.now = 60_500
  expect(d.send()).toMatchObject([{ type: 'permit-granted', permitId: 1, waitedMs: 60_500 }])
  d.send({
    type: 'release-permit',
    permitId: 1,
    outcome: { result: { kind: 'throttled', holdMs: 1_000, reason: '429' }, tokens: null, microUsd: 0 },
  })
  d.release(1)
  expect(d.lane('a')).toMatchObject({ concurrency: 1 })
})

test('a dear cell is not passed over for cheap ones: money goes by rank', () => {
  const lanes = [
    { match: 'dear', usdPerCell: 0.000_08 },
    { match: 'cheap', usdPerCell: 0.000_01 },
  ]
  const d = drive({ lanes }, { budget: { limitMicroUsd: 100 } })
  d.ask('1', 'cheap')
  d.ask('2', 'cheap')
  d.ask('3', 'cheap')
  expect(granted([...d.ask('4', 'dear'), ...d.ask('5', 'cheap')])).toEqual([])
  expect(granted(d.release(1))).toEqual(['4'])
  expect(granted(d.release(2))).toEqual(['5'])
})

test('drained, cells in flight are still judged; stopped, nothing is granted any more', () => {
  const d = drive({ lanes: one('*') })
  d.ask('1', 'a')
  d.ask('2', 'a')
  expect(refused(d.send({ type: 'drain', reason: 'bail' }))).toEqual(['2: bail'])
  expect(judges(d.judge(1, '1', 'j'))).toEqual([1])
  d.judge(2, '1', 'j')
  d.send({ type: 'ask-permit', permitId: 1, request: { cellId: '1', lane: 'j' } })
  d.send({ type: 'ask-permit', permitId: 2, request: { cellId: '1', lane: 'j' } })
  expect(d.send({ type: 'stop', reason: 'interrupted' })).toEqual([
    { type: 'judge-refused', judgeId: 2, waitedMs: 0, reason: 'interrupted' },
    { type: 'permit-refused', permitId: 2, waitedMs: 0, reason: 'interrupted' },
  ])
  expect(d.judge(3, '1', 'j')).toMatchObject([{ type: 'judge-refused', reason: 'interrupted' }])
  expect(d.governor.snapshot()).toMatchObject({ state: 'stopped', draining: 'bail' })
})

test('a cell that its recording serves gives its slot and its money back at once', () => {
  const d = drive({ lanes: one('a') }, { budget: { limitMicroUsd: 100 } })
  d.ask('1', 'a')
  expect(granted(d.ask('2', 'a'))).toEqual([])
  expect(d.send({ type: 'served', cellId: '1' })).toMatchObject([{ cellId: '2', heldMicroUsd: 100 }])
})

test('a request larger than the lane lets through in a minute is sent alone, and said so', () => {
  const d = drive({ lanes: [{ match: '*', tokensPerMinute: 100 }] })
  d.ask('1', 'a')
  const big = { cellId: '1', lane: 'a', tokens: { input: 900, output: 100 } }
  expect(d.send({ type: 'ask-permit', permitId: 1, request: big })).toMatchObject([
    { type: 'notice', code: 'request-over-limit' },
    { type: 'permit-granted', permitId: 1 },
  ])
  expect(d.send({ type: 'ask-permit', permitId: 2, request: { ...big, tokens: { input: 1, output: 0 } } })).toEqual([])
})
