import type { RunRecord } from '../record/record.ts'
import { type Arm, recordAt } from './arm.ts'
import type { Cells } from './cells.ts'
import { costOf } from './cost.ts'
import { meanEstimate, noEstimate, SHARE } from './estimate.ts'
import { flakinessOf, reliabilityOf } from './flakiness.ts'
import { latencyOf } from './latency.ts'
import { splitMeans } from './splits.ts'
import { type Units, unitMeans } from './units.ts'
import { rowsOf, unitRows, varianceOf } from './variance.ts'
import type { VariantSummary } from './variant-report.ts'

const mean = (values: Float64Array): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

interface Summarized {
  /** The cells that decide, and every cell. */
  readonly cells: Cells
  readonly all: Cells
  /** The variant in the cells that decide, and in all. */
  readonly arm: Arm
  readonly whole: Arm
  readonly units: Units
  readonly role: VariantSummary['role']
  readonly level: number
  /** Deadline of a cell. */
  readonly limitMs: number
  /** Every cell of the campaign was live, so that wall clocks mean something. */
  readonly allLive: boolean
  /** Of the primary score. */
  readonly scale: readonly [number, number]
  readonly frontier: VariantSummary['frontier']
}

/** What one variant did, by itself. Two of these are never compared by their intervals: pairing is what decides. */
export function summarize({
  cells,
  all,
  arm,
  whole,
  units,
  role,
  level,
  limitMs,
  allLive,
  scale,
  frontier,
}: Summarized): VariantSummary {
  const byScenario = all.scenarios.map((_, scenario) =>
    all.seeds.flatMap((_seed, seed) => recordAt(all, arm.variant, scenario, seed) ?? []),
  )
  const records = byScenario.flat()
  const judged = arm.judged.reduce((sum, n) => sum + n, 0)
  const passes = whole.passed.reduce((sum, n) => sum + n, 0)
  // A task_fail counts as failed even where the scorer knows no pass; that alone makes no pass rate.
  const hasPass = records.some((record) => record.status === 'scored' && record.pass !== null)
  const values = unitMeans(units, arm.mean)
  return {
    id: cells.variants[arm.variant]?.id ?? '',
    role,
    counts: whole.counts,
    planned: whole.planned,
    coverage: whole.measured / whole.planned,
    mean: values.length === 0 ? noEstimate(level, units, 'no_data') : meanEstimate(values, level, units, scale),
    bounds: { lo: mean(unitMeans(units, arm.lowest)), hi: mean(unitMeans(units, arm.highest)) },
    passRate:
      hasPass && judged > 0
        ? meanEstimate(
            unitMeans(
              units,
              Float64Array.from(arm.passed, (n, s) => n / (arm.judged[s] ?? 0)),
            ),
            level,
            units,
            SHARE,
          )
        : noEstimate(level, units, judged === 0 ? 'no_data' : 'not_applicable'),
    cost: costOf(records, whole.planned, hasPass ? passes : null),
    latency: latencyOf(byScenario, limitMs, allLive),
    tokens: tokensOf(records),
    reliability: reliabilityOf(arm, units, cells.seeds.length, level, hasPass),
    flakiness: flakinessOf(cells, arm, units, level),
    variance: varianceOf(unitRows(units, rowsOf(cells, arm.variant, scale[0]), cells.seeds.length)),
    ...splitMeans(all, whole, level, scale),
    frontier,
  }
}

function tokensOf(records: readonly RunRecord[]): VariantSummary['tokens'] {
  let input: number | null = null
  let output: number | null = null
  let known = true
  for (const { tokens, attempts } of records) {
    if (attempts > 0 && !tokens.known) known = false
    if (tokens.input !== null) input = (input ?? 0) + tokens.input
    if (tokens.output !== null) output = (output ?? 0) + tokens.output
  }
  return { input, output, known }
}
