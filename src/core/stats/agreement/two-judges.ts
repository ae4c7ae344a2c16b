import { refuse, type Statistic } from '../refusal.ts'

/** Counts of units by the category that the first (row) and the second judge (column) gave. */
export type AgreementTable = readonly (readonly number[])[]

export type KappaWeights = 'unweighted' | 'quadratic'

/**
 * Cohen's (1960) κ = 1 − Σ w_ij p_ij / Σ w_ij p_i. p_.j of two judges: disagreement against what their margins would give
 * by chance. Weights w are 1 off the diagonal, or ((i−j)/(k−1))² for ordered categories (Cohen 1968). Reference cases:
 * `cohenKappa`, `cohenKappa+quadratic`.
 *
 * Where one category exceeds 90 % it collapses whatever the agreement; print Gwet's AC1 next to it. Refuses no units and
 * judges who both gave one and the same category throughout.
 *
 * @throws RangeError for a table that is not square or holds no counts
 */
export function cohenKappa(
  table: AgreementTable,
  weights: KappaWeights = 'unweighted',
): Statistic<'no_data' | 'no_variation'> {
  const { k, n, rows, columns } = margins(table)
  if (n === 0) return refuse('no_data')
  let observed = 0
  let expected = 0
  for (let i = 0; i < k; i++) {
    for (let j = 0; j < k; j++) {
      const weight = i === j ? 0 : weights === 'quadratic' ? ((i - j) / (k - 1)) ** 2 : 1
      observed += weight * (table[i]?.[j] ?? 0)
      expected += (weight * (rows[i] ?? 0) * (columns[j] ?? 0)) / n
    }
  }
  return expected === 0 ? refuse('no_variation') : { value: 1 - observed / expected }
}

/**
 * Gwet's (2008) AC1 = (p_a − p_e)/(1 − p_e), p_e = Σ π_j (1 − π_j)/(k−1) with π_j the mean margin of category j. Keeps its
 * meaning where nearly all units are in one category: 118/5/2/0 has 94.4 % agreement, κ −.023 and AC1 .941. Reference
 * case: `gwetAC1`.
 *
 * Refuses no units and one category throughout.
 *
 * @throws RangeError for a table that is not square or holds no counts
 */
export function gwetAc1(table: AgreementTable): Statistic<'no_data' | 'no_variation'> {
  const { k, n, rows, columns } = margins(table)
  if (n === 0) return refuse('no_data')
  if (k < 2) return refuse('no_variation')
  let agreed = 0
  let chance = 0
  let used = 0
  for (let i = 0; i < k; i++) {
    const share = ((rows[i] ?? 0) + (columns[i] ?? 0)) / (2 * n)
    agreed += table[i]?.[i] ?? 0
    chance += (share * (1 - share)) / (k - 1)
    if (share > 0) used++
  }
  return used < 2 ? refuse('no_variation') : { value: (agreed / n - chance) / (1 - chance) }
}

/** Whether a category holds so many ratings that κ alone would mislead. */
export function dominatedByOneCategory(table: AgreementTable): boolean {
  const { n, rows, columns } = margins(table)
  return rows.some((row, i) => row + (columns[i] ?? 0) > 0.9 * 2 * n)
}

function margins(table: AgreementTable): { k: number; n: number; rows: number[]; columns: number[] } {
  const k = table.length
  for (const row of table) {
    if (row.length !== k) throw new RangeError(`an agreement table is square, not ${k} × ${row.length}`)
    for (const count of row) {
      if (!Number.isInteger(count) || count < 0) throw new RangeError(`an agreement table holds counts, not ${count}`)
    }
  }
  const rows = table.map((row) => row.reduce((sum, count) => sum + count, 0))
  const columns = table.map((_, j) => table.reduce((sum, row) => sum + (row[j] ?? 0), 0))
  return { k, n: rows.reduce((sum, count) => sum + count, 0), rows, columns }
}
