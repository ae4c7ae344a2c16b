import fc from 'fast-check'
import { expect, test } from 'vitest'
import { carriedSpend } from '../../../src/core/capacity/carried.ts'
import { campaign, numbers, type RandomCampaign } from './simulator/campaign.ts'
import { type SimSetup, Simulation } from './simulator/run.ts'

const RUNS = 500

function setupOf({ options, providers, cells, shared, seed }: RandomCampaign, more: Partial<SimSetup> = {}): SimSetup {
  const accountOf = (lane: string): string => (shared && lane.startsWith('p/') ? 'p' : lane)
  return { options, providers, cells, accountOf, random: numbers(seed), ...more }
}

/** As `expect`, without its price: this is asked after every decision of every run. */
function must(holds: boolean, what: () => string): void {
  if (!holds) throw new Error(what())
}

/** P1: slots and accounts, and nothing the provider forbids. */
function watchLimits(sim: Simulation): void {
  const { cells, lanes } = sim.governor.snapshot()
  must(cells.inFlight <= cells.cap, () => `${cells.inFlight} cells in flight of ${cells.cap}`)
  must(
    cells.inFlight === sim.holding.size,
    () => `${cells.inFlight} cells in flight, and ${sim.holding.size} hold a lease`,
  )
  must(cells.waiting === sim.waiting.size, () => `${cells.waiting} cells wait, and ${sim.waiting.size} asked`)
  const used = new Map<string, { cells: number; requests: number }>()
  for (const { lane, account, cells, requests, cap, concurrency } of lanes) {
    must(concurrency >= 1 && concurrency <= cap, () => `${lane} lets ${concurrency} go, of ${cap}`)
    must(requests === (sim.inFlight.get(lane) ?? 0), () => `${lane} counts ${requests}, not ${sim.inFlight.get(lane)}`)
    const of = account ?? lane
    const sum = used.get(of) ?? { cells: 0, requests: 0 }
    used.set(of, { cells: sum.cells + cells, requests: sum.requests + requests })
    must(sum.cells + cells <= cap && sum.requests + requests <= cap, () => `${of} is over its cap of ${cap}`)
  }
}

/** P2: held + charged + unknown ≤ budget + what was charged beyond its hold. */
function watchMoney(sim: Simulation, carried = 0): void {
  for (const budget of sim.governor.snapshot().budgets) {
    const { limitMicroUsd, chargedMicroUsd, heldMicroUsd, unknownMicroUsd, overshootMicroUsd } = budget
    for (const amount of [chargedMicroUsd, heldMicroUsd, unknownMicroUsd, overshootMicroUsd]) {
      must(Number.isSafeInteger(amount) && amount >= 0, () => JSON.stringify(budget))
    }
    const reserved = heldMicroUsd + chargedMicroUsd + unknownMicroUsd
    // What an earlier part of the run overshot is not this governor's.
    must(reserved <= limitMicroUsd + overshootMicroUsd + carried, () => JSON.stringify(budget))
  }
}

/** P6: whoever could go, went. */
function watchProgress(sim: Simulation): void {
  const { cells, lanes, draining } = sim.governor.snapshot()
  if (cells.inFlight >= cells.cap || draining !== null) return
  for (const { id, lane } of sim.waiting.values()) {
    // A variant that declares no lane may have learnt one.
    const at = lanes.find((other) => other.lane === lane)
    if (at === undefined) continue
    const shared = lanes.filter((other) => (at.account === null ? other === at : other.account === at.account))
    const inUse = shared.reduce((sum, other) => sum + other.cells, 0)
    const held = at.why.some(({ kind }) => kind === 'hold')
    must(inUse >= at.concurrency || held, () => `${id} waits and ${at.lane} has room`)
  }
}

/** P3, P4, P7: one end for each cell, one start of its subject, and no output lost. */
function endsWell(sim: Simulation, { cells }: RandomCampaign, reruns = 0): void {
  for (const { id } of cells) {
    must(sim.terminal.get(id) === 1, () => `${id} ended ${sim.terminal.get(id)} times`)
    must((sim.subjects.get(id) ?? 0) <= 1 + reruns, () => `the subject of ${id} ran ${sim.subjects.get(id)} times`)
    const { end, reason } = sim.settled.get(id) ?? {}
    must((end !== 'judge_error' && end !== 'scored') || sim.outputs.has(id), () => `${id} lost its output`)
    must(end === 'scored' || reason !== null, () => `${id} ended as ${end} without a reason`)
  }
  const { cells: left, lanes, budgets } = sim.governor.snapshot()
  expect(left).toMatchObject({ inFlight: 0, waiting: 0 })
  for (const lane of lanes) {
    expect(lane).toMatchObject({
      cells: 0,
      requests: 0,
      waitingCells: 0,
      waitingJudges: 0,
      waitingRequests: 0,
      why: [],
    })
  }
  for (const budget of budgets) expect(budget.heldMicroUsd).toBe(0)
}

test('P1, P4, P6: limits hold at every instant, nobody is lost or starved, and every cell ends once', () => {
  let scored = 0
  let failed = 0
  fc.assert(
    fc.property(campaign, fc.boolean(), (drawn, rerun) => {
      const sim = new Simulation(
        setupOf(drawn, {
          rerun,
          watch: (sim) => {
            watchLimits(sim)
            watchProgress(sim)
          },
        }),
      ).run()
      endsWell(sim, drawn, rerun ? 1 : 0)
      for (const provider of sim.providers.values()) expect(provider.over).toBe(0)
      for (const { end } of sim.settled.values()) {
        if (end === 'scored') scored++
        else failed++
      }
    }),
    { numRuns: RUNS },
  )
  expect(scored).toBeGreaterThan(1000)
  expect(failed).toBeGreaterThan(10)
})

test('P2, P3, P7: money never exceeds the budget but by what a call cost beyond its hold, and adds up', () => {
  let refused = 0
  let unscored = 0
  fc.assert(
    fc.property(
      campaign,
      fc.integer({ min: 0, max: 60_000 }),
      fc.option(fc.integer({ min: 0, max: 30_000 })),
      (drawn, limitMicroUsd, own) => {
        const sim = new Simulation(
          setupOf(drawn, {
            settings: { budget: { limitMicroUsd } },
            campaignBudgets: own === null ? {} : { x: own },
            watch: (sim) => {
              watchLimits(sim)
              watchMoney(sim)
            },
          }),
        ).run()
        endsWell(sim, drawn)
        const run = sim.governor.snapshot().budgets[0]
        expect(run?.chargedMicroUsd).toBe(sim.billed)
        expect(run?.unknownCalls).toBe(sim.unknownBills)
        if (limitMicroUsd === 0) expect(sim.subjects.size).toBe(0)
        for (const { end, reason } of sim.settled.values()) {
          if (reason === 'budget') refused++
          if (end === 'judge_error' && reason === 'budget') unscored++
        }
      },
    ),
    { numRuns: RUNS },
  )
  expect(refused).toBeGreaterThan(100)
  expect(unscored).toBeGreaterThan(0)
})

test('P3, P4 under crashes of workers: what they held comes back, their calls in flight stay unknown, the rest goes on', () => {
  let lost = 0
  fc.assert(
    fc.property(
      campaign,
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 0, max: 200_000 }),
      (drawn, at, limit) => {
        const sim = new Simulation(
          setupOf(drawn, {
            settings: { budget: { limitMicroUsd: limit } },
            at: new Map([[at, (sim: Simulation) => sim.lose('w0')]]),
            watch: (sim) => {
              if (sim.decisions !== at) watchMoney(sim)
            },
          }),
        ).run()
        // One more, so that a crash after the last decision is heard.
        sim.governor.send([])
        for (const { id } of drawn.cells) expect(sim.terminal.get(id), id).toBe(1)
        for (const { end } of sim.settled.values()) if (end === 'worker-lost') lost++
      },
    ),
    { numRuns: RUNS },
  )
  expect(lost).toBeGreaterThan(100)
})

test('P3, P4, P5 under a crash of the main process: the rest is run once, and what was in flight is not taken for free', () => {
  let continued = 0
  fc.assert(
    fc.property(
      campaign,
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: 1, max: 300_000 }),
      (drawn, at, limit) => {
        // Every bill is known or bounded, so that the journal can be compared with the provider's own count.
        const cells = drawn.cells.map((cell) => ({ ...cell, declaresJudges: true }))
        const held = new Map<string, number>()
        const first = new Simulation(
          setupOf(
            { ...drawn, cells },
            {
              settings: { budget: { limitMicroUsd: limit } },
              at: new Map([
                [
                  at,
                  (sim: Simulation) => {
                    sim.crashed = true
                  },
                ],
              ]),
            },
          ),
        )
        first.onGrant = (cellId, heldMicroUsd) => held.set(cellId, heldMicroUsd)
        first.run()
        const attempts = [...held].map(([cellId, heldMicroUsd]) => {
          const settled = first.settled.get(cellId)
          return { heldMicroUsd, usd: settled === undefined ? undefined : (first.costOf(cellId) ?? null) }
        })
        const carried = carriedSpend(attempts)
        const over = Math.max(0, carried.chargedMicroUsd + carried.unknownMicroUsd - limit)
        const rest = cells.filter(({ id }) => !first.settled.has(id))
        const second = new Simulation(
          setupOf(
            { ...drawn, cells: rest },
            { settings: { budget: { limitMicroUsd: limit, ...carried } }, watch: (sim) => watchMoney(sim, over) },
          ),
        ).run()
        if (rest.length > 0 && first.crashed) continued++
        for (const { id } of cells) {
          expect((first.terminal.get(id) ?? 0) + (second.terminal.get(id) ?? 0), id).toBe(1)
        }
        const budget = second.governor.snapshot().budgets[0]
        const known = [...first.settled.keys()].reduce(
          (sum, id) => sum + Math.round((first.costOf(id) ?? 0) * 1_000_000),
          0,
        )
        expect(budget?.chargedMicroUsd).toBe(known + second.billed)
        // P5: a finished campaign has nothing left to buy.
        const third = new Simulation(
          setupOf({ ...drawn, cells: [] }, { settings: { budget: { limitMicroUsd: 0 } } }),
        ).run()
        expect(third.billed).toBe(0)
      },
    ),
    { numRuns: RUNS },
  )
  expect(continued).toBeGreaterThan(100)
})

test('P5, P8: cells that a recording serves need no lane, no money and no order, even with a budget of nothing', () => {
  fc.assert(
    fc.property(campaign, (drawn) => {
      const cells = drawn.cells.map((cell) => ({ ...cell, lane: null, spends: false, rounds: [], judges: [] }))
      const setup = setupOf({ ...drawn, cells }, { settings: { budget: { limitMicroUsd: 0 } } })
      const sim = new Simulation(setup).run()
      for (const { end } of sim.settled.values()) expect(end).toBe('scored')
      expect(sim.settled.size).toBe(cells.length)
      expect(sim.billed).toBe(0)
    }),
    { numRuns: 100 },
  )
})

test('P9: the same answers give the same table, whatever the limits, the latencies and the order', () => {
  fc.assert(
    fc.property(campaign, campaign, fc.nat(), (drawn, other, seed) => {
      const calm = (from: RandomCampaign): SimSetup =>
        setupOf({ ...drawn, options: from.options, providers: {}, shared: from.shared, seed })
      const table = (setup: SimSetup) => {
        const sim = new Simulation(setup).run()
        return drawn.cells.map(({ id }) => [id, sim.settled.get(id)?.end, sim.subjects.get(id)])
      }
      expect(table(calm(other))).toEqual(table(calm(drawn)))
    }),
    { numRuns: 200 },
  )
})

test('drained and stopped at any moment: nothing new starts, and everything ends', () => {
  let interrupted = 0
  fc.assert(
    fc.property(campaign, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 40 }), (drawn, at, grace) => {
      const started: number[] = []
      const sim = new Simulation(
        setupOf(drawn, {
          at: new Map([
            [at, (sim: Simulation) => sim.send({ type: 'drain', reason: 'interrupted' })],
            [at + 1 + grace, (sim: Simulation) => sim.send({ type: 'stop', reason: 'interrupted' })],
          ]),
          watch: (sim) => {
            watchLimits(sim)
            if (sim.decisions > at + 1) started.push(sim.order.length)
          },
        }),
      ).run()
      endsWell(sim, drawn)
      expect(new Set(started).size).toBeLessThanOrEqual(1)
      for (const { reason } of sim.settled.values()) if (reason === 'interrupted') interrupted++
    }),
    { numRuns: RUNS },
  )
  expect(interrupted).toBeGreaterThan(500)
})
