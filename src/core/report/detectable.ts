import { type PowerTarget, pairedTMde } from '../stats/power.ts'
import { signFlipMde } from '../stats/sign-flip-power.ts'
import { FEWEST_UNITS, T_UNITS } from './decision.ts'

/**
 * Smallest loss, in standard deviations of the differences, that the verdict table shows with the wanted power: below
 * {@link T_UNITS} it asks the sign-flip test too. Null where it shows none of any size.
 */
export function detectableEffect(units: number, target: PowerTarget): number | null {
  if (units < FEWEST_UNITS) return null
  return units < T_UNITS ? signFlipMde(units, target) : pairedTMde(units, target)
}
