import { isAbsolute, join, relative, sep } from 'node:path'
import type { CampaignReport } from '../../core/report/report.ts'
import { annotations } from './annotations.ts'
import { appendStepSummary } from './step-summary.ts'
import type { Summarized } from './summary.ts'

export interface ActionsRun {
  readonly summarized: Summarized
  /** Absolute root of the project, below which the eval files lie. */
  readonly root: string
}

/** What others have shown of this run in the same step. */
export interface Told {
  /** Error annotations. */
  readonly errors: number
  /** Campaigns whose verdict is annotated already. */
  readonly campaigns: ReadonlySet<string>
}

/**
 * Publishes runs on GitHub Actions: appends them to the step's summary, and gives the annotations to print.
 *
 * @returns lines that are workflow commands, to be printed as they are; and what could not be done
 */
export async function publish(
  runs: readonly ActionsRun[],
  env: Readonly<Record<string, string | undefined>>,
  told: Told = { errors: 0, campaigns: new Set() },
): Promise<{ readonly commands: readonly string[]; readonly problems: readonly string[] }> {
  const problems: string[] = []
  const { GITHUB_STEP_SUMMARY: path } = env
  if (path !== undefined && path !== '') {
    for (const { summarized } of runs) {
      const problem = await appendStepSummary(path, summarized)
      if (problem !== null) problems.push(`the step summary was not written: ${problem}`)
    }
  }
  const annotated = runs.flatMap(({ summarized, root }) =>
    summarized.campaigns.map(({ report }) => ({
      report,
      file: fileOf(report, root, env.GITHUB_WORKSPACE),
      told: told.campaigns.has(report.campaignId),
    })),
  )
  return { commands: annotations(annotated, told), problems }
}

/** The eval file relative to the repository, where it lies in it. */
function fileOf({ file }: CampaignReport, root: string, workspace: string | undefined): string {
  const path = join(root, file)
  if (workspace === undefined || workspace === '') return path
  const below = relative(workspace, path)
  return below.startsWith('..') || isAbsolute(below) ? path : below.split(sep).join('/')
}
