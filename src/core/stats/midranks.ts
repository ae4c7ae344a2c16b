import { EQUAL_WITHIN } from './mean-interval.ts'

/** Ranks 1…n of the values; equal ones (up to {@link EQUAL_WITHIN} of their size) share the mean of their ranks. */
export function midranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0) || i - j)
  const ranks = new Array<number>(values.length).fill(0)
  for (let from = 0; from < order.length; ) {
    const least = values[order[from] ?? 0] ?? 0
    let to = from + 1
    while (to < order.length && (values[order[to] ?? 0] ?? 0) - least <= EQUAL_WITHIN * Math.abs(least)) to++
    for (let i = from; i < to; i++) ranks[order[i] ?? 0] = (from + 1 + to) / 2
    from = to
  }
  return ranks
}

/** Sizes of the groups of equal ranks. */
export function tieSizes(ranks: readonly number[]): number[] {
  const sizes = new Map<number, number>()
  for (const rank of ranks) sizes.set(rank, (sizes.get(rank) ?? 0) + 1)
  return [...sizes.values()]
}
