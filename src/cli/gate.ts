import { type ExitCode, exitCodeOfRun } from '../core/report/exit.ts'
import { inline } from '../reporter/inline.ts'
import { chosen } from './campaigns.ts'
import type { Command } from './command.ts'
import { note } from './note.ts'
import { projectRoot } from './project.ts'
import { openRun, runNotes } from './rebuild.ts'
import { findRun } from './run-folder.ts'

export const gate: Command = {
  name: 'gate',
  summary: "print a run's verdict, and exit with its code",
  positionals: ['[run]'],
  details: [
    'The verdict is computed from the journal. [run] is the id of a run, its folder, or nothing for the newest.',
    '',
    'exit code 0: ship, or in a pr gate nothing shown wrong',
    '          1: regress',
    '          2: invalid, wrong usage, or nothing that could be decided on (a part of a campaign, no campaign)',
    '          3: too little evidence, where that is red',
    'Of several campaigns the gravest code: 2, then 1, then 3.',
  ],
  options: { campaign: { type: 'string', value: '<id>', description: 'the verdict of this campaign alone' } },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const run = await openRun(context, await findRun(context, root, args.positionals[0]))
    try {
      const campaigns = chosen(run, args.text('campaign')).filter(({ skipped }) => !skipped)
      const codes = campaigns.map((campaign): ExitCode => {
        const { campaignId } = campaign.plan
        if (campaign.partial !== null) {
          context.stdout.write(`FAIL  ${inline(campaignId)}: ${campaign.partial}\n`)
          return 2
        }
        const { word, headline, exitCode } = run.report(campaign).verdict
        context.stdout.write(`${word}  ${inline(campaignId)}: ${inline(headline)}\n`)
        return exitCode
      })
      for (const text of runNotes(run)) note(context, text)
      if (args.text('campaign') !== undefined) return exitCodeOfRun(codes, [], true)
      const finished = run.recorded.end === 'finished'
      if (!finished)
        note(
          context,
          'campaigns that it had not come to are missing from it: run it again, or name one with --campaign',
        )
      return exitCodeOfRun(codes, run.recorded.problems, finished)
    } finally {
      run.close()
    }
  },
}
