import { meanInterval, requireLevel } from './mean-interval.ts'
import { type PowerTarget, pairedTPowerN } from './power.ts'
import { tCdf } from './student-t.ts'

function requireMargin(margin: number): void {
  if (!(margin > 0 && Number.isFinite(margin))) {
    throw new RangeError(`a margin is positive and comes from its owner, not ${margin}`)
  }
}

export interface MarginTest {
  /** One-sided p against Δ ≤ −margin. */
  readonly p: number | null
  /** Lower end of the two-sided interval of level 1 − 2α: non-inferior where it lies above −margin. */
  readonly lo: number | null
  readonly shown: boolean
  readonly refused?: 'no_data' | 'one_scenario' | 'zero_spread'
}

/**
 * Non-inferiority of paired differences at a margin: rejects Δ ≤ −margin where the lower end of the two-sided
 * (1 − 2α) t interval lies above −margin. Refuses what the t interval refuses; a refused test shows nothing.
 *
 * Assumes independent units. Wellek 2010; the margin has no default.
 *
 * @param alpha one-sided, usually .025
 * @throws RangeError for a margin that is not positive
 */
export function nonInferiority(differences: ArrayLike<number>, margin: number, alpha: number): MarginTest {
  requireMargin(margin)
  const { mean, se, df, lo, refused } = meanInterval(differences, 1 - 2 * alpha)
  if (mean === null || se === null || df === null || lo === null) {
    return { p: null, lo: null, shown: false, ...(refused === undefined ? {} : { refused }) }
  }
  return { p: 1 - tCdf((mean + margin) / se, df), lo, shown: lo > -margin }
}

export interface EquivalenceTest {
  /** The larger of the two one-sided p values. */
  readonly p: number | null
  readonly lo: number | null
  readonly hi: number | null
  readonly shown: boolean
  readonly refused?: 'no_data' | 'one_scenario' | 'zero_spread'
}

/**
 * Equivalence of paired differences by two one-sided tests (Schuirmann 1987): shown where the (1 − 2α) t interval lies
 * inside (−margin, margin). Refuses what the t interval refuses. Reference: `tost-sleep`.
 *
 * @param alpha of each side, usually .05 (a 90 % interval)
 * @throws RangeError for a margin that is not positive
 */
export function equivalence(differences: ArrayLike<number>, margin: number, alpha: number): EquivalenceTest {
  requireMargin(margin)
  const { mean, se, df, lo, hi, refused } = meanInterval(differences, 1 - 2 * alpha)
  if (mean === null || se === null || df === null || lo === null || hi === null) {
    return { p: null, lo: null, hi: null, shown: false, ...(refused === undefined ? {} : { refused }) }
  }
  const p = Math.max(1 - tCdf((mean + margin) / se, df), tCdf((mean - margin) / se, df))
  return { p, lo, hi, shown: lo > -margin && hi < margin }
}

/**
 * Scenarios needed to show non-inferiority at a margin when the true difference is `truth`: those that show an effect of
 * margin + truth at the one-sided α. 128 for margin .05, sd .2, power .8, α .025. Reference: `ni-power`.
 *
 * @throws RangeError unless margin + truth > 0 and sd > 0
 */
export function nonInferiorityScenarios(
  { margin, sd, truth = 0 }: { readonly margin: number; readonly sd: number; readonly truth?: number },
  { power, alpha }: PowerTarget,
): number {
  requireMargin(margin)
  requireLevel(alpha)
  return Math.ceil(pairedTPowerN(margin + truth, sd, { power, alpha: 2 * alpha }) - 1e-9)
}
