import { noncentralTUpper } from './noncentral-t.ts'
import { normalQuantile } from './normal.ts'
import { tQuantile } from './student-t.ts'

export interface PowerTarget {
  /** Chance of showing the effect, for instance 0.8. */
  readonly power: number
  /** Two-sided level of the test. */
  readonly alpha: number
}

/**
 * Chance that a paired t test on n units shows an effect of `effect` standard deviations in its true direction:
 * P(t'_{n−1}(effect·√n) > t_{n−1, 1−α/2}). Rejections on the wrong side are not counted.
 */
export function pairedTPower(n: number, effect: number, alpha: number): number {
  if (!(n > 1)) throw new RangeError(`a paired t test needs more than one unit, not ${n}`)
  return noncentralTUpper(tQuantile(1 - alpha / 2, n - 1), n - 1, effect * Math.sqrt(n))
}

/**
 * Smallest effect, in standard deviations of the differences, that n units show with the wanted power. The normal
 * approximation understates it: .6265 instead of .6604 at n = 20. Reference case: `pairedTMde`.
 *
 * @throws RangeError below two units
 */
export function pairedTMde(n: number, { power, alpha }: PowerTarget): number {
  requireTarget(power, alpha)
  const critical = tQuantile(1 - alpha / 2, n - 1)
  const guess = Math.max(0.1, critical + normalQuantile(power)) / Math.sqrt(n)
  return increasingRoot((effect) => noncentralTUpper(critical, n - 1, effect * Math.sqrt(n)), power, guess)
}

/**
 * Number of units (not rounded up) that show an effect of `delta` at standard deviation `sd`. Reference cases:
 * `pairedTPowerN`.
 */
export function pairedTPowerN(delta: number, sd: number, { power, alpha }: PowerTarget): number {
  requireTarget(power, alpha)
  if (!(delta > 0 && sd > 0)) throw new RangeError(`needs delta > 0 and sd > 0, not ${delta} and ${sd}`)
  // From one half of a degree of freedom on: below, the non-central t has no use and no accuracy.
  const critical = normalQuantile(1 - alpha / 2)
  const guess = (Math.max(0.1, critical + normalQuantile(power)) * (sd / delta)) ** 2 + critical ** 2 / 2
  return 1.5 + increasingRoot((more) => pairedTPower(1.5 + more, delta / sd, alpha), power, Math.max(0.5, guess - 1.5))
}

/**
 * Scenarios needed when differences vary between scenarios with variance `tau2` and between seeds with `sigma2`:
 * Var(Δ̄) = tau2/S + sigma2/(S·K). Infinite K shows the part no number of seeds can buy. Reference
 * case: `requiredScenarios`.
 */
export function requiredScenarios(
  { delta, tau2, sigma2, seeds }: { delta: number; tau2: number; sigma2: number; seeds: number },
  target: PowerTarget,
): number {
  const exact = pairedTPowerN(delta, Math.sqrt(tau2 + sigma2 / seeds), target)
  return Math.ceil(exact - 1e-9)
}

function requireTarget(power: number, alpha: number): void {
  if (!(power > 0 && power < 1 && alpha > 0 && alpha < 1)) {
    throw new RangeError(`power and alpha lie in (0, 1), not ${power} and ${alpha}`)
  }
}

const RELATIVE = 1e-9
/** How far from the guess the first bracket reaches. */
const BRACKET = 1.15

/**
 * Where an increasing function of x > 0 reaches the target (0 where it is there already): a bracket around the guess, then
 * regula falsi with the Illinois rule. An evaluation costs a numerical integral, and by far the most near 0, so the guess
 * comes from the normal approximation.
 */
function increasingRoot(f: (x: number) => number, target: number, guess: number): number {
  let [low, high] = [guess, guess]
  let below = f(guess) - target
  let over = below
  while (below >= 0) {
    if (low < 1e-6) return 0
    ;[high, over] = [low, below]
    low = low < 1e-3 ? 0 : low / BRACKET
    below = f(low) - target
    if (low === 0 && below >= 0) return 0
  }
  while (over < 0) {
    ;[low, below] = [high, over]
    high *= BRACKET
    over = f(high) - target
    if (high > 1e12) throw new RangeError('no effect of any size reaches this power')
  }
  let last = 0
  for (let i = 0; i < 200 && high - low > RELATIVE * high; i++) {
    const middle = high - (over * (high - low)) / (over - below)
    const at = f(middle) - target
    if (at === 0 || middle <= low || middle >= high) return middle
    const side = Math.sign(at)
    if (at < 0) {
      low = middle
      below = at
      if (side === last) over /= 2
    } else {
      if (high - middle <= RELATIVE * high) return middle
      high = middle
      over = at
      if (side === last) below /= 2
    }
    last = side
  }
  return high
}
