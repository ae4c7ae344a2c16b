import type { RunRecord } from '../../../src/core/record/record.ts'
import type { CampaignReport } from '../../../src/core/report/report.ts'
import type { Summarized } from '../../../src/reporter/github/summary.ts'
import { ScenarioTable } from '../../../src/reporter/scenarios.ts'

/** A run of these campaigns as its renderings read it. */
export function runOf(
  campaigns: readonly (readonly [CampaignReport, Iterable<RunRecord>])[],
  part: Partial<Summarized> = {},
): Summarized {
  return {
    project: 'evals',
    root: '',
    campaigns: campaigns.map(([report, records]) => ({
      report,
      table: new ScenarioTable(records),
      path: `.evals/run/reports/${report.campaignId}.md`,
    })),
    problems: [],
    notes: [],
    ...part,
  }
}
