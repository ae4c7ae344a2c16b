import { logGamma } from './gamma.ts'
import { normalCdf } from './normal.ts'

/**
 * P(T' > t) of the non-central t: T' = (Z + ncp) / s with s = √(χ²_df / df), so the tail is the mean over s of
 * Φ(ncp − t·s). Integrated over the density of s by Simpson's rule on ±12 standard deviations of s; the step is refined
 * with |t|, whose transition has width 1/|t|. Absolute error below 1e-9 for the |t| ≤ 50 that power needs.
 *
 * @param df degrees of freedom > 0, not necessarily whole
 * @throws RangeError for df ≤ 0 or a non-finite t or ncp
 */
export function noncentralTUpper(t: number, df: number, ncp: number): number {
  if (!(df > 0)) throw new RangeError(`the non-central t needs df > 0, not ${df}`)
  if (!Number.isFinite(t) || !Number.isFinite(ncp)) throw new RangeError(`the non-central t needs finite t and ncp`)
  const reach = 12 / Math.sqrt(2 * df)
  const from = Math.max(0, 1 - reach)
  const width = 1 + reach - from
  const half = Math.min(20_000, Math.max(256, Math.ceil(width * Math.abs(t) * 8)))
  const step = width / (2 * half)
  const logConstant = Math.LN2 + (df / 2) * Math.log(df / 2) - logGamma(df / 2)
  let sum = 0
  for (let i = 0; i <= 2 * half; i++) {
    const s = from + i * step
    const density =
      s === 0
        ? df === 1
          ? Math.exp(logConstant)
          : 0
        : Math.exp(logConstant + (df - 1) * Math.log(s) - (df * s * s) / 2)
    if (density === 0) continue
    const weight = i === 0 || i === 2 * half ? 1 : i % 2 === 1 ? 4 : 2
    sum += weight * density * normalCdf(ncp - t * s)
  }
  return Math.min(1, (sum * step) / 3)
}
