import { requireFinite } from './finite.ts'
import { refuse, type Statistic } from './refusal.ts'

/**
 * Cliff's (1993) δ = P(changed > base) − P(changed < base), over all pairs of one value of each. Unpaired: a description
 * beside the paired difference, never a verdict. Reference case: `cliffsDelta`.
 *
 * @throws RangeError for a value that is not finite
 */
export function cliffsDelta(base: readonly number[], changed: readonly number[]): Statistic<'no_data'> {
  if (base.length === 0 || changed.length === 0) return refuse('no_data')
  requireFinite(base, 'base value')
  requireFinite(changed, 'changed value')
  let balance = 0
  for (const x of base) for (const y of changed) balance += Math.sign(y - x)
  return { value: balance / (base.length * changed.length) }
}
