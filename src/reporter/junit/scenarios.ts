import type { CandidateReport } from '../../core/report/candidate-report.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import { PRINTED, plural, type Scale, scaleOf } from '../numbers.ts'
import type { ScenarioArm, ScenarioTable } from '../scenarios.ts'
import type { Case, Suite } from './case.ts'

/** Outputs of a variant that are quoted: a file of 30 MB is more than GitLab takes. */
const QUOTED = 200

/**
 * The suite of what each variant did in each scenario, the seeds together: one case per seed would make flakiness red. Red
 * is what is red in the run: a broken must-pass scenario, a capture that cannot be trusted, a bug. Faults of a provider or
 * a judge are skipped cases, and a low score is none.
 */
export function scenariosSuite(report: CampaignReport, table: ScenarioTable): Suite {
  const candidates = new Map(report.candidates.map((candidate) => [candidate.id, candidate]))
  const broken = new Map(
    report.candidates.map(({ id, mustPass }) => [id, new Map(mustPass.broken.map((one) => [one.scenario, one]))]),
  )
  const scale = scaleOf(report.design.scale, PRINTED)
  const quoted = new Map<string, number>()
  const cases = Array.from(table.arms(), (arm): Case => {
    const { variant, scenario } = arm
    const comparator = table.get(candidates.get(variant)?.comparator ?? '', scenario)
    const seeds = broken.get(variant)?.get(scenario)?.failedSeeds
    const worse = comparator === null || isWorse(arm, comparator)
    const quotes = worse && arm.passed < arm.judged && take(quoted, variant)
    return {
      classname: `${report.campaignId}.${variant}`,
      name: scenario,
      ms: arm.ms,
      ...outcomeOf(arm, seeds),
      output: [moved(arm, comparator, scale), ...(quotes ? quote(arm, candidates.get(variant)) : [])].join('\n'),
    }
  })
  return { name: 'scenarios', file: report.file, cases }
}

function outcomeOf(arm: ScenarioArm, brokenSeeds: readonly number[] | undefined): Pick<Case, 'outcome' | 'message'> {
  if (brokenSeeds !== undefined)
    return { outcome: 'failure', message: `must-pass broken, seeds ${brokenSeeds.join(', ')}` }
  if (arm.faults.size > 0) return { outcome: 'error', message: listed(arm.faults) }
  if (arm.measured === 0) return { outcome: 'skipped', message: listed(arm.missing) }
  return { outcome: 'passed' }
}

/** `passed 1/3 vs 3/3 (current)`. */
function moved(arm: ScenarioArm, comparator: ScenarioArm | null, scale: Scale): string {
  const versus = comparator === null ? '' : ` vs ${tallied(comparator, scale)} (${comparator.variant})`
  const missing = arm.missing.size === 0 || arm.measured === 0 ? '' : `; missing: ${listed(arm.missing)}`
  return `${arm.judged === 0 ? 'scored' : 'passed'} ${tallied(arm, scale)}${versus}${missing}`
}

function tallied({ judged, passed, scores, scoreSum, measured }: ScenarioArm, scale: Scale): string {
  const mean = scores === 0 ? '' : `mean ${scale.value(scoreSum / scores)}`
  if (judged > 0) return `${passed}/${judged}${mean === '' ? '' : `, ${mean}`}`
  return measured === 0 ? 'nothing' : mean || 'nothing'
}

function quote({ worst }: ScenarioArm, candidate: CandidateReport | undefined): string[] {
  if (worst === null) return []
  return [
    `${candidate === undefined ? 'worst' : 'worst against its comparator'}: seed ${worst.seed}, cell ${worst.cellId}`,
    ...(worst.why === null ? [] : [worst.why]),
    ...(worst.output === null ? [] : ['output:', worst.output]),
  ]
}

function isWorse(arm: ScenarioArm, comparator: ScenarioArm): boolean {
  if (arm.measured === 0 || comparator.measured === 0) return false
  return arm.passed / arm.measured < comparator.passed / comparator.measured
}

function take(quoted: Map<string, number>, variant: string): boolean {
  const count = quoted.get(variant) ?? 0
  quoted.set(variant, count + 1)
  return count < QUOTED
}

function listed(reasons: ReadonlyMap<string, number>): string {
  return Array.from(reasons, ([text, count]) => `${text} (${plural(count, 'cell')})`).join('\n')
}
