import type { RunRecord } from '../record/record.ts'
import { type Arm, recordAt } from './arm.ts'
import type { Cells } from './cells.ts'
import { costOf } from './cost.ts'
import { meanEstimate, noEstimate } from './estimate.ts'
import { latencyOf } from './latency.ts'
import type { VariantSummary } from './report.ts'
import { type Units, unitMeans } from './units.ts'

const mean = (values: Float64Array): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** What one variant did, by itself. Two of these are never compared by their intervals: pairing is what decides. */
export function summarize(
  cells: Cells,
  arm: Arm,
  units: Units,
  role: VariantSummary['role'],
  level: number,
): VariantSummary {
  const byScenario = cells.scenarios.map((_, scenario) =>
    cells.seeds.flatMap((_seed, seed) => recordAt(cells, arm.variant, scenario, seed) ?? []),
  )
  const records = byScenario.flat()
  const judged = arm.judged.reduce((sum, n) => sum + n, 0)
  const passes = arm.passed.reduce((sum, n) => sum + n, 0)
  // A task_fail counts as failed even where the scorer knows no pass; that alone makes no pass rate.
  const hasPass = records.some((record) => record.status === 'scored' && record.pass !== null)
  const values = unitMeans(units, arm.mean)
  return {
    id: cells.variants[arm.variant]?.id ?? '',
    role,
    counts: arm.counts,
    planned: arm.planned,
    coverage: arm.measured / arm.planned,
    mean: values.length === 0 ? noEstimate(level, units, 'no_data') : meanEstimate(values, level, units),
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
          )
        : noEstimate(level, units, judged === 0 ? 'no_data' : 'not_applicable'),
    cost: costOf(records, arm.planned, hasPass ? passes : null),
    latency: latencyOf(byScenario),
    tokens: tokensOf(records),
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
