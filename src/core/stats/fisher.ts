import { logChoose } from './binomial.ts'

/** Tables this close in probability to the observed one count as equally likely, as in R. */
const TIE = 1e-7

/**
 * Fisher's exact two-sided test of a 2×2 table: the sum of the hypergeometric probabilities, margins fixed, of all tables
 * no more likely than the observed one. For instance: are cells missing more often in one arm? A table with an empty
 * margin has p = 1. Reference case: `fisherExact`. Fisher 1935.
 *
 * Assumes independent rows within the table.
 *
 * @throws RangeError for counts that are none
 */
export function fisherExact(
  table: readonly [readonly [a: number, b: number], readonly [c: number, d: number]],
): number {
  const [[a, b], [c, d]] = table
  for (const count of [a, b, c, d]) {
    if (!Number.isInteger(count) || count < 0) throw new RangeError(`a table holds counts, not ${count}`)
  }
  const row = a + b
  const column = a + c
  const n = row + c + d
  const log = (x: number): number => logChoose(column, x) + logChoose(n - column, row - x) - logChoose(n, row)
  const observed = log(a)
  let p = 0
  for (let x = Math.max(0, row + column - n); x <= Math.min(row, column); x++) {
    const at = log(x)
    if (at <= observed + TIE) p += Math.exp(at)
  }
  return Math.min(1, p)
}
