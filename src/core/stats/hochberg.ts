import { stepUp } from './step-up.ts'

/**
 * Hochberg's (1988) step-up adjusted p values: p̃_(i) = min_{j ≥ i} (m − j + 1) p_(j). Family-wise error under
 * independence or positive dependence; never above Holm's. Reference case: `hochberg`.
 *
 * @throws RangeError for a p outside [0, 1]
 */
export function hochberg(p: readonly number[]): number[] {
  return stepUp(p, (rank) => p.length - rank + 1)
}
