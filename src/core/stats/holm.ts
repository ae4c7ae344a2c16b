/**
 * Holm's step-down adjusted p values: p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)). Controls the family-wise error
 * under any dependence. Reference case: `holm`. Holm 1979.
 *
 * @returns in the order given
 */
export function holm(p: readonly number[]): number[] {
  const order = p.map((_, i) => i).sort((a, b) => (p[a] ?? 1) - (p[b] ?? 1) || a - b)
  const adjusted = new Array<number>(p.length).fill(1)
  let floor = 0
  order.forEach((index, rank) => {
    floor = Math.max(floor, Math.min(1, (p.length - rank) * (p[index] ?? 1)))
    adjusted[index] = floor
  })
  return adjusted
}
