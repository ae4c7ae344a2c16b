import { type MeanInterval, meanInterval } from './mean-interval.ts'
import { tTwoSided } from './student-t.ts'

export type PairedT = MeanInterval & {
  readonly t: number | null
  /** Two-sided. */
  readonly p: number | null
}

/**
 * Student's paired t test on the differences of one unit each: t = Δ̄ / (sd/√n), n − 1 degrees of freedom.
 * Reference cases: `pairedT`.
 *
 * Refuses t and p wherever {@link meanInterval} refuses the interval: three equal differences are no infinite t.
 */
export function pairedT(differences: ArrayLike<number>, level: number): PairedT {
  const interval = meanInterval(differences, level)
  if (interval.mean === null || interval.se === null || interval.df === null) {
    return { ...interval, t: null, p: null }
  }
  const t = interval.mean / interval.se
  return { ...interval, t, p: tTwoSided(t, interval.df) }
}
