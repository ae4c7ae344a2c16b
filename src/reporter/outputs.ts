import type { RunRecord } from '../core/record/record.ts'
import type { CampaignReport } from '../core/report/report.ts'
import type { RunOutput } from '../core/report/run-source.ts'
import { renderComment } from './github/comment.ts'
import type { Summarized } from './github/summary.ts'
import { renderJunit } from './junit.ts'
import { ScenarioTable } from './scenarios.ts'

/** What the renderings of a whole run are made of, live or read back from its journal. */
export interface OutputsInput extends Omit<Summarized, 'campaigns'> {
  readonly campaigns: readonly {
    readonly report: CampaignReport
    readonly records: Iterable<RunRecord>
    /** Path of the Markdown report, as a reader sees it. */
    readonly path: string
  }[]
}

/** A run as it goes to GitHub, and its documents. One pass over the records of each campaign. */
export function outputsOf(input: OutputsInput): {
  readonly summarized: Summarized
  readonly documents: { readonly [file in RunOutput]: string }
} {
  const campaigns = input.campaigns.map(({ report, records, path }) => ({
    report,
    path,
    table: new ScenarioTable(records),
  }))
  const summarized = { ...input, campaigns }
  return {
    summarized,
    documents: { 'junit.xml': renderJunit(summarized), 'comment.md': renderComment(summarized) },
  }
}
