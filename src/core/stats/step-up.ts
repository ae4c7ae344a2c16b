/**
 * p̃_(i) = min_{j ≥ i} min(1, factor(j) · p_(j)) over the ordered p, j = 1…m; in the order given. Never below the p.
 *
 * @throws RangeError for a p outside [0, 1]
 */
export function stepUp(p: readonly number[], factor: (rank: number) => number): number[] {
  for (const value of p) if (!(value >= 0 && value <= 1)) throw new RangeError(`a p value lies in [0, 1], not ${value}`)
  const order = p.map((_, i) => i).sort((a, b) => (p[b] ?? 1) - (p[a] ?? 1) || b - a)
  const adjusted = new Array<number>(p.length).fill(1)
  let ceiling = 1
  order.forEach((index, i) => {
    const raw = p[index] ?? 1
    ceiling = Math.min(ceiling, Math.max(raw, factor(p.length - i) * raw))
    adjusted[index] = ceiling
  })
  return adjusted
}
