import { expect, test } from 'vitest'
import type { LaneLimit } from '../../../src/core/capacity/options.ts'
import { numbers } from './simulator/campaign.ts'
import type { Burst } from './simulator/provider.ts'
import { type SimCell, Simulation } from './simulator/run.ts'

interface Shape {
  readonly name: string
  readonly cells: number
  readonly lanes: readonly (LaneLimit & { readonly match: string; readonly share: number })[]
  /** Cells of one call each; latencies spread from `ms` to three times that. */
  readonly ms: number
  readonly tokens: number
  /** How much too large a request's own bound of its output is. */
  readonly overestimate?: number
  readonly bursts?: readonly Burst[]
  readonly inFlight?: number
}

const SHAPES: readonly Shape[] = [
  {
    name: 'bound by requests per minute',
    cells: 6_000,
    lanes: [{ match: 'p/m', concurrency: 64, requestsPerMinute: 300, share: 1 }],
    ms: 400,
    tokens: 200,
  },
  {
    name: 'bound by tokens per minute',
    cells: 12_000,
    lanes: [{ match: 'p/m', concurrency: 32, tokensPerMinute: 200_000, share: 1 }],
    ms: 400,
    tokens: 1_000,
    overestimate: 1.5,
  },
  {
    name: 'bound by concurrency',
    cells: 6_000,
    lanes: [{ match: 'p/m', concurrency: 8, share: 1 }],
    ms: 400,
    tokens: 200,
  },
  {
    name: 'mixed lanes, each bound by something else, in proportion to what it can do',
    cells: 12_000,
    lanes: [
      { match: 'a/m', concurrency: 64, requestsPerMinute: 600, share: 0.3 },
      { match: 'b/m', concurrency: 64, tokensPerMinute: 600_000, share: 0.3 },
      { match: 'c/m', concurrency: 8, share: 0.4 },
    ],
    ms: 400,
    tokens: 1_000,
  },
  {
    name: 'throttling bursts that nobody declared',
    cells: 12_000,
    lanes: [{ match: 'p/m', concurrency: 16, share: 1 }],
    ms: 400,
    tokens: 200,
    bursts: Array.from({ length: 40 }, (_, i) => ({
      from: 120_000 * i + 60_000,
      to: 120_000 * i + 66_000,
      concurrency: 4,
    })),
  },
]

/** Nobody can be faster: the longest of what each limit needs for its lane, and the cells need together. */
function attainableMs(shape: Shape, cells: readonly SimCell[]): number {
  let longest = 0
  for (const { match, concurrency = 8, requestsPerMinute, tokensPerMinute } of shape.lanes) {
    const calls = cells.flatMap(({ rounds }) => rounds.flat()).filter(({ lane }) => lane === match)
    const minutes = (units: number, limit: number | undefined) =>
      limit === undefined ? 0 : (Math.ceil(units / limit) - 1) * 60_000
    const tokens = calls.reduce((sum, { input = 0, output = 0 }) => sum + input + output, 0)
    let busy = calls.reduce((sum, { ms }) => sum + ms, 0)
    let time = 0
    for (const { from, to, concurrency: fewer } of shape.bursts ?? []) {
      const before = (from - time) * concurrency
      if (busy <= before) break
      busy -= before + (to - from) * fewer
      time = to
    }
    longest = Math.max(
      longest,
      minutes(calls.length, requestsPerMinute),
      minutes(tokens, tokensPerMinute),
      time + busy / concurrency,
    )
  }
  return longest
}

function shareUpTo({ lanes }: Shape, at: number): number {
  return lanes.slice(0, at + 1).reduce((sum, { share }) => sum + share, 0)
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the bench prints. */
    attained?: number
  }
}

for (const shape of SHAPES) {
  test(`${shape.name}: 97 % of what is attainable, and nothing over the limit`, ({ task }) => {
    const random = numbers(20261129)
    const cells = Array.from({ length: shape.cells }, (_, i): SimCell => {
      const pick = random()
      const lane = shape.lanes.find((_, at) => pick < shareUpTo(shape, at)) ?? shape.lanes[0]
      const match = lane?.match ?? ''
      const input = Math.round(shape.tokens * (0.2 + random() * 0.2))
      const output = Math.round(shape.tokens * (0.4 + random() * 0.6))
      const ms = Math.round(shape.ms * (1 + 2 * random()))
      const outputLimit = Math.round(output * (shape.overestimate ?? 1))
      return {
        id: `c${i}`,
        lane: match,
        rank: [0, i, 0, 'c'],
        rounds: [[{ lane: match, ms, input, output, outputLimit }]],
      }
    })
    const sim = new Simulation({
      options: { cells: shape.inFlight ?? 256, lanes: shape.lanes.map(({ share, ...limit }) => limit) },
      providers: Object.fromEntries(
        shape.lanes.map(({ match, concurrency = 8, requestsPerMinute, tokensPerMinute }) => [
          match,
          {
            concurrency,
            ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
            ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
            ...(shape.bursts === undefined ? {} : { bursts: shape.bursts }),
          },
        ]),
      ),
      cells,
      random,
    }).run()
    expect([...sim.settled.values()].filter(({ end }) => end !== 'scored')).toEqual([])
    expect(sim.settled.size).toBe(shape.cells)
    for (const [lane, { over, peak, limits }] of sim.providers) {
      expect(over, lane).toBe(0)
      expect(peak, lane).toBeLessThanOrEqual(limits.concurrency)
    }
    const attained = attainableMs(shape, cells) / sim.world.now
    task.meta.attained = attained
    expect(attained).toBeGreaterThanOrEqual(0.97)
    expect(attained).toBeLessThanOrEqual(1)
  })
}
