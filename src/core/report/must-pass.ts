import type { RunRecord } from '../record/record.ts'
import { recordAt } from './arm.ts'
import type { CandidateReport } from './candidate-report.ts'
import type { Cells } from './cells.ts'

/** Failed: the subject's own failure, a `pass` of false, or, of a scorer without pass, the bottom of its scale. */
function failed(record: RunRecord | undefined, bottom: number): boolean {
  if (record?.status === 'task_fail') return true
  return record?.status === 'scored' && (record.pass ?? (record.score ?? bottom) > bottom) === false
}

function passed(record: RunRecord | undefined, bottom: number): boolean {
  return record?.status === 'scored' && !failed(record, bottom)
}

/**
 * Must-pass scenarios that a candidate breaks: any failed seed where the comparator passes all of its seeds, or where
 * there is no comparator. A missing cell convicts nobody, and a comparator that was not measured excuses nobody from
 * later runs: the scenario is then no evidence.
 */
export function mustPassOf(
  cells: Cells,
  candidate: number,
  comparator: number | null,
  bottom: number,
): CandidateReport['mustPass'] & { readonly unmeasured: readonly string[] } {
  const broken: { scenario: string; failedSeeds: number[] }[] = []
  const unmeasured: string[] = []
  let scenarios = 0
  cells.scenarios.forEach((scenario, at) => {
    if (!scenario.mustPass) return
    scenarios++
    const seedsOf = (variant: number): (RunRecord | undefined)[] =>
      cells.seeds.map((_, seed) => recordAt(cells, variant, at, seed))
    const own = seedsOf(candidate)
    const failedSeeds = cells.seeds.filter((_, seed) => failed(own[seed], bottom))
    const comparatorPasses = comparator === null || seedsOf(comparator).every((record) => passed(record, bottom))
    if (failedSeeds.length > 0 && comparatorPasses) broken.push({ scenario: scenario.id, failedSeeds })
    else if (failedSeeds.length === 0 && !own.every((record) => passed(record, bottom))) unmeasured.push(scenario.id)
  })
  return { scenarios, broken, unmeasured }
}
