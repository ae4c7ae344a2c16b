import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CampaignReportSchema } from '../core/report/schema.ts'
import { renderTerminal } from '../reporter/terminal.ts'
import { CliError, type Command } from './command.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { findRun } from './run-folder.ts'

export const report: Command = {
  name: 'report',
  summary: 'print the reports of a run',
  positionals: ['[run]'],
  details: ['[run] is the id of a run, its folder, or nothing for the newest.'],
  options: { verbose: { type: 'boolean', description: 'every line of a report; default at most 40' } },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const { dir } = await findRun(context, root, args.positionals[0])
    const folder = await realPath(dir, 'reports')
    const names = folder === null ? [] : (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
    if (names.length === 0) throw new CliError(`${shown(context, dir)} holds no report`)
    for (const name of names) {
      const path = await realPath(dir, join('reports', name))
      if (path === null) continue
      const read = CampaignReportSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
      if (!read.success) throw new CliError(`${shown(context, path)} is no report of this version`)
      const text = renderTerminal(read.data, { width: 80, color: false, unicode: true, verbose: args.flag('verbose') })
      context.stdout.write(`${text}\n`)
    }
    return 0
  },
}
