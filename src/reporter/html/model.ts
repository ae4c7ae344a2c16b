import { joinAccepted } from '../../core/accepted/pairing.ts'
import type { PlannedScenario } from '../../core/campaign/plan.ts'
import type { RunRecord } from '../../core/record/record.ts'
import { type Arm, armOf, recordAt } from '../../core/report/arm.ts'
import { byCodeUnit, type Cells, placeRecords } from '../../core/report/cells.ts'
import { isFlaky } from '../../core/report/flakiness.ts'
import type { CampaignMaterial } from '../../core/report/material.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import type { VariantSummary } from '../../core/report/variant-report.ts'
import { PRINTED, type Scale, scaleOf } from '../numbers.ts'

/** One variant, or one arm of accepted rows, as the page shows it. */
export interface Column {
  /** Stands for it in charts: A, B, … */
  readonly letter: string
  readonly summary: VariantSummary
  readonly arm: Arm
  /** Measured by this run; false for accepted rows. */
  readonly own: boolean
  /** What it is compared with; null where nothing is. */
  readonly comparator: Column | null
}

export const CHANGES = ['worse', 'unknown', 'better', 'same'] as const
/** What became of a scenario, by its worst candidate; unknown where cells that are missing leave no difference. */
export type Change = (typeof CHANGES)[number]

export interface Row {
  /** Position among the scenarios of the cells. */
  readonly at: number
  readonly scenario: PlannedScenario
  /** By the largest loss of a candidate; without a comparator null, as is a cell that is not there. */
  readonly delta: number | null
  readonly change: Change
  readonly missing: boolean
  readonly flaky: boolean
  readonly mustPassBroken: boolean
  /** Which of the model's filters it matches, by position. */
  readonly filters: readonly number[]
}

/** A report with the cells behind it. Pure: the same report and records give the same page. */
export interface Model {
  readonly report: CampaignReport
  readonly runId: string
  readonly scores: Scale
  readonly range: readonly [number, number]
  readonly cells: Cells
  /** In the order of the report: comparators first. */
  readonly columns: readonly Column[]
  /** Worst first. */
  readonly rows: readonly Row[]
  /** `family: …`, `split: …` and tags that some scenarios have and others lack. */
  readonly filters: readonly string[]
}

export function modelOf(report: CampaignReport, material: CampaignMaterial): Model {
  const { plan, accepted } = material
  const own = placeRecords(plan, report.fingerprint.campaign, material.records())
  const joined =
    plan.gate?.accepted == null || accepted === null
      ? null
      : joinAccepted(plan, own, accepted, report.design.candidates)
  const cells = joined?.cells ?? own
  const range = report.design.scale ?? [0, 1]
  const columns = columnsOf(report, cells, own.variants.length, range)
  const labels = cells.scenarios.map((scenario, at) => labelsOf(scenario, cells, at))
  const filters = filtersOf(labels)
  return {
    report,
    runId: material.runId,
    scores: scaleOf(report.design.scale, PRINTED),
    range,
    cells,
    columns,
    rows: rowsOf(report, cells, columns, range, (at) => positions(labels[at] ?? [], filters)),
    filters,
  }
}

export const cellOf = (
  model: Pick<Model, 'cells'>,
  column: Column,
  scenario: number,
  seed: number,
): RunRecord | undefined => recordAt(model.cells, column.arm.variant, scenario, seed)

/** Mean of a scenario over its measured seeds; null where none is. */
export function meanAt({ arm }: Column, scenario: number): number | null {
  const mean = arm.mean[scenario]
  return mean === undefined || Number.isNaN(mean) ? null : mean
}

export function deltaAt(column: Column, scenario: number): number | null {
  if (column.comparator === null) return null
  const [after, before] = [meanAt(column, scenario), meanAt(column.comparator, scenario)]
  return after === null || before === null ? null : after - before
}

function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : `${letter}${Math.floor(index / 26) + 1}`
}

function columnsOf(report: CampaignReport, cells: Cells, ownCount: number, range: Model['range']): Column[] {
  const byId = new Map<string, Column>()
  const columns: Column[] = []
  // Comparators come first in a report, so that what a candidate is compared with is there before it.
  for (const summary of report.variants) {
    const variant = cells.variants.findIndex(({ id }) => id === summary.id)
    if (variant < 0) continue
    const against = report.candidates.find(({ id }) => id === summary.id)?.comparator ?? null
    const column = {
      letter: letterOf(columns.length),
      summary,
      arm: armOf(cells, variant, range),
      own: variant < ownCount,
      comparator: against === null ? null : (byId.get(against) ?? null),
    }
    byId.set(summary.id, column)
    columns.push(column)
  }
  return columns
}

function rowsOf(
  report: CampaignReport,
  cells: Cells,
  columns: readonly Column[],
  range: Model['range'],
  filtersAt: (at: number) => number[],
): Row[] {
  const broken = new Set(report.candidates.flatMap(({ mustPass }) => mustPass.broken.map(({ scenario }) => scenario)))
  const compared = columns.filter(({ comparator }) => comparator !== null)
  const order: readonly Change[] = CHANGES
  const level = (at: number): number =>
    Math.min(...columns.map((column) => meanAt(column, at) ?? Number.POSITIVE_INFINITY))
  const rows = cells.scenarios.map((scenario, at): Row => {
    const deltas = compared.map((column) => deltaAt(column, at))
    const known = deltas.filter((delta) => delta !== null)
    const seeds = cells.seeds.length
    // Differences of this size are what is left of 1/3 computed on two ways.
    const small = (delta: number): boolean => Math.abs(delta) <= 1e-12 * (range[1] - range[0])
    const lowest = known.length === 0 ? null : Math.min(...known)
    const highest = known.length === 0 ? null : Math.max(...known)
    const delta = lowest === null || highest === null ? null : lowest < 0 && !small(lowest) ? lowest : highest
    const change: Change =
      delta !== null && delta < 0 && !small(delta)
        ? 'worse'
        : delta === null
          ? 'unknown'
          : small(delta)
            ? 'same'
            : 'better'
    return {
      at,
      scenario,
      delta: delta !== null && small(delta) ? 0 : delta,
      change,
      missing: columns.some(({ arm }) => arm.observed[at] !== seeds),
      flaky: columns.some(({ arm }) => isFlaky(arm, at)),
      mustPassBroken: broken.has(scenario.id),
      filters: filtersAt(at),
    }
  })
  return rows.sort(
    (a, b) =>
      Number(b.mustPassBroken) - Number(a.mustPassBroken) ||
      order.indexOf(a.change) - order.indexOf(b.change) ||
      (a.change === 'better' ? (b.delta ?? 0) - (a.delta ?? 0) : (a.delta ?? 0) - (b.delta ?? 0)) ||
      (compared.length === 0 ? level(a.at) - level(b.at) : 0) ||
      byCodeUnit(a.scenario.id, b.scenario.id),
  )
}

/** What a scenario is labelled with: `tag: value` as its records say it. */
function labelsOf({ family, split }: PlannedScenario, cells: Cells, at: number): string[] {
  const labels = new Set<string>()
  if (family !== null) labels.add(`family: ${family}`)
  labels.add(`split: ${split}`)
  for (let variant = 0; variant < cells.variants.length; variant++) {
    for (let seed = 0; seed < cells.seeds.length; seed++) {
      for (const [name, value] of Object.entries(recordAt(cells, variant, at, seed)?.tags ?? {})) {
        labels.add(`${name}: ${value}`)
      }
    }
  }
  return [...labels]
}

const FILTERS_LISTED = 200

function filtersOf(labels: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>()
  for (const own of labels) for (const name of own) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count < labels.length)
    .map(([name]) => name)
    .sort(byCodeUnit)
    .slice(0, FILTERS_LISTED)
}

function positions(labels: readonly string[], filters: readonly string[]): number[] {
  return labels.map((name) => filters.indexOf(name)).filter((at) => at >= 0)
}
