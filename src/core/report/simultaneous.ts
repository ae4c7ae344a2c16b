import { maxTCriticalValue } from '../stats/bootstrap/simultaneous.ts'
import type { PhiloxKey } from '../stats/philox.ts'
import { tCdf } from '../stats/student-t.ts'
import type { Contrast } from './contrast.ts'

const STREAM = 8
const RESAMPLES = 10_000

export interface Simultaneous {
  /** One-sided level of each candidate's interval, so that all of them together have the gate's. */
  readonly tail: number
  readonly method: 'none' | 'maxT' | 'bonferroni'
}

/**
 * Level of the intervals of several candidates. From 30 units on the critical value is that of the largest of the
 * candidates' studentized differences over resamples, which uses their correlation; below, where nothing may be
 * resampled, it is Bonferroni's. The former is never wider than Bonferroni's, which holds for any correlation, and never
 * narrower than a single candidate's. With missing cells the wider of both extremes counts.
 *
 * @param alpha one-sided, of all candidates together
 */
export function simultaneousTail(contrasts: readonly Contrast[], alpha: number, key: PhiloxKey): Simultaneous {
  const several = contrasts.length
  if (several < 2) return { tail: alpha, method: 'none' }
  const bonferroni: Simultaneous = { tail: alpha / several, method: 'bonferroni' }
  const units = contrasts[0]?.lowest.length ?? 0
  const critical = (pick: (contrast: Contrast) => Float64Array): number | null => {
    const values = new Float64Array(units * several)
    contrasts.forEach((contrast, j) => {
      pick(contrast).forEach((value, unit) => {
        values[unit * several + j] = value
      })
    })
    const source = { key, stream: STREAM, resamples: RESAMPLES }
    return maxTCriticalValue({ units, contrasts: several, values }, 1 - 2 * alpha, source).value
  }
  const low = critical(({ lowest }) => lowest)
  const high = contrasts.some(({ missingCells }) => missingCells > 0) ? critical(({ highest }) => highest) : low
  if (low === null || high === null) return bonferroni
  const tail = tCdf(-Math.max(low, high), units - 1)
  return tail <= bonferroni.tail ? bonferroni : { tail: Math.min(alpha, tail), method: 'maxT' }
}
