import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { CampaignReport } from '../core/report/report.ts'
import { writeAtomic } from '../plugin/pool/atomic-file.ts'
import { segmentOf } from '../plugin/replay/path.ts'
import { renderMarkdown } from '../reporter/markdown.ts'
import { chosen } from './campaigns.ts'
import type { Command } from './command.ts'
import { note } from './note.ts'
import { printReport } from './print.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { type OpenRun, openRun, runNotes } from './rebuild.ts'
import { findRun } from './run-folder.ts'

export const report: Command = {
  name: 'report',
  summary: "rebuild a run's reports from its journal, and print them",
  positionals: ['[run]'],
  details: [
    'Writes records.jsonl and reports/<campaign>.json and .md into the folder of the run, from nothing but its journal:',
    'the bytes that the run wrote itself. Of a run that was killed, the cells that never settled are not_run.',
    '[run] is the id of a run, its folder, or nothing for the newest.',
  ],
  options: {
    campaign: { type: 'string', value: '<id>', description: 'print the report of this campaign alone' },
    verbose: { type: 'boolean', description: 'every line of a report; default at most 40' },
  },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const run = await openRun(context, await findRun(context, root, args.positionals[0]))
    try {
      const printed = chosen(run, args.text('campaign'))
      await writeAtomic(await target(run, 'records.jsonl'), recordLines(run))
      for (const campaign of run.recorded.campaigns) {
        if (campaign.skipped || campaign.partial !== null) continue
        const built = run.report(campaign)
        const path = await writeReport(run, built)
        if (!printed.includes(campaign)) continue
        const { project } = run.recorded.run
        const where = { project, root: relative(context.cwd, run.root), path: shown(context, path) }
        printReport(context, built, { ...where, verbose: args.flag('verbose') })
      }
      for (const text of runNotes(run)) note(context, text)
      return 0
    } finally {
      run.close()
    }
  },
}

function* recordLines(run: OpenRun): Generator<string> {
  for (const campaign of run.recorded.campaigns) for (const text of run.texts(campaign)) yield `${text}\n`
}

async function writeReport(run: OpenRun, built: CampaignReport): Promise<string> {
  const name = segmentOf(built.campaignId)
  await mkdir(await target(run, 'reports'), { recursive: true, mode: 0o700 })
  await writeAtomic(await target(run, join('reports', `${name}.json`)), `${JSON.stringify(built, null, 2)}\n`)
  const path = await target(run, join('reports', `${name}.md`))
  await writeAtomic(path, renderMarkdown(built))
  return path
}

/** A path in the run's folder that may not be there yet, and is reached through no link. */
async function target({ dir }: OpenRun, file: string): Promise<string> {
  return (await realPath(dir, file)) ?? join(dir, file)
}
