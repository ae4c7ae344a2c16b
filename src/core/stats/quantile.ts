/**
 * Type-7 quantile of a sorted sample (Hyndman & Fan 1996; R's default): linear between the order statistics around
 * (n−1)p + 1. Reference values: `type7` of the case `harrellDavis`.
 *
 * @throws RangeError for an empty sample or p outside [0, 1]
 */
export function quantileOfSorted(sorted: ArrayLike<number>, p: number): number {
  const n = sorted.length
  if (n === 0) throw new RangeError('no quantile of nothing')
  if (!(p >= 0 && p <= 1)) throw new RangeError(`a quantile lies in [0, 1], not ${p}`)
  const at = (n - 1) * p
  // (n−1)p is whole up to rounding where it is whole at all: .975 · 39,999 is none, .95 · 20 is 19.
  const near = Math.round(at)
  const floor = Math.abs(at - near) < 1e-9 ? near : Math.floor(at)
  const low = sorted[floor] ?? Number.NaN
  const share = Math.max(0, at - floor)
  if (share === 0 || floor + 1 >= n) return low
  const high = sorted[floor + 1] ?? Number.NaN
  return low === high ? low : low + share * (high - low)
}
