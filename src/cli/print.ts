import type { CampaignReport } from '../core/report/report.ts'
import { harmless } from '../reporter/inline.ts'
import { unicodeTerminal, wantsColor } from '../reporter/terminal/abilities.ts'
import { renderTerminal } from '../reporter/terminal.ts'
import type { CliContext } from './command.ts'

const WIDTH = 80

/** Prints a report as the run itself does. */
export function printReport(
  { stdout, env }: CliContext,
  report: CampaignReport,
  where: { readonly project: string; readonly root: string; readonly verbose: boolean; readonly path?: string },
): void {
  const text = renderTerminal(report, {
    width: Math.min(stdout.isTTY === true ? stdout.columns || WIDTH : WIDTH, WIDTH),
    color: wantsColor(stdout, env),
    unicode: unicodeTerminal(process.platform, env),
    verbose: where.verbose,
    project: where.project === '' ? 'evals' : where.project,
    root: where.root,
    ...(where.path === undefined ? {} : { reportPath: where.path }),
  })
  stdout.write(`${text.split('\n').map(harmless).join('\n')}\n\n`)
}
