import { dirname, join } from 'node:path'
import { segmentOf } from '../core/campaign/segment.ts'
import { PREREG_SCHEMA } from '../core/prereg/hypothesis.ts'
import { termsOf } from '../core/prereg/terms.ts'
import { PREREG_END } from '../plugin/pool/registrations.ts'
import { readRecording, writeRecording } from '../plugin/replay/disk.ts'
import { chosen } from './campaigns.ts'
import { CliError, type Command } from './command.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { openRun } from './rebuild.ts'
import { findRun } from './run-folder.ts'

export const prereg: Command = {
  name: 'prereg',
  summary: 'register what a campaign is going to test, before there is data',
  positionals: ['<campaign>'],
  details: [
    'Writes <campaign>.prereg.json beside the eval file: the claim, and the terms of the campaign as it was planned in the',
    'newest run. Commit it before the run that decides. A run that executed nothing has a plan too:',
    "  npx vitest run --project evals -t '^$'",
  ],
  options: {
    claim: { type: 'string', value: '<text>', description: 'what is claimed, in words' },
    run: { type: 'string', value: '<run>', description: 'id or folder of the run; default: the newest' },
  },
  async run(context, args) {
    const claim = args.text('claim')?.trim() ?? ''
    if (claim === '')
      throw new CliError('--claim is missing: say what is claimed, for instance --claim "concise is no worse"')
    const root = await projectRoot(context, args)
    const run = await openRun(context, await findRun(context, root, args.text('run')))
    try {
      const [campaign] = chosen(run, args.positionals[0])
      if (campaign === undefined) return 2
      const { plan } = campaign
      if (plan.gate === null)
        throw new CliError(`campaign ${plan.campaignId} has no gate: there is nothing to register`)
      if ((await realPath(run.root, plan.file)) === null) {
        throw new CliError(
          `${plan.file} is not below ${shown(context, run.root)}: name the root of the project with --root`,
        )
      }
      const place = {
        base: dirname(join(run.root, plan.file)),
        folders: [],
        file: `${segmentOf(plan.campaignId)}${PREREG_END}`,
      }
      const path = shown(context, join(place.base, place.file))
      if ((await readRecording(place)) !== null) {
        throw new CliError(
          `${path} is there already: a registration is not written over; remove it if no data was seen`,
        )
      }
      const registered = { schema: PREREG_SCHEMA, campaign: plan.campaignId, claim, terms: termsOf(plan) }
      await writeRecording(place, `${JSON.stringify(registered, null, 2)}\n`)
      context.stdout.write(`registered ${plan.campaignId}: ${path}; commit it before the run that decides\n`)
      return 0
    } finally {
      run.close()
    }
  },
}
