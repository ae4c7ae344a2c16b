import type { Shard } from '../campaign/shard.ts'
import { type CapacityOptions, DEFAULT_CELLS, DEFAULT_CONCURRENCY, type LaneLimit } from './options.ts'

/** Shards that ran unlimited beside each other would send `count` times what was declared. */
const SHARED = ['concurrency', 'requestsPerMinute', 'tokensPerMinute'] as const satisfies readonly (keyof LaneLimit)[]

/**
 * What one shard may use of the limits of the whole run: an equal part, the rest going to the first shards, so that all
 * of them together keep the limit.
 *
 * @throws TypeError for a declared limit that leaves some shard nothing, in every shard alike, naming it
 */
export function capacityOfShard(options: CapacityOptions, shard: Shard, path = 'capacity'): CapacityOptions {
  const { cells, lanes = [] } = options
  const divided = lanes.map((lane, at) => {
    const own: { -readonly [key in keyof LaneLimit]: LaneLimit[key] } = { ...lane }
    for (const key of SHARED) {
      const whole = lane[key]
      if (whole !== undefined) own[key] = part(whole, shard, `${path}.lanes[${at}].${key}`)
    }
    own.concurrency ??= Math.max(1, Math.floor(DEFAULT_CONCURRENCY / shard.count))
    return own
  })
  const others = { match: '*', concurrency: Math.max(1, Math.floor(DEFAULT_CONCURRENCY / shard.count)) }
  return {
    cells:
      cells === undefined ? Math.max(1, Math.floor(DEFAULT_CELLS / shard.count)) : part(cells, shard, `${path}.cells`),
    lanes: [...divided, others],
  }
}

function part(whole: number, { index, count }: Shard, path: string): number {
  if (whole >= count) return Math.floor(whole / count) + (index <= whole % count ? 1 : 0)
  throw new TypeError(
    `${path} is ${whole}, which ${count} shards cannot share: run at most ${whole} shards, or raise the limit`,
  )
}
