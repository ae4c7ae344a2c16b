import { benjaminiHochberg, falseCoverageLevel } from '../stats/false-discovery.ts'
import { pairedT } from '../stats/paired-t.ts'
import type { Arm } from './arm.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import { FEWEST_UNITS } from './decision.ts'
import { differences, meanEstimate, noEstimate } from './estimate.ts'
import type { SliceReport } from './report.ts'
import { unitsOf } from './units.ts'

/** A tag with more values than this is a name, not a kind. */
const MOST_VALUES = 20
const FALSE_DISCOVERIES = 0.05
const LEVEL = 0.95

interface Slice {
  readonly by: string
  readonly value: string
  readonly scenarios: readonly number[]
}

/**
 * Where the candidates moved, by family and by every tag that tells scenarios apart. Exploratory: q values over all rows
 * (Benjamini & Hochberg), and the rows they pick have intervals wide enough for having been picked. Complete pairs
 * only, and scenarios are the units inside a slice. Nothing here reaches the verdict.
 */
export function slicesOf(
  cells: Cells,
  pairs: readonly { readonly arm: Arm; readonly comparator: Arm }[],
  scale: readonly [number, number],
): SliceReport[] {
  const seeds = cells.seeds.length
  const rows = slices(cells).flatMap((slice) =>
    pairs.map(({ arm, comparator }) => {
      const complete = slice.scenarios.filter((s) => arm.observed[s] === seeds && comparator.observed[s] === seeds)
      const moved = Float64Array.from(complete, (s) => (arm.mean[s] ?? 0) - (comparator.mean[s] ?? 0))
      const p = moved.length < FEWEST_UNITS ? null : pairedT(moved, LEVEL).p
      return {
        slice,
        arm,
        moved,
        p,
        units: unitsOf(complete.flatMap((s) => cells.scenarios[s] ?? []).map((one) => ({ ...one, family: null }))),
      }
    }),
  )
  const tested = rows.flatMap(({ p }) => p ?? [])
  const qs = benjaminiHochberg(tested)
  const picked = qs.filter((q) => q <= FALSE_DISCOVERIES).length
  const pickedLevel = picked === 0 ? LEVEL : falseCoverageLevel(FALSE_DISCOVERIES, picked, tested.length)
  let at = 0
  return rows.map(({ slice, arm, moved, p, units }): SliceReport => {
    const q = p === null ? null : (qs[at++] ?? null)
    const level = q !== null && q <= FALSE_DISCOVERIES ? pickedLevel : LEVEL
    return {
      by: slice.by,
      value: slice.value,
      candidate: cells.variants[arm.variant]?.id ?? '',
      scenarios: slice.scenarios.length,
      difference:
        moved.length === 0
          ? noEstimate(level, units, 'missing_cells')
          : { ...meanEstimate(moved, level, units, differences(scale)), descriptive: true },
      p,
      q,
    }
  })
}

function slices(cells: Cells): Slice[] {
  const groups = new Map<string, Map<string, number[]>>()
  const put = (by: string, value: string, scenario: number): void => {
    const values = groups.get(by) ?? new Map<string, number[]>()
    groups.set(by, values)
    values.set(value, [...(values.get(value) ?? []), scenario])
  }
  cells.scenarios.forEach(({ family }, scenario) => {
    if (family !== null) put('family', family, scenario)
    for (const [tag, value] of tagsOf(cells, scenario)) put(`tag ${tag}`, value, scenario)
  })
  return [...groups.keys()].sort(byCodeUnit).flatMap((by) => {
    const values = groups.get(by) ?? new Map<string, number[]>()
    if (values.size < 2 || values.size > MOST_VALUES) return []
    return [...values.keys()].sort(byCodeUnit).map((value) => ({ by, value, scenarios: values.get(value) ?? [] }))
  })
}

/** Tags that all cells of a scenario which have them give the same value: one that differs is of the answer, not of it. */
function tagsOf(cells: Cells, scenario: number): [tag: string, value: string][] {
  const found = new Map<string, string | null>()
  const perVariant = cells.scenarios.length * cells.seeds.length
  for (let variant = 0; variant < cells.variants.length; variant++) {
    for (let seed = 0; seed < cells.seeds.length; seed++) {
      const record = cells.records[variant * perVariant + scenario * cells.seeds.length + seed]
      for (const [tag, value] of Object.entries(record?.tags ?? {})) {
        const known = found.get(tag)
        found.set(tag, known === undefined || known === value ? value : null)
      }
    }
  }
  return [...found].flatMap(([tag, value]) => (value === null ? [] : [[tag, value] as [string, string]]))
}
