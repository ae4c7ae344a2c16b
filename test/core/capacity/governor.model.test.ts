import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGovernor, type GovernorEffect, type GovernorEvent } from '../../../src/core/capacity/governor.ts'

const LANES = [null, 'openai/a', 'openai/b', 'mistral/m'] as const

interface Cell {
  readonly id: string
  readonly lane: string | null
  readonly rank: readonly [number, number, number, string]
}

/** The law by brute force: plain lists, no heaps, no counters. */
class Model {
  readonly cap: number
  readonly laneCap: (lane: string) => number
  waiting: Cell[] = []
  held = new Map<number, Cell>()
  /** The lane in which each held cell has a slot. */
  slots = new Map<Cell, string | null>()
  /** What variants that declare no lane were seen to use. */
  learnt = new Map<string, string>()
  waitingPermits: { id: number; cell: string; lane: string }[] = []
  heldPermits: { id: number; cell: string; lane: string }[] = []
  ended = new Map<string, number>()
  draining = false

  constructor(cap: number, laneCap: (lane: string) => number) {
    this.cap = cap
    this.laneCap = laneCap
  }

  cellsOf(lane: string): number {
    return [...this.held.values()].filter((cell) => this.slots.get(cell) === lane).length
  }

  laneOf({ lane, rank }: Cell): string | null {
    return lane ?? this.learnt.get(`${rank[3]}/${rank[2]}`) ?? null
  }

  fits(cell: Cell): boolean {
    const lane = this.laneOf(cell)
    return this.held.size < this.cap && (lane === null || this.cellsOf(lane) < this.laneCap(lane))
  }

  hold(leaseId: number, cell: Cell): void {
    this.slots.set(cell, this.laneOf(cell))
    this.held.set(leaseId, cell)
  }

  requestsOf(lane: string): number {
    return this.heldPermits.filter((permit) => permit.lane === lane).length
  }
}

const before = (a: Cell, b: Cell) =>
  a.rank[0] - b.rank[0] ||
  a.rank[1] - b.rank[1] ||
  a.rank[2] - b.rank[2] ||
  (a.rank[3] < b.rank[3] ? -1 : a.rank[3] > b.rank[3] ? 1 : a.id < b.id ? -1 : 1)

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      lane: fc.constantFrom(...LANES),
      rank: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('p', 'q')),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('permit' as const),
      lane: fc.constantFrom('openai/a', 'mistral/m'),
      pick: fc.nat(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release-permit' as const), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('forget' as const), picks: fc.array(fc.nat(), { maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain' as const), really: fc.nat(9) }) },
)

function pickFrom<T>(items: readonly T[], pick: number): T | undefined {
  return items[pick % Math.max(1, items.length)]
}

test('whatever is asked, released, forgotten and drained, the laws of admission hold', () => {
  let grants = 0
  let refusals = 0
  fc.assert(
    fc.property(
      fc.record({
        cells: fc.integer({ min: 1, max: 6 }),
        openai: fc.integer({ min: 1, max: 3 }),
        rest: fc.integer({ min: 1, max: 3 }),
      }),
      fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 25 }),
      (caps, batches) => {
        const governor = createGovernor(
          {
            cells: caps.cells,
            lanes: [
              { match: 'openai/*', concurrency: caps.openai },
              { match: '*', concurrency: caps.rest },
            ],
          },
          () => 0,
        )
        const model = new Model(caps.cells, (lane) => (lane.startsWith('openai/') ? caps.openai : caps.rest))
        let next = 0
        let nextPermit = 0
        const asked: Cell[] = []
        const end = (id: string) => model.ended.set(id, (model.ended.get(id) ?? 0) + 1)

        for (const batch of batches) {
          const events: GovernorEvent[] = []
          const refusedNow: string[] = []
          for (const one of batch) {
            switch (one.kind) {
              case 'ask': {
                const cell: Cell = { id: `cell${next++}`, lane: one.lane, rank: one.rank }
                asked.push(cell)
                events.push({ type: 'ask-lease', request: { cellId: cell.id, lane: cell.lane, rank: cell.rank } })
                if (model.draining) refusedNow.push(cell.id)
                else model.waiting.push(cell)
                break
              }
              case 'release': {
                const leaseId = pickFrom([...model.held.keys()], one.pick)
                if (leaseId === undefined) break
                events.push({ type: 'release-lease', leaseId })
                model.held.delete(leaseId)
                break
              }
              case 'permit': {
                const cell = pickFrom([...model.held.values()], one.pick)
                if (cell === undefined) break
                const permit = { id: nextPermit++, cell: cell.id, lane: one.lane }
                const variant = `${cell.rank[3]}/${cell.rank[2]}`
                if (cell.lane === null && !model.learnt.has(variant)) model.learnt.set(variant, one.lane)
                events.push({ type: 'ask-permit', permitId: permit.id, request: { cellId: cell.id, lane: one.lane } })
                model.waitingPermits.push(permit)
                break
              }
              case 'release-permit': {
                const permit = pickFrom([...model.heldPermits, ...model.waitingPermits], one.pick)
                if (permit === undefined) break
                events.push({ type: 'release-permit', permitId: permit.id })
                model.heldPermits = model.heldPermits.filter((other) => other !== permit)
                model.waitingPermits = model.waitingPermits.filter((other) => other !== permit)
                break
              }
              case 'forget': {
                const cellIds = one.picks.flatMap((pick) => pickFrom(asked, pick)?.id ?? [])
                events.push({ type: 'forget', cellIds })
                for (const cell of model.waiting) if (cellIds.includes(cell.id)) end(cell.id)
                model.waiting = model.waiting.filter((cell) => !cellIds.includes(cell.id))
                for (const [leaseId, cell] of model.held) if (cellIds.includes(cell.id)) model.held.delete(leaseId)
                model.waitingPermits = model.waitingPermits.filter(({ cell }) => !cellIds.includes(cell))
                model.heldPermits = model.heldPermits.filter(({ cell }) => !cellIds.includes(cell))
                break
              }
              case 'drain':
                if (one.really !== 0) break
                events.push({ type: 'drain', reason: 'bail' })
                model.draining = true
                refusedNow.push(...model.waiting.sort(before).map(({ id }) => id))
                model.waiting = []
                break
            }
          }

          const effects = governor.send(events)
          const refused: string[] = []
          for (const effect of effects) check(effect)

          function check(effect: GovernorEffect): void {
            if (effect.type === 'lease-refused') {
              refused.push(effect.cellId)
              end(effect.cellId)
              refusals++
            } else if (effect.type === 'lease-granted') {
              // The best of those that fit: nothing better was passed over, and the caps hold after each grant.
              const best = model.waiting.filter((cell) => model.fits(cell)).sort(before)[0]
              expect(best?.id).toBe(effect.cellId)
              if (best === undefined) return
              expect(model.held.has(effect.leaseId)).toBe(false)
              model.waiting = model.waiting.filter((cell) => cell !== best)
              model.hold(effect.leaseId, best)
              end(best.id)
              grants++
            } else if (effect.type === 'permit-granted') {
              const permit = model.waitingPermits.find(({ id }) => id === effect.permitId)
              expect(permit, 'only a waiting permit is granted').toBeDefined()
              if (permit === undefined) return
              const earlier = model.waitingPermits.find(
                ({ cell, lane }) => cell === permit.cell && lane === permit.lane,
              )
              expect(earlier, 'first in, first out inside a cell').toBe(permit)
              expect(model.requestsOf(permit.lane)).toBeLessThan(model.laneCap(permit.lane))
              model.waitingPermits = model.waitingPermits.filter((other) => other !== permit)
              model.heldPermits.push(permit)
            }
          }

          expect(refused).toEqual(refusedNow)
          // Progress: whatever could go went in this very send.
          expect(model.waiting.filter((cell) => model.fits(cell))).toEqual([])
          for (const { lane } of model.waitingPermits) expect(model.requestsOf(lane)).toBe(model.laneCap(lane))
          const snapshot = governor.snapshot()
          expect(snapshot.cells).toEqual({ inFlight: model.held.size, cap: caps.cells, waiting: model.waiting.length })
          for (const lane of snapshot.lanes) {
            expect(lane).toMatchObject({
              cells: model.cellsOf(lane.lane),
              requests: model.requestsOf(lane.lane),
              waitingRequests: model.waitingPermits.filter((permit) => permit.lane === lane.lane).length,
            })
          }
        }

        // Give everything back until nothing moves: nothing leaked, nobody starved, each ask ended exactly once.
        while (model.held.size > 0) {
          const leaseIds = [...model.held.keys()]
          model.held.clear()
          for (const effect of governor.send(
            leaseIds.map((leaseId) => ({ type: 'release-lease' as const, leaseId })),
          )) {
            if (effect.type !== 'lease-granted') continue
            const cell = model.waiting.find(({ id }) => id === effect.cellId)
            expect(cell).toBeDefined()
            if (cell === undefined) return
            model.waiting = model.waiting.filter((other) => other !== cell)
            model.hold(effect.leaseId, cell)
            end(cell.id)
          }
        }
        expect(governor.snapshot().cells).toMatchObject({ inFlight: 0, waiting: 0 })
        for (const cell of asked) expect(model.ended.get(cell.id), cell.id).toBe(1)
      },
    ),
    { numRuns: 400 },
  )
  expect(grants).toBeGreaterThan(1000)
  expect(refusals).toBeGreaterThan(100)
})

test('round-robin: between two grants to one cell every other waiting cell of the lane is served', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4), { minLength: 2, maxLength: 40 }), (cells) => {
      const governor = createGovernor({ lanes: [{ match: '*', concurrency: 1 }] }, () => 0)
      let effects = governor.send(
        cells.map((cell, permitId) => ({ type: 'ask-permit', permitId, request: { cellId: `${cell}`, lane: 'l' } })),
      )
      const served: number[] = []
      const left = new Map<number, number>()
      for (const cell of cells) left.set(cell, (left.get(cell) ?? 0) + 1)
      for (;;) {
        const effect = effects[0]
        if (effect?.type !== 'permit-granted') break
        expect(effects).toHaveLength(1)
        const cell = cells[effect.permitId] ?? -1
        const since = served.slice(served.lastIndexOf(cell) + 1)
        if (served.includes(cell)) {
          for (const [other, count] of left) if (other !== cell && count > 0) expect(since).toContain(other)
        }
        served.push(cell)
        left.set(cell, (left.get(cell) ?? 0) - 1)
        effects = governor.send([{ type: 'release-permit', permitId: effect.permitId }])
      }
      expect(served).toHaveLength(cells.length)
    }),
  )
})
