import { expect, test } from 'vitest'
import { createGovernor, type GovernorEffect } from '../../../src/core/capacity/governor.ts'
import type { LaneLimit } from '../../../src/core/capacity/options.ts'

/** One budget, and requests that say what they may cost. */
function drive(limitMicroUsd: number, lanes: readonly LaneLimit[] = []) {
  const governor = createGovernor({ lanes }, () => 0, { budget: { limitMicroUsd } })
  let scenario = 0
  return {
    lease: (cellId: string, lane: string | null = 'a') =>
      governor.send([{ type: 'ask-lease', request: { cellId, lane, rank: [0, scenario++, 0, 'c'] } }]),
    over: (leaseId: number) => governor.send([{ type: 'release-lease', leaseId }]),
    ask: (permitId: number, cellId: string, boundMicroUsd: number | null, leastMicroUsd: number | null = null) =>
      governor.send([{ type: 'ask-permit', permitId, request: { cellId, lane: 'a', boundMicroUsd, leastMicroUsd } }]),
    bill: (permitId: number, microUsd: number) =>
      governor.send([
        { type: 'release-permit', permitId, outcome: { result: { kind: 'answered' }, tokens: null, microUsd } },
      ]),
    budget: () => governor.snapshot().budgets[0],
    why: () => governor.snapshot().lanes.find(({ lane }) => lane === 'a')?.why,
  }
}

const permits = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) =>
    effect.type === 'permit-granted' || effect.type === 'permit-refused'
      ? [`${effect.permitId} ${effect.type === 'permit-granted' ? 'goes' : effect.reason}`]
      : [],
  )

test('a first request that may cost more than the whole budget does not leave, and says how much that is', () => {
  const d = drive(10)
  d.lease('1')
  expect(d.ask(1, '1', 9_837)).toEqual([
    {
      type: 'permit-refused',
      permitId: 1,
      reason: 'budget',
      waitedMs: 0,
      detail:
        'the request may cost $0.009837, and $0.00001 of the $0.00001 budget of the run is left. Raise the budget, let the request bound its answer (max_tokens), or declare usdPerCell for its lane',
    },
  ])
  // A smaller one of the next cell may still fit; that nothing was called says nothing of what it costs.
  expect(d.over(1)).toEqual([])
  expect(d.lease('2')).toMatchObject([{ type: 'lease-granted', heldMicroUsd: 10 }])
  expect(permits(d.ask(2, '2', 8))).toEqual(['2 goes'])
  d.bill(2, 30)
  expect(d.budget(), 'late overshoot is recorded').toMatchObject({ chargedMicroUsd: 30, overshootMicroUsd: 20 })
})

test('calls at once of one cell are held one beside the other', () => {
  const d = drive(100)
  d.lease('1')
  expect(permits([...d.ask(1, '1', 40), ...d.ask(2, '1', 40), ...d.ask(3, '1', 40)])).toEqual(['1 goes', '2 goes'])
  expect(d.why()).toEqual([{ kind: 'budget', budget: 'run' }])
  expect(permits(d.bill(1, 3)), 'what the first did not cost does for the third').toEqual(['3 goes'])
  expect(permits([...d.bill(2, 40), ...d.bill(3, 40), ...d.ask(4, '1', 40)]), '17 are left').toEqual(['4 budget'])
})

test('once bills are known a request needs twice the largest of them, but never less than its own input', () => {
  const d = drive(1_000)
  d.lease('1')
  d.ask(1, '1', 900)
  d.bill(1, 10)
  d.over(1)
  d.lease('2')
  expect(permits(d.ask(2, '2', 5_000)), 'a bound that nobody comes near is no reason').toEqual(['2 goes'])
  expect(d.budget()).toMatchObject({ heldMicroUsd: 20 })
  expect(permits(d.ask(3, '2', 5_000, 2_000)), 'its input alone is more than what is left').toEqual(['3 budget'])
})

test('it waits while another cell may give money back', () => {
  const d = drive(100, [{ match: 'b', usdPerCell: 0.000_03 }])
  d.lease('1', 'b')
  d.lease('2')
  expect(permits(d.ask(1, '2', 90)), '70 are held for it').toEqual([])
  expect(d.why()).toEqual([{ kind: 'budget', budget: 'run' }])
  expect(permits(d.over(1))).toEqual(['1 goes'])
})

test('of two that wait for each other the later one is refused, and the other has its money when that cell is over', () => {
  const d = drive(100)
  d.lease('1')
  d.ask(1, '1', 40)
  d.bill(1, 10)
  d.over(1)
  d.lease('2')
  d.lease('3')
  expect(permits(d.ask(2, '2', 80, 80)), '50 are left beside the 20 of each').toEqual([])
  expect(permits(d.ask(3, '3', 80, 80))).toEqual(['3 budget'])
  expect(permits(d.over(3))).toEqual(['2 goes'])
})

test("the bill of a variant's first cell counts for the lane it was seen to use: the others need not wait for another", () => {
  const d = drive(1_000)
  d.lease('1', null)
  expect(d.lease('2', null), 'the first runs alone').toEqual([])
  d.lease('3', null)
  d.ask(1, '1', 50)
  d.bill(1, 10)
  expect(d.over(1)).toMatchObject([
    { type: 'lease-granted', cellId: '2', heldMicroUsd: 20 },
    { type: 'lease-granted', cellId: '3', heldMicroUsd: 20 },
  ])
})
