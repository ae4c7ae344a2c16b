import { hodgesLehmann } from '../stats/hodges-lehmann.ts'
import { mcnemarExact, mcnemarMidP } from '../stats/mcnemar.ts'
import { tangoScoreInterval } from '../stats/tango.ts'
import { wilcoxonSignedRank } from '../stats/wilcoxon.ts'
import type { Arm } from './arm.ts'
import type { CandidateReport } from './candidate-report.ts'
import type { Contrast } from './contrast.ts'
import { differences, within } from './estimate.ts'
import type { Estimate } from './report.ts'
import type { Units } from './units.ts'

/** The signed-rank distribution takes n³ steps. */
const MOST_RANKED = 400

export interface PairedTests {
  readonly contrast: Contrast
  readonly arms: readonly [candidate: Arm, comparator: Arm]
  readonly units: Units
  readonly scale: readonly [number, number]
  readonly seeds: number
  readonly level: number
  /** The primary scorer is a judge: its steps need not be equal, so ranks say something the mean does not. */
  readonly judged: boolean
}

/**
 * Tests beside t and sign-flip. Pass or fail with one seed is a table of pairs: exact McNemar with Tango's interval; a
 * gain needs both. A judge's graded scale has the signed-rank test with Hodges & Lehmann's estimate, which speaks of the
 * pseudo-median and so decides nothing. With missing cells there is neither.
 */
export function pairedTestsOf(given: PairedTests): CandidateReport['tests'] {
  if (given.contrast.missingCells > 0) return { mcnemar: null, wilcoxon: null }
  return { mcnemar: mcnemarOf(given), wilcoxon: wilcoxonOf(given) }
}

/** By the scores, not the differences: two arms that both score .5 everywhere have neither passed nor failed. */
function isPassOrFail({ arms, scale: [bottom, top] }: PairedTests): boolean {
  const near = (score: number, end: number): boolean => Math.abs(score - end) <= 1e-12 * (top - bottom)
  return arms.every(({ mean }) => mean.every((score) => near(score, bottom) || near(score, top)))
}

function mcnemarOf(given: PairedTests): CandidateReport['tests']['mcnemar'] {
  const { contrast, units, scale, seeds, level } = given
  // More seeds, or families of scenarios, make fractions and not pairs.
  if (units.count < 2 || seeds !== 1 || units.kind !== 'scenario' || !isPassOrFail(given)) return null
  const n = contrast.lowest.length
  const better = contrast.lowest.filter((moved) => moved > 0).length
  const worse = contrast.lowest.filter((moved) => moved < 0).length
  const { est, lo, hi, refused } = tangoScoreInterval({ b: better, c: worse, n }, level)
  const span = scale[1] - scale[0]
  const scaled = (share: number | null): number | null => (share === null ? null : share * span)
  const base = { level, se: null, df: null, n, unit: units.kind, method: 'tango' } as const
  const interval: Estimate = {
    ...base,
    est: scaled(est),
    lo: scaled(lo),
    hi: scaled(hi),
    descriptive: false,
    ...(refused === undefined ? {} : { refused }),
  }
  return { better, worse, p: mcnemarExact(better, worse), midP: mcnemarMidP(better, worse), interval }
}

function wilcoxonOf(given: PairedTests): CandidateReport['tests']['wilcoxon'] {
  const { contrast, units, scale, level, judged } = given
  const n = contrast.lowest.length
  if (!judged || isPassOrFail(given) || n > MOST_RANKED) return null
  const values = Array.from(contrast.lowest)
  const { p, pFloor, n: moving, zeros } = wilcoxonSignedRank(values)
  const { est, lo, hi, refused } = hodgesLehmann(values, level)
  const range = differences(scale)
  const pseudoMedian: Estimate = {
    est,
    lo: within(lo, range),
    hi: within(hi, range),
    level,
    se: null,
    df: null,
    n,
    unit: units.kind,
    method: 'hodges-lehmann',
    descriptive: true,
    ...(refused === undefined ? {} : { refused }),
  }
  return { p, pFloor, moving, zeros, pseudoMedian }
}
