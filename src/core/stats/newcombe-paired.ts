import { requireLevel } from './mean-interval.ts'
import { type Interval, refuseInterval } from './refusal.ts'
import { wilson } from './wilson.ts'

/** A paired 2×2 table: both pass, only the first passes, only the second passes, both fail. */
export interface PairedTable {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
}

export type NewcombeInterval = { readonly est: number | null } & Interval<'no_data'>

/**
 * Newcombe's (1998) method 10 for the difference of paired proportions (b − c)/n: the Wilson limits of both margins,
 * joined with the continuity-corrected φ of the table. A cross-check of the score interval, not the gate's. Reference
 * cases: `newcombePaired10`.
 *
 * Assumes one row per scenario. Refuses an empty table.
 *
 * @throws RangeError for counts that are none
 */
export function newcombePaired10({ a, b, c, d }: PairedTable, level: number): NewcombeInterval {
  requireLevel(level)
  if (![a, b, c, d].every((count) => Number.isInteger(count) && count >= 0)) {
    throw new RangeError(`a table counts pairs, not ${a}, ${b}, ${c}, ${d}`)
  }
  const n = a + b + c + d
  const first = wilson(a + b, n, level)
  const second = wilson(a + c, n, level)
  if (first === null || second === null) return { est: null, ...refuseInterval('no_data') }
  const phi = correctedPhi({ a, b, c, d }, n)
  const p1 = (a + b) / n
  const p2 = (a + c) / n
  const join = (x: number, y: number): number => Math.sqrt(Math.max(0, x * x - 2 * phi * x * y + y * y))
  return {
    est: (b - c) / n,
    lo: (b - c) / n - join(p1 - first[0], second[1] - p2),
    hi: (b - c) / n + join(first[1] - p1, p2 - second[0]),
  }
}

function correctedPhi({ a, b, c, d }: PairedTable, n: number): number {
  const product = (a + b) * (c + d) * (a + c) * (b + d)
  if (product === 0) return 0
  const cross = a * d - b * c
  const corrected = cross > 0 ? Math.max(cross - n / 2, 0) : cross
  return corrected / Math.sqrt(product)
}
