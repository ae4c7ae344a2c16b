import { relative } from 'node:path'
import { comparedPlan } from '../core/accepted/as-accepted.ts'
import { differencesOf, incomparable } from '../core/accepted/differences.ts'
import type { AcceptedRecords } from '../core/accepted/format.ts'
import type { RecordedCampaign } from '../core/journal/recorded.ts'
import { buildReport } from '../core/report/build.ts'
import { inline } from '../reporter/inline.ts'
import { chosen } from './campaigns.ts'
import { type CliContext, CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { printReport } from './print.ts'
import { projectRoot } from './project.ts'
import { type OpenRun, openRun } from './rebuild.ts'
import { findRun } from './run-folder.ts'
import { ACCEPTED, readAccepted, recordsAsAccepted, sameCampaign, sideOf } from './side.ts'

export const compare: Command = {
  name: 'compare',
  summary: 'compare two runs of a campaign, or a run with accepted records',
  positionals: ['<a>', '<b>'],
  details: [
    'Compares each variant of <b> with the variant of the same name of <a>, scenario by scenario, with the statistics of',
    'a gate, and says what else differs between the two. Each is the id of a run, its folder, or "latest"; <a> may be',
    '"accepted" or the path of a file of accepted records. Nothing is written. The exit code is 0 where they can be',
    'compared, whatever comes out, and 2 where they cannot.',
  ],
  options: {
    campaign: { type: 'string', value: '<id>', description: 'compare this campaign alone; default: all of <b>' },
    verbose: { type: 'boolean', description: 'every line of a report; default at most 40' },
  },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const [first = '', second = ''] = args.positionals
    const run = await openRun(context, await findRun(context, root, second))
    let base: OpenRun | null = null
    try {
      const fromFile = first === ACCEPTED || first.endsWith('.jsonl')
      base = fromFile ? null : await openRun(context, await findRun(context, root, first))
      for (const campaign of chosen(run, args.text('campaign')).filter(({ skipped }) => !skipped)) {
        const partner = base === null ? null : sameCampaign(base, campaign)
        const before =
          base === null || partner === null
            ? await readAccepted(context, first, run, campaign)
            : recordsAsAccepted(base, partner)
        show(context, run, { campaign, partner, before, verbose: args.flag('verbose') })
      }
      return 0
    } finally {
      run.close()
      base?.close()
    }
  },
}

interface Compared {
  readonly campaign: RecordedCampaign
  /** The same campaign of the other run; null where it is a file of accepted records. */
  readonly partner: RecordedCampaign | null
  readonly before: AcceptedRecords
  readonly verbose: boolean
}

function show(context: CliContext, run: OpenRun, { campaign, partner, before, verbose }: Compared): void {
  const { plan, fingerprint } = campaign
  const after = recordsAsAccepted(run, campaign)
  const [a, b] = [sideOf(before, partner), sideOf(after, campaign)]
  const why = incomparable(a, b)
  if (why !== null) throw new CliError(`campaign ${plan.campaignId} of the two cannot be compared: ${why}`)
  const shared = plan.variants.map(({ id }) => id).filter((id) => a.variants.some((variant) => variant.id === id))
  const report = buildReport({
    plan: comparedPlan(plan, shared),
    fingerprint,
    records: after.records,
    problems: campaign.problems,
    accepted: before,
  })
  printReport(context, report, { project: run.recorded.run.project, root: relative(context.cwd, run.root), verbose })
  context.stdout.write(`what differs from ${inline(before.header.runId)} to ${inline(run.runId)}:\n`)
  for (const line of differencesOf(a, b)) context.stdout.write(`  ${inline(line)}\n`)
  context.stdout.write('\n')
  if (campaign.partial !== null) note(context, `campaign ${plan.campaignId}: ${campaign.partial}`)
}
