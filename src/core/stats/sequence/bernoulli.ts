import { requireCounts } from '../clopper-pearson.ts'
import { logGamma } from '../gamma.ts'
import { type Interval, refuseInterval } from '../refusal.ts'
import { mixturePrecision } from './normal-mixture.ts'

export interface BernoulliTuning {
  /** Number of runs at which the interval is tightest. */
  readonly tOpt: number
  /** Level for which it is tuned; default .05. */
  readonly alphaOpt?: number
}

/**
 * Confidence sequence of a pass rate: valid at every look, however often one looks and whenever one stops. The rates p at
 * which the two-sided beta-binomial mixture stays below 1/α; the mixture is Beta with mean p and as much precision as is
 * best at tOpt runs. Howard et al. 2021, Proposition 7. Reference cases: `bernoulliCS`.
 *
 * Assumes independent runs of one rate. Refuses no runs.
 *
 * @throws RangeError for counts that are none, or levels outside (0, 1)
 */
export function bernoulliSequence(
  passes: number,
  runs: number,
  alpha: number,
  { tOpt, alphaOpt = 0.05 }: BernoulliTuning,
): Interval<'no_data'> {
  requireCounts(passes, runs)
  if (!(alpha > 0 && alpha < 1 && alphaOpt > 0 && alphaOpt < 1 && tOpt > 0)) {
    throw new RangeError(`no confidence sequence at α ${alpha}, alphaOpt ${alphaOpt}, tOpt ${tOpt}`)
  }
  if (runs === 0) return refuseInterval('no_data')
  const threshold = Math.log(1 / alpha)
  const rejected = (p: number): boolean => logMixture(p, passes, runs, tOpt, alphaOpt) > threshold
  const rate = passes / runs
  return {
    lo: passes === 0 ? 0 : edge(0, rate, rejected),
    hi: passes === runs ? 1 : edge(1, rate, rejected),
  }
}

/** ln of the mixture's likelihood ratio against p: Beta(a + passes, b + fails) over Beta(a, b) p^passes (1−p)^fails. */
function logMixture(p: number, passes: number, runs: number, tOpt: number, alphaOpt: number): number {
  const variance = p * (1 - p)
  // The mixture's precision; at least a thousandth, where tOpt is too early for any to be best.
  const precision = Math.max(mixturePrecision(variance * tOpt, alphaOpt) - variance, 1e-3 * variance) / variance
  const a = precision * p
  const b = precision * (1 - p)
  const logBeta = (x: number, y: number): number => logGamma(x) + logGamma(y) - logGamma(x + y)
  const fails = runs - passes
  return logBeta(a + passes, b + fails) - logBeta(a, b) - passes * Math.log(p) - fails * Math.log1p(-p)
}

/** Border between the rejected rates near `outer` and the kept ones up to `inner`. */
function edge(outer: number, inner: number, rejected: (p: number) => boolean): number {
  let out = outer
  let kept = inner
  for (let i = 0; i < 100; i++) {
    const middle = (out + kept) / 2
    if (middle === out || middle === kept) break
    if (middle > 0 && middle < 1 && !rejected(middle)) kept = middle
    else out = middle
  }
  return out
}
