import fc from 'fast-check'
import type { CapacityOptions } from '../../../../src/core/capacity/options.ts'
import type { ProviderLimits } from './provider.ts'
import type { SimCall, SimCell, SimJudge } from './run.ts'

export const LANES = ['p/a', 'p/b', 'q/c'] as const
export type LaneName = (typeof LANES)[number]

export interface RandomCampaign {
  readonly options: CapacityOptions
  readonly providers: { readonly [lane: string]: ProviderLimits }
  readonly cells: readonly SimCell[]
  /** p/a and p/b share one account. */
  readonly shared: boolean
  readonly seed: number
}

const call = fc.record({
  lane: fc.constantFrom<LaneName>(...LANES),
  ms: fc.integer({ min: 1, max: 5_000 }),
  input: fc.integer({ min: 1, max: 300 }),
  output: fc.integer({ min: 0, max: 300 }),
  bounded: fc.boolean(),
  microUsd: fc.integer({ min: 0, max: 5_000 }),
  priced: fc.integer({ min: 0, max: 9 }),
})

const limits = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  requestsPerMinute: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
  tokensPerMinute: fc.option(fc.integer({ min: 600, max: 20_000 }), { nil: undefined }),
})

const every = fc.option(
  fc.record({
    n: fc.integer({ min: 2, max: 9 }),
    with: fc.constantFrom(
      { kind: 'error', status: 429, error: 'rate_limit', headers: [] } as const,
      { kind: 'error', status: 429, error: 'rate_limit', headers: [['retry-after', '7']] } as const,
      { kind: 'error', status: 503, error: 'overloaded', headers: [['retry-after', '31536000']] } as const,
      { kind: 'error', status: 500, error: 'server', headers: [] } as const,
      { kind: 'fault', fault: { kind: 'fault', phase: 'headers', code: 'ECONNRESET', message: 'reset' } } as const,
    ),
  }),
  { nil: undefined },
)

const judge = fc.record({
  lane: fc.constantFrom(null, ...LANES),
  calls: fc.array(call, { minLength: 1, maxLength: 2 }),
})

const cell = fc.record({
  declared: fc.boolean(),
  lane: fc.constantFrom<LaneName>(...LANES),
  rounds: fc.array(fc.array(call, { minLength: 1, maxLength: 10 }), { maxLength: 2 }),
  judges: fc.array(judge, { maxLength: 2 }),
  declaresJudges: fc.boolean(),
  seed: fc.nat(2),
  scenario: fc.nat(3),
  worker: fc.constantFrom('w0', 'w1'),
})

type DrawnCall = typeof call extends fc.Arbitrary<infer T> ? T : never

/** Small campaigns with tight limits, where everything waits for everything. */
export const campaign: fc.Arbitrary<RandomCampaign> = fc
  .record({
    cells: fc.array(cell, { minLength: 1, maxLength: 14 }),
    cap: fc.integer({ min: 1, max: 6 }),
    shared: fc.boolean(),
    a: limits,
    b: limits,
    c: limits,
    every,
    seed: fc.nat(),
  })
  .map(({ cells, cap, shared, a, b, c, every, seed }) => {
    const account = shared ? { account: 'p' } : {}
    const lanes = [
      { match: 'p/a', ...a, ...account },
      { match: 'p/b', ...(shared ? a : b), ...account },
      { match: 'q/*', ...c },
    ]
    const faulty = every === undefined ? {} : { every }
    return {
      options: { cells: cap, lanes: lanes.map(defined) },
      providers: (shared
        ? { p: { ...defined(a), ...faulty }, 'q/c': { ...defined(c), ...faulty } }
        : {
            'p/a': { ...defined(a), ...faulty },
            'p/b': { ...defined(b), ...faulty },
            'q/c': { ...defined(c), ...faulty },
          }) as RandomCampaign['providers'],
      cells: cells.map((one, i): SimCell => {
        const own = (drawn: DrawnCall): SimCall => callOf(one.declared ? { ...drawn, lane: one.lane } : drawn)
        return {
          id: `c${i}`,
          lane: one.declared ? one.lane : null,
          rank: [one.seed, one.scenario, i % 3, i % 2 === 0 ? 'x' : 'y'],
          rounds: one.rounds.map((round) => round.map(own)),
          judges: one.judges.map(({ lane, calls }): SimJudge => ({ lane, calls: calls.map(callOf) })),
          declaresJudges: one.declaresJudges,
          worker: one.worker,
        }
      }),
      shared,
      seed,
    }
  })

function callOf({ bounded, priced, microUsd, ...rest }: DrawnCall): SimCall {
  return { ...rest, microUsd, bound: bounded ? microUsd * 2 + 10 : null, unpriced: priced === 0 }
}

function defined<T extends object>(limits: T): T {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as T
}

/** Numbers that look random and are the same on every machine (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
