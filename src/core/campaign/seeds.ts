import type { Refuse } from './definition-error.ts'
import { nameOf } from './options.ts'

/** The seeds of a campaign, ascending: a count n means 0…n−1. */
export function resolveSeeds(seeds: unknown, refuse: Refuse): number[] {
  if (typeof seeds === 'number') {
    if (!Number.isSafeInteger(seeds) || seeds < 1) {
      refuse('seeds', `must be a whole number of repetitions, at least 1, not ${seeds}`)
    }
    if (seeds > MAX_SEEDS) refuse('seeds', `are ${seeds}; at most ${MAX_SEEDS} repetitions are allowed`)
    return Array.from({ length: seeds }, (_, seed) => seed)
  }
  if (!Array.isArray(seeds)) return refuse('seeds', `must be a count or a list of integers, not ${nameOf(seeds)}`)
  if (seeds.length === 0) refuse('seeds', 'are empty: leave the option out for a single repetition')
  const seen = new Set<number>()
  for (const [i, seed] of seeds.entries()) {
    if (!Number.isSafeInteger(seed)) refuse(`seeds[${i}]`, `must be a safe integer, not ${nameOf(seed)}`)
    if (Object.is(seed, -0)) refuse(`seeds[${i}]`, 'is -0, which reads as 0: write 0')
    if (seen.has(seed)) refuse(`seeds[${i}]`, `repeats the seed ${seed}: a repetition counts once`)
    seen.add(seed)
  }
  return [...seen].sort((a, b) => a - b)
}

/** A count above this is a slip (a seed given as a count), and would fill the memory before anything else is said. */
const MAX_SEEDS = 10_000
