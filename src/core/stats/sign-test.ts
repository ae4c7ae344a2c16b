import { requireFinite } from './finite.ts'
import { mcnemarExact } from './mcnemar.ts'

export interface SignTest {
  readonly positive: number
  readonly negative: number
  /** Left out of the test: they say nothing about the direction. */
  readonly zeros: number
  /** Two-sided and exact; 1 where nothing differs, null without data. */
  readonly p: number | null
  readonly refused?: 'no_data'
}

/**
 * Sign test: are increases and decreases equally likely? p = min(1, 2 · P(Bin(n₊+n₋, ½) ≤ min(n₊, n₋))). Assumes
 * independent units and nothing about their distribution; it tests the median direction, not the mean. Reference:
 * `sign-test`. Arbuthnott 1710; Conover 1999, 3.4.
 *
 * @throws RangeError for a difference that is not finite
 */
export function signTest(differences: ArrayLike<number>): SignTest {
  requireFinite(differences, 'difference')
  let positive = 0
  let negative = 0
  for (let i = 0; i < differences.length; i++) {
    const value = differences[i] ?? Number.NaN
    if (value > 0) positive++
    else if (value < 0) negative++
  }
  const zeros = differences.length - positive - negative
  if (differences.length === 0) return { positive, negative, zeros, p: null, refused: 'no_data' }
  return { positive, negative, zeros, p: mcnemarExact(positive, negative) }
}
