import { mkdir } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { segmentOf } from '../core/campaign/segment.ts'
import type { RecordedCampaign } from '../core/journal/recorded.ts'
import type { CampaignReport } from '../core/report/report.ts'
import { RUN_OUTPUTS } from '../core/report/run-source.ts'
import { writeAtomic } from '../plugin/pool/atomic-file.ts'
import { RUNS } from '../plugin/pool/run-folder.ts'
import { writeDocuments, writeIndex } from '../reporter/documents.ts'
import { publish } from '../reporter/github/actions.ts'
import type { Summarized } from '../reporter/github/summary.ts'
import { type OutputsInput, outputsOf } from '../reporter/outputs.ts'
import { chosen } from './campaigns.ts'
import { type CliArguments, type CliContext, CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { printReport } from './print.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { type OpenRun, openRun, runNotes, runProblems } from './rebuild.ts'
import { type FoundRun, findRun } from './run-folder.ts'

/** Options of commands that write and print the reports of a run. */
export const WRITING: Command['options'] = {
  campaign: { type: 'string', value: '<id>', description: 'print the report of this campaign alone' },
  github: {
    type: 'boolean',
    description: 'append to $GITHUB_STEP_SUMMARY and print annotations, as a run on GitHub Actions does',
  },
  verbose: { type: 'boolean', description: 'every line of a report; default at most 40' },
}

export const report: Command = {
  name: 'report',
  summary: "rebuild a run's reports from its journal, and print them",
  positionals: ['[run]'],
  details: [
    'Writes records.jsonl, reports/<campaign>.json, .md and .html, junit.xml and comment.md into the folder of the run,',
    'from its journal, and .evals/index.html. Of a run that was killed, the cells that never settled are not_run.',
    '[run] is the id of a run, its folder, or nothing for the newest.',
  ],
  options: WRITING,
  async run(context, args) {
    const root = await projectRoot(context, args)
    await writeRun(context, await findRun(context, root, args.positionals[0]), args)
    return 0
  },
}

/** Writes everything that derives from a run's journal into its folder, and prints its reports. */
export async function writeRun(context: CliContext, found: FoundRun, args: CliArguments): Promise<void> {
  const run = await openRun(context, found)
  try {
    const printed = chosen(run, args.text('campaign'))
    await writeAtomic(await target(run, 'records.jsonl'), recordLines(run))
    const { project } = run.recorded.run
    const here = relative(context.cwd, run.root)
    const campaigns: OutputsInput['campaigns'][number][] = []
    for (const campaign of run.recorded.campaigns) {
      if (campaign.skipped || campaign.partial !== null) continue
      const built = run.report(campaign)
      const { page, markdown } = await writeReport(run, campaign, built)
      const below = relative(run.root, markdown).split(sep).join('/')
      campaigns.push({ report: built, records: run.records(campaign), path: below })
      if (!printed.includes(campaign)) continue
      printReport(context, built, { project, root: here, path: shown(context, page), verbose: args.flag('verbose') })
    }
    const notes = runNotes(run)
    const { summarized, documents } = outputsOf({
      project: project === '' ? 'evals' : project,
      root: here.split(sep).join('/'),
      campaigns,
      problems: runProblems(run),
      notes,
    })
    for (const file of RUN_OUTPUTS) await writeAtomic(await target(run, file), documents[file])
    // A run that was copied elsewhere stands beside files that are none of ours.
    const evals = dirname(run.dir)
    const problem = basename(evals) === RUNS ? await writeIndex(evals) : null
    if (problem !== null) throw new CliError(problem)
    for (const text of notes) note(context, text)
    if (args.flag('github')) await show(context, run, summarized)
  } finally {
    run.close()
  }
}

/** On GitHub Actions: the step's summary, and annotations on standard output as they are. */
async function show(context: CliContext, { root }: OpenRun, summarized: Summarized): Promise<void> {
  const { commands, problems } = await publish([{ summarized, root }], context.env)
  for (const command of commands) context.stdout.write(`${command}\n`)
  for (const problem of problems) note(context, problem)
}

function* recordLines(run: OpenRun): Generator<string> {
  for (const campaign of run.recorded.campaigns) for (const text of run.texts(campaign)) yield `${text}\n`
}

/** Writes a report and its renderings; gives the paths of the page and of the Markdown. */
async function writeReport(run: OpenRun, campaign: RecordedCampaign, built: CampaignReport) {
  const name = segmentOf(built.campaignId)
  await mkdir(await target(run, 'reports'), { recursive: true, mode: 0o700 })
  await writeAtomic(await target(run, join('reports', `${name}.json`)), `${JSON.stringify(built, null, 2)}\n`)
  const markdown = await target(run, join('reports', `${name}.md`))
  const page = await target(run, join('reports', `${name}.html`))
  const { problems } = await writeDocuments(built, run.material(campaign), { md: markdown, html: page })
  if (problems.length > 0) throw new CliError(problems.join('\n'))
  return { page, markdown }
}

/** A path in the run's folder that may not be there yet, and is reached through no link. */
async function target({ dir }: OpenRun, file: string): Promise<string> {
  return (await realPath(dir, file)) ?? join(dir, file)
}
