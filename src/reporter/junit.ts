import type { CampaignReport } from '../core/report/report.ts'
import { junitDocument, type Suite } from './junit/case.ts'
import { gateSuite } from './junit/gate.ts'
import { scenariosSuite } from './junit/scenarios.ts'
import type { ScenarioTable } from './scenarios.ts'

export interface JunitInput {
  /** The eval project. */
  readonly project: string
  readonly campaigns: readonly { readonly report: CampaignReport; readonly table: ScenarioTable }[]
  /** Why the run is red beside its reports: a file that did not load, a lost worker; empty where it is not. */
  readonly problems: readonly string[]
}

/** A run as JUnit XML: a suite `gate` and a suite `scenarios` for each campaign, and one case for the run itself. */
export function renderJunit({ project, campaigns, problems }: JunitInput): string {
  const whole: Suite = {
    name: 'gate',
    file: campaigns[0]?.report.file ?? '',
    cases: [
      {
        classname: `${project}.run`,
        name: 'complete',
        ...(problems.length === 0 ? { outcome: 'passed' } : { outcome: 'error', message: problems.join('\n') }),
      },
    ],
  }
  return junitDocument('vitest-campaign', [
    whole,
    ...campaigns.flatMap(({ report, table }) => [gateSuite(report), scenariosSuite(report, table)]),
  ])
}
