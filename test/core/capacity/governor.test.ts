import { expect, test } from 'vitest'
import {
  type CapacityOptions,
  createGovernor,
  type Governor,
  type GovernorEffect,
  type GovernorEvent,
  InvalidEventError,
} from '../../../src/core/capacity/governor.ts'

type Rank = readonly [number, number, number, string]

const ask = (cellId: string, lane: string | null = null, rank: Rank = [0, 0, 0, 'c']): GovernorEvent => ({
  type: 'ask-lease',
  request: { cellId, lane, rank },
})
const release = (leaseId: number): GovernorEvent => ({ type: 'release-lease', leaseId })
const askPermit = (permitId: number, cellId: string, lane = 'openai/a'): GovernorEvent => ({
  type: 'ask-permit',
  permitId,
  request: { cellId, lane },
})
const releasePermit = (permitId: number): GovernorEvent => ({ type: 'release-permit', permitId })

const granted = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) => (effect.type === 'lease-granted' ? [effect.cellId] : []))
const permits = (effects: readonly GovernorEffect[]) =>
  effects.flatMap((effect) => (effect.type === 'permit-granted' ? [effect.permitId] : []))

function governor(options: CapacityOptions = {}) {
  const clock = { now: 0 }
  return { clock, governor: createGovernor(options, () => clock.now) }
}

function problemsOf(subject: Governor, events: readonly GovernorEvent[]): InvalidEventError {
  try {
    subject.send(events)
  } catch (error) {
    if (error instanceof InvalidEventError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

test('a lane at its cap does not block a cell of another lane or of none', () => {
  const { governor: g } = governor({ cells: 10, lanes: [{ match: 'openai/*', concurrency: 1 }] })
  const effects = g.send([
    ask('a', 'openai/x', [0, 0, 0, 'c']),
    ask('b', 'openai/x', [0, 0, 1, 'c']),
    ask('c', 'anthropic/y', [0, 0, 2, 'c']),
    ask('d', null, [0, 0, 3, 'c']),
  ])
  expect(granted(effects)).toEqual(['a', 'c', 'd'])
  expect(g.snapshot().cells).toEqual({ inFlight: 3, cap: 10, waiting: 1 })
})

test('the first matching entry limits a lane, and each lane counts for itself', () => {
  const { governor: g } = governor({
    lanes: [
      { match: 'openai/*', concurrency: 1 },
      { match: '*', concurrency: 2 },
    ],
  })
  const effects = g.send([
    ask('a1', 'openai/a'),
    ask('a2', 'openai/a'),
    ask('b1', 'openai/b'),
    ask('b2', 'openai/b'),
    ask('m1', 'mistral/m'),
    ask('m2', 'mistral/m'),
    ask('m3', 'mistral/m'),
  ])
  expect(granted(effects).sort()).toEqual(['a1', 'b1', 'm1', 'm2'])
})

test('defaults: 32 cells, 8 per lane', () => {
  const { governor: g } = governor()
  const many = (lane: string | null) => Array.from({ length: 40 }, (_, i) => ask(`${lane}-${i}`, lane))
  expect(granted(g.send(many('openai/a')))).toHaveLength(8)
  expect(granted(g.send(many(null)))).toHaveLength(24)
})

test('a lane without concurrency has the default, an omitted one too', () => {
  const { governor: g } = governor({ lanes: [{ match: 'openai/*' }] })
  expect(granted(g.send(Array.from({ length: 9 }, (_, i) => ask(`${i}`, 'openai/a'))))).toHaveLength(8)
})

test('seed blocks come one after the other with the variants interleaved inside, however the asks arrive', () => {
  const { governor: g } = governor({ cells: 1 })
  const asks = []
  for (const variant of [1, 0]) {
    for (const scenario of [1, 0]) {
      for (const seed of [1, 0])
        asks.push(ask(`s${seed}-q${scenario}-v${variant}`, null, [seed, scenario, variant, 'c']))
    }
  }
  const order = []
  let effects = g.send(asks)
  for (let lease = 1; lease <= asks.length; lease++) {
    order.push(...granted(effects))
    effects = g.send([release(lease)])
  }
  expect(order).toEqual([
    's0-q0-v0',
    's0-q0-v1',
    's0-q1-v0',
    's0-q1-v1',
    's1-q0-v0',
    's1-q0-v1',
    's1-q1-v0',
    's1-q1-v1',
  ])
})

test('ranks that tie are settled by campaign and cell id, in code units', () => {
  const { governor: g } = governor({ cells: 3 })
  const asks = [ask('z', null, [0, 0, 0, 'a']), ask('y', null, [0, 0, 0, 'a']), ask('x', null, [0, 0, 0, 'B'])]
  expect(granted(g.send(asks))).toEqual(['x', 'y', 'z'])
})

test('what a release frees in a batch goes to the best rank of the same batch', () => {
  const { governor: g } = governor({ cells: 1 })
  g.send([ask('first')])
  g.send([ask('late', null, [1, 0, 0, 'c'])])
  expect(granted(g.send([release(1), ask('early', null, [0, 0, 0, 'c'])]))).toEqual(['early'])
})

test('the time in the queue is measured from the ask', () => {
  const { governor: g, clock } = governor({ cells: 1 })
  g.send([ask('a')])
  clock.now = 100
  g.send([ask('b')])
  clock.now = 350
  expect(g.send([release(1)])).toEqual([{ type: 'lease-granted', cellId: 'b', leaseId: 2, queueMs: 250 }])
})

test('a lease released twice is refused, and the rest of the batch still counts', () => {
  const { governor: g } = governor({ cells: 1 })
  g.send([ask('a')])
  const error = problemsOf(g, [release(1), release(1), ask('b')])
  expect(error.problems).toEqual(['lease 1 was released twice, was forgotten or never existed'])
  expect(granted(error.effects)).toEqual(['b'])
  expect(g.snapshot().cells.inFlight).toBe(1)
})

test('an unknown lease, a second ask, an unknown permit and a permit number used twice are refused', () => {
  const { governor: g } = governor({ cells: 1 })
  g.send([ask('held'), askPermit(1, 'held')])
  g.send([ask('waits', null, [1, 0, 0, 'c'])])
  const error = problemsOf(g, [release(7), ask('held'), ask('waits'), releasePermit(9), askPermit(1, 'other')])
  expect(error.problems).toEqual([
    'lease 7 was released twice, was forgotten or never existed',
    'cell held asked for a lease while it holds one',
    'cell waits asked for a lease while it waits for one',
    'permit 9 was released twice, was forgotten, was refused or never existed',
    'permit 1 was asked for twice (second time by cell other)',
  ])
  expect(g.snapshot().cells).toEqual({ inFlight: 1, cap: 1, waiting: 1 })
})

test('a cell may ask again after it gave its lease back', () => {
  const { governor: g } = governor({ cells: 1 })
  g.send([ask('a')])
  expect(granted(g.send([release(1), ask('a')]))).toEqual(['a'])
})

test('drain refuses what waits, in rank order, and every later ask; what is in flight goes on', () => {
  const { governor: g, clock } = governor({ cells: 1 })
  g.send([ask('running'), askPermit(1, 'running')])
  clock.now = 10
  g.send([ask('second', 'openai/a', [0, 1, 0, 'c']), ask('first', null, [0, 0, 0, 'c'])])
  clock.now = 15
  expect(g.send([{ type: 'drain', reason: 'interrupted' }])).toEqual([
    { type: 'lease-refused', cellId: 'first', reason: 'interrupted', queueMs: 5 },
    { type: 'lease-refused', cellId: 'second', reason: 'interrupted', queueMs: 5 },
  ])
  expect(g.send([{ type: 'drain', reason: 'bail' }, ask('late')])).toEqual([
    { type: 'lease-refused', cellId: 'late', reason: 'interrupted', queueMs: 0 },
  ])
  expect(permits(g.send([askPermit(2, 'running')]))).toEqual([2])
  expect(g.snapshot()).toMatchObject({ cells: { inFlight: 1, waiting: 0 }, draining: 'interrupted' })
  expect(g.send([release(1)])).toEqual([])
})

test('forget releases the leases and permits of dead cells and withdraws what they wait for', () => {
  const { governor: g } = governor({ cells: 1, lanes: [{ match: '*', concurrency: 1 }] })
  g.send([ask('dead', 'openai/a'), askPermit(1, 'dead'), askPermit(2, 'dead')])
  g.send([ask('dead-too', 'openai/a', [0, 0, 0, 'c']), ask('alive', 'openai/a', [1, 0, 0, 'c']), askPermit(3, 'alive')])
  const effects = g.send([{ type: 'forget', cellIds: ['dead', 'dead-too', 'never-seen'] }])
  expect(granted(effects)).toEqual(['alive'])
  expect(permits(effects)).toEqual([3])
  expect(problemsOf(g, [release(1)]).problems).toHaveLength(1)
  expect(g.snapshot()).toMatchObject({
    cells: { inFlight: 1, waiting: 0 },
    lanes: [{ lane: 'openai/a', cells: 1, requests: 1, waitingRequests: 0 }],
  })
})

test('cells and requests of a lane are two accounts', () => {
  const { governor: g } = governor({ lanes: [{ match: '*', concurrency: 1 }] })
  const effects = g.send([ask('a', 'openai/a'), ask('b', 'openai/a'), askPermit(1, 'a'), askPermit(2, 'a')])
  expect(granted(effects)).toEqual(['a'])
  expect(permits(effects)).toEqual([1])
  expect(g.snapshot().lanes).toMatchObject([{ lane: 'openai/a', cells: 1, requests: 1, cap: 1, waitingRequests: 1 }])
})

test('ten calls of one cell in a lane of one go out one by one, in order', () => {
  const { governor: g, clock } = governor({ lanes: [{ match: '*', concurrency: 1 }] })
  let effects = g.send(Array.from({ length: 10 }, (_, i) => askPermit(i, 'a')))
  const order = []
  for (let i = 0; i < 10; i++) {
    expect(effects).toEqual([{ type: 'permit-granted', permitId: i, waitedMs: i * 10 }])
    order.push(...permits(effects))
    clock.now += 10
    effects = g.send([releasePermit(i)])
  }
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(effects).toEqual([])
})

test('the cells of a lane take turns', () => {
  const { governor: g } = governor({ lanes: [{ match: '*', concurrency: 1 }] })
  let effects = g.send([
    askPermit(10, 'greedy'),
    askPermit(11, 'greedy'),
    askPermit(12, 'greedy'),
    askPermit(20, 'modest'),
    askPermit(30, 'third'),
    askPermit(31, 'third'),
  ])
  const order = []
  while (effects.length > 0) {
    const [id] = permits(effects)
    if (id === undefined) break
    order.push(id)
    effects = g.send([releasePermit(id)])
  }
  expect(order).toEqual([10, 20, 30, 11, 31, 12])
})

test('a permit withdrawn while it waits is never granted', () => {
  const { governor: g } = governor({ lanes: [{ match: '*', concurrency: 1 }] })
  g.send([askPermit(1, 'a'), askPermit(2, 'a'), askPermit(3, 'b'), askPermit(4, 'a')])
  g.send([releasePermit(2), releasePermit(3)])
  expect(g.snapshot().lanes).toMatchObject([{ requests: 1, waitingRequests: 1 }])
  expect(permits(g.send([releasePermit(1)]))).toEqual([4])
  expect(problemsOf(g, [releasePermit(2)]).problems).toHaveLength(1)
})

test('a hundred thousand waiting cells and permits are served whole and in order', () => {
  const n = 100_000
  const { governor: g } = governor({ cells: 32, lanes: [{ match: '*', concurrency: 16 }] })
  const asks: GovernorEvent[] = []
  for (let i = n - 1; i >= 0; i--) asks.push(ask(`c${i}`, null, [i, 0, 0, 'c']), askPermit(i, `c${i % 1000}`))
  let effects = g.send(asks)
  const cells: string[] = []
  let calls = 0
  while (effects.length > 0) {
    const back: GovernorEvent[] = []
    for (const effect of effects) {
      if (effect.type === 'lease-granted') {
        cells.push(effect.cellId)
        back.push(release(effect.leaseId))
      } else if (effect.type === 'permit-granted') {
        calls++
        back.push(releasePermit(effect.permitId))
      }
    }
    effects = g.send(back)
  }
  expect(calls).toBe(n)
  expect(cells).toEqual(Array.from({ length: n }, (_, i) => `c${i}`))
})
