/**
 * What a provider lets through, in five shapes. Each needs some eight seconds at best. Rates are per minute, enforced as
 * a bucket that holds `burstSeconds` of them and fills all the time; milliseconds of a call spread from `MS` to three
 * times that, and so do tokens.
 *
 * @typedef {{
 *   model: string, calls: number, concurrency: number, requestsPerMinute?: number, tokensPerMinute?: number,
 *   burstSeconds?: number, dips?: readonly { from: number, to: number, concurrency: number }[]
 * }} Lane
 * @type {readonly { name: string, lanes: readonly Lane[] }[]}
 */
export const SHAPES = [
  {
    name: 'requests per minute (1,200)',
    lanes: [{ model: 'a', calls: 210, concurrency: 64, requestsPerMinute: 1_200, burstSeconds: 2 }],
  },
  {
    name: 'tokens per minute (180,000)',
    lanes: [{ model: 'b', calls: 210, concurrency: 64, tokensPerMinute: 180_000, burstSeconds: 2 }],
  },
  { name: 'concurrency (8)', lanes: [{ model: 'c', calls: 220, concurrency: 8 }] },
  {
    name: 'three lanes, each bound by another of these',
    lanes: [
      { model: 'a', calls: 210, concurrency: 64, requestsPerMinute: 1_200, burstSeconds: 2 },
      { model: 'b', calls: 210, concurrency: 64, tokensPerMinute: 180_000, burstSeconds: 2 },
      { model: 'c', calls: 210, concurrency: 8 },
    ],
  },
  {
    name: 'concurrency 16, of which 4 for 0.6 s now and then, undeclared',
    lanes: [
      {
        ...{ model: 'd', calls: 400, concurrency: 16 },
        dips: [2_000, 5_000].map((from) => ({ from, to: from + 600, concurrency: 4 })),
      },
    ],
  },
]

const MS = 150
const OUTPUT = 100
const INPUT = 50
/** What a request says of its answer, which is never longer. */
export const MAX_OUTPUT = OUTPUT * 1.5

/** The n-th call of a lane, the same on both sides. */
export function callOf(n) {
  const [a, b] = [hash(2 * n), hash(2 * n + 1)]
  return { ms: Math.round(MS * (1 + 2 * a)), input: INPUT, output: Math.round(OUTPUT * (0.5 + b)) }
}

/** Nobody can be faster: the longest of what each limit needs for the calls of its lane. */
export function attainableMs({ lanes }) {
  return Math.max(...lanes.map(leastOf))
}

function leastOf({ calls, concurrency, requestsPerMinute, tokensPerMinute, burstSeconds = 60, dips = [] }) {
  const all = Array.from({ length: calls }, (_, n) => callOf(n))
  const inBucket = (units, perMinute) => {
    if (perMinute === undefined) return 0
    const perMs = perMinute / 60_000
    return Math.max(0, units / perMs - burstSeconds * 1_000)
  }
  const tokens = all.reduce((sum, { input, output }) => sum + input + output, 0)
  let busy = all.reduce((sum, { ms }) => sum + ms, 0)
  let time = 0
  for (const { from, to, concurrency: fewer } of dips) {
    const before = (from - time) * concurrency
    if (busy <= before) break
    busy -= before + (to - from) * fewer
    time = to
  }
  return Math.max(inBucket(calls, requestsPerMinute), inBucket(tokens, tokensPerMinute), time + busy / concurrency)
}

/** In [0, 1), by number (mulberry32). */
function hash(n) {
  let mixed = Math.imul((n + 1) * 0x6d2b79f5, 1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 1 | mixed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
