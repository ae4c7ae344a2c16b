import { SPLITS, type Split } from '../record/record.ts'
import { tQuantile } from '../stats/student-t.ts'
import type { Arm } from './arm.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import { differences, meanEstimate, noEstimate, type Range, within } from './estimate.ts'
import type { Estimate, Reason } from './report.ts'
import { type Units, unitMeans, unitsOf } from './units.ts'
import type { VariantSummary } from './variant-report.ts'

/**
 * The cells a verdict reads: those of the holdout scenarios, or all where there is no holdout, and then nothing is
 * confirmed. Numbers of other splits stand beside the verdict, never in it.
 */
export function decidingCells(cells: Cells): Cells {
  const keep = cells.scenarios.map(({ split }) => split === 'holdout')
  if (keep.every((one) => one) || !keep.includes(true)) return cells
  const seeds = cells.seeds.length
  const perVariant = cells.scenarios.length * seeds
  return {
    ...cells,
    scenarios: cells.scenarios.filter((_, at) => keep[at]),
    records: cells.records.filter((_, at) => keep[Math.floor((at % perVariant) / seeds)]),
  }
}

/** Scenarios whose contents stand in the holdout and in a split that was tuned on: the holdout is none. */
export function splitLeaks(cells: Cells): Reason[] {
  const tuned = new Map<string, string>()
  for (const { split, digest, id } of cells.scenarios) if (split !== 'holdout') tuned.set(digest, id)
  const leaks = cells.scenarios.flatMap(({ split, digest, id }) => {
    const twin = split === 'holdout' ? tuned.get(digest) : undefined
    return twin === undefined ? [] : [`${id} = ${twin}`]
  })
  if (leaks.length === 0) return []
  const [first = ''] = leaks.sort(byCodeUnit)
  const text = `${leaks.length} holdout scenarios have the contents of one that was tuned on (first: ${first})`
  return [{ code: 'split_leak', text }]
}

/** Means of the primary score by split, and how much of the one on `search` is missing on `holdout`. */
export function splitMeans(
  cells: Cells,
  arm: Arm,
  level: number,
  scale: Range,
): Pick<VariantSummary, 'splits' | 'overfitGap'> {
  const present = SPLITS.filter((split) => cells.scenarios.some((scenario) => scenario.split === split))
  if (present.length < 2) return { splits: [], overfitGap: null }
  const of = (split: Split): { readonly units: Units; readonly values: Float64Array; readonly count: number } => {
    const at = cells.scenarios.flatMap((scenario, i) => (scenario.split === split ? [i] : []))
    const units = unitsOf(at.flatMap((i) => cells.scenarios[i] ?? []))
    return {
      units,
      values: unitMeans(
        units,
        at.map((i) => arm.mean[i] ?? Number.NaN),
      ),
      count: at.length,
    }
  }
  const estimate = (split: Split): Estimate => {
    const { units, values } = of(split)
    return values.length === 0 ? noEstimate(level, units, 'no_data') : meanEstimate(values, level, units, scale)
  }
  return {
    splits: present.map((split) => ({ split, scenarios: of(split).count, mean: estimate(split) })),
    overfitGap:
      present.includes('search') && present.includes('holdout')
        ? difference(estimate('search'), estimate('holdout'), level, differences(scale))
        : null,
  }
}

/** Difference of two independent means: Welch's interval. */
function difference(search: Estimate, holdout: Estimate, level: number, range: Range): Estimate {
  const base = { ...search, level, n: search.n + holdout.n, lo: null, hi: null, se: null, df: null }
  if (search.est === null || holdout.est === null) return { ...base, est: null, refused: 'no_data' }
  const est = search.est - holdout.est
  if (search.se === null || holdout.se === null || search.df === null || holdout.df === null) {
    return { ...base, est, descriptive: true, refused: search.refused ?? holdout.refused ?? 'too_few_scenarios' }
  }
  const [a, b] = [search.se ** 2, holdout.se ** 2]
  const df = (a + b) ** 2 / (a ** 2 / search.df + b ** 2 / holdout.df)
  const reach = tQuantile((1 + level) / 2, df) * Math.sqrt(a + b)
  const { refused: _, ...plain } = base
  return {
    ...plain,
    est,
    lo: within(est - reach, range),
    hi: within(est + reach, range),
    se: Math.sqrt(a + b),
    df,
    descriptive: search.descriptive || holdout.descriptive,
  }
}
