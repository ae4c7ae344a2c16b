import { requireFinite } from './finite.ts'
import { requireLevel } from './mean-interval.ts'
import { tQuantile } from './student-t.ts'

export interface Coefficient {
  readonly est: number
  /** Sandwich error without (CR0) and with the small-sample factor G/(G−1) · (n−1)/(n−k), as Stata and sandwich. */
  readonly cr0: number
  readonly se: number
  readonly lo: number
  readonly hi: number
}

export interface ClusteredRegression {
  readonly rows: number
  readonly clusters: number
  /** Intercept first, then one per predictor. */
  readonly coefficients: readonly Coefficient[] | null
  readonly refused?: 'no_data' | 'one_scenario' | 'collinear'
}

export interface RegressionRow {
  readonly cluster: string | number
  readonly y: number
  /** Predictors without the intercept. */
  readonly x: readonly number[]
}

/**
 * Least-squares regression with cluster-robust errors: V = (X'X)⁻¹ (Σ_g X_g' e_g e_g' X_g) (X'X)⁻¹ over the residuals e
 * of each cluster g (Liang & Zeger 1986), times G/(G−1) · (n−1)/(n−k) (CR1), and t with G − 1 degrees of freedom.
 * Without predictors it is the clustered mean. Reference cases: `clusteredSE(regression)`.
 *
 * Assumes independent clusters, many of them; nothing about dependence inside one. Refuses fewer rows than coefficients
 * need, fewer than two clusters, and predictors that are linear combinations of each other.
 *
 * @throws RangeError for rows with different numbers of predictors, or a term that is not finite
 */
export function clusteredRegression(rows: readonly RegressionRow[], level: number): ClusteredRegression {
  requireLevel(level)
  const n = rows.length
  const k = (rows[0]?.x.length ?? 0) + 1
  if (rows.some((row) => row.x.length !== k - 1)) throw new RangeError('every row needs the same predictors')
  for (const { y, x } of rows) requireFinite([y, ...x], 'term of a row')
  const clusters = new Map<string | number, number[]>()
  for (const { cluster } of rows) if (!clusters.has(cluster)) clusters.set(cluster, new Array<number>(k).fill(0))
  const none = { rows: n, clusters: clusters.size, coefficients: null }
  if (n <= k) return { ...none, refused: 'no_data' }
  if (clusters.size < 2) return { ...none, refused: 'one_scenario' }
  const design = rows.map((row) => [1, ...row.x])
  const cross = table(k)
  const right = new Array<number>(k).fill(0)
  design.forEach((x, i) => {
    for (let a = 0; a < k; a++) {
      right[a] = (right[a] ?? 0) + (x[a] ?? 0) * (rows[i]?.y ?? 0)
      for (let b = 0; b < k; b++) add(cross, a, b, (x[a] ?? 0) * (x[b] ?? 0))
    }
  })
  const inverse = inverted(cross)
  if (inverse === null) return { ...none, refused: 'collinear' }
  const est = inverse.map((line) => dot(line, right))
  rows.forEach((row, i) => {
    const x = design[i] ?? []
    const residual = row.y - dot(x, est)
    const score = clusters.get(row.cluster) ?? []
    for (let a = 0; a < k; a++) score[a] = (score[a] ?? 0) + (x[a] ?? 0) * residual
  })
  const g = clusters.size
  const factor = (g / (g - 1)) * ((n - 1) / (n - k))
  const t = tQuantile((1 + level) / 2, g - 1)
  const coefficients = est.map((value, a): Coefficient => {
    // Row a of the bread times each cluster's score: its variance is their sum of squares.
    let variance = 0
    for (const score of clusters.values()) variance += dot(inverse[a] ?? [], score) ** 2
    const se = Math.sqrt(variance * factor)
    return { est: value, cr0: Math.sqrt(variance), se, lo: value - t * se, hi: value + t * se }
  })
  return { rows: n, clusters: g, coefficients }
}

type Table = number[][]

function table(k: number): Table {
  return Array.from({ length: k }, () => new Array<number>(k).fill(0))
}

function add(into: Table, a: number, b: number, value: number): void {
  const line = into[a] ?? []
  line[b] = (line[b] ?? 0) + value
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

/** Gauss–Jordan with row pivots; null where a pivot has lost twelve digits against its column. */
function inverted(symmetric: readonly (readonly number[])[]): Table | null {
  const k = symmetric.length
  const left = symmetric.map((line) => [...line])
  const right = table(k)
  for (let a = 0; a < k; a++) add(right, a, a, 1)
  for (let column = 0; column < k; column++) {
    let pivot = column
    for (let a = column + 1; a < k; a++) {
      if (Math.abs(left[a]?.[column] ?? 0) > Math.abs(left[pivot]?.[column] ?? 0)) pivot = a
    }
    const size = left[pivot]?.[column] ?? 0
    if (!(Math.abs(size) > 1e-12 * Math.abs(symmetric[column]?.[column] ?? 0))) return null
    for (const side of [left, right]) {
      const [x, y] = [side[column] ?? [], side[pivot] ?? []]
      side[column] = y.map((value) => value / size)
      if (pivot !== column) side[pivot] = x
    }
    for (let a = 0; a < k; a++) {
      const share = a === column ? 0 : (left[a]?.[column] ?? 0)
      if (share === 0) continue
      for (const side of [left, right]) side[a] = (side[a] ?? []).map((v, b) => v - share * (side[column]?.[b] ?? 0))
    }
  }
  return right
}
