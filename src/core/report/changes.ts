import { type Arm, cellValue, passOf, recordAt } from './arm.ts'
import type { CandidateReport, ScenarioChange } from './candidate-report.ts'
import { byCodeUnit, type Cells } from './cells.ts'
import { isFlaky } from './flakiness.ts'

const WORST_LISTED = 20

/** Scenario by scenario: how many moved, and those that lost most, largest loss first. */
export function changesOf(
  cells: Cells,
  candidate: Arm,
  comparator: Arm,
  [bottom, top]: readonly [number, number],
): Pick<CandidateReport, 'worst' | 'changed'> {
  const changed = { worse: 0, better: 0, same: 0, missing: 0 }
  const losses: { scenario: number; delta: number }[] = []
  cells.scenarios.forEach((_, scenario) => {
    const complete =
      candidate.observed[scenario] === cells.seeds.length && comparator.observed[scenario] === cells.seeds.length
    if (!complete) changed.missing++
    const delta = (candidate.mean[scenario] ?? Number.NaN) - (comparator.mean[scenario] ?? Number.NaN)
    if (Number.isNaN(delta)) return
    const small = Math.abs(delta) <= 1e-12 * (top - bottom)
    if (complete) changed[small ? 'same' : delta < 0 ? 'worse' : 'better']++
    if (!small && delta < 0) losses.push({ scenario, delta })
  })
  const id = (scenario: number): string => cells.scenarios[scenario]?.id ?? ''
  losses.sort((a, b) => a.delta - b.delta || byCodeUnit(id(a.scenario), id(b.scenario)))
  const worst = losses.slice(0, WORST_LISTED).map(
    ({ scenario, delta }): ScenarioChange => ({
      scenario: id(scenario),
      comparator: comparator.mean[scenario] ?? null,
      candidate: candidate.mean[scenario] ?? null,
      delta,
      comparatorSeeds: seedText(cells, comparator, scenario, bottom),
      candidateSeeds: seedText(cells, candidate, scenario, bottom),
      flaky: { comparator: isFlaky(comparator, scenario), candidate: isFlaky(candidate, scenario) },
    }),
  )
  return { worst, changed }
}

/** `3/5`, or the scores where nothing passes or fails; says how many cells are missing. */
function seedText(cells: Cells, arm: Arm, scenario: number, bottom: number): string {
  const records = cells.seeds.map((_, seed) => recordAt(cells, arm.variant, scenario, seed))
  const values = records.flatMap((record) => cellValue(record, bottom) ?? [])
  const judged = records.filter((record) => passOf(record) !== null)
  const text =
    judged.length === values.length
      ? `${judged.filter((record) => passOf(record)).length}/${values.length}`
      : values.map((value) => String(Number(value.toPrecision(3)))).join(' ')
  const missing = cells.seeds.length - values.length
  return missing === 0 ? text : `${text} (${missing} missing)`
}
