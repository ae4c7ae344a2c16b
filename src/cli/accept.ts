import { join } from 'node:path'
import { obstaclesToAccept } from '../core/accepted/acceptable.ts'
import { AcceptedRecordsError, acceptedLines, parseAccepted } from '../core/accepted/format.ts'
import { headerOf } from '../core/accepted/header.ts'
import type { RecordedCampaign } from '../core/journal/recorded.ts'
import type { RunRecord } from '../core/record/record.ts'
import { createRedactor } from '../core/traffic/redact.ts'
import { baselineName, baselinePlace } from '../plugin/pool/baselines.ts'
import { readRecording, writeRecording } from '../plugin/replay/disk.ts'
import { chosen } from './campaigns.ts'
import { type CliContext, CliError, type Command } from './command.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { type OpenRun, openRun } from './rebuild.ts'
import { findRun } from './run-folder.ts'

export const accept: Command = {
  name: 'accept',
  summary: 'make the records of a run the accepted ones of a campaign',
  positionals: ['<campaign>'],
  details: [
    'Writes __baselines__/<campaign>.jsonl beside the eval file; commit it. A gate with `comparator: accepted()` compares',
    'later runs with it. Refused are runs that a gate would refuse: invalid, incomplete, red, interrupted, or a part of a',
    'campaign. A run that is red only because the accepted records of before no longer fit may be accepted.',
  ],
  options: { run: { type: 'string', value: '<run>', description: 'id or folder of the run; default: the newest' } },
  async run(context, args) {
    const root = await projectRoot(context, args)
    const run = await openRun(context, await findRun(context, root, args.text('run')))
    try {
      const [campaign] = chosen(run, args.positionals[0])
      if (campaign === undefined) return 2
      checkWhole(run, campaign)
      const obstacles = obstaclesToAccept(run.report(campaign), campaign.plan.gate?.accepted != null)
      if (obstacles.length > 0) throw refused(run, campaign, obstacles)
      const { rows, path } = await write(context, run, campaign)
      context.stdout.write(`accepted ${rows} records of run ${run.runId}: ${path}\n`)
      return 0
    } finally {
      run.close()
    }
  },
}

function refused({ runId }: OpenRun, { plan }: RecordedCampaign, why: readonly string[]): CliError {
  const list = why.length === 1 ? ` ${why[0]}` : `\n${why.map((text) => `  - ${text}`).join('\n')}`
  return new CliError(`campaign ${plan.campaignId} of run ${runId} cannot be accepted:${list}`)
}

function checkWhole(run: OpenRun, campaign: RecordedCampaign): void {
  const obstacles = [
    ...(campaign.skipped ? ['it was skipped'] : []),
    ...(campaign.partial === null ? [] : [campaign.partial]),
    ...(run.recorded.end === null ? ['the run did not reach its end: it was killed, or still goes on'] : []),
  ]
  if (obstacles.length > 0) throw refused(run, campaign, obstacles)
}

async function write(
  context: CliContext,
  run: OpenRun,
  campaign: RecordedCampaign,
): Promise<{ readonly rows: number; readonly path: string }> {
  const { plan, fingerprint } = campaign
  if ((await realPath(run.root, plan.file)) === null) {
    throw new CliError(
      `${plan.file} is not below ${shown(context, run.root)}: accepted records lie beside their eval file; name the root of the project with --root`,
    )
  }
  const place = baselinePlace(run.root, plan)
  await checkOwner(run, campaign)
  const redactor = createRedactor({ env: context.env })
  const records: RunRecord[] = []
  for (const record of run.records(campaign)) records.push(redactor.json(record).value)
  const header = headerOf(
    {
      campaignId: plan.campaignId,
      file: plan.file,
      runId: run.runId,
      startedAt: run.recorded.run.startedAt,
      commit: run.recorded.run.commit,
      fingerprint,
      scorerDigest: plan.scorerDigest,
      primary: plan.primary,
    },
    records,
  )
  const text = [...acceptedLines(header, records)].join('')
  const hits = redactor.scan(text)
  if (hits.length > 0) {
    throw new CliError(
      `nothing was written: a secret stands in the records (${hits.join(', ')}). Add a redact rule, and run again`,
    )
  }
  await writeRecording(place, text)
  return { rows: header.rows, path: shown(context, join(place.base, ...place.folders, place.file)) }
}

/** Accepted records of another campaign at this path are not overwritten; broken ones are. */
async function checkOwner({ root }: OpenRun, { plan }: RecordedCampaign): Promise<void> {
  const name = baselineName(plan)
  const text = await readRecording(baselinePlace(root, plan))
  if (text === null) return
  try {
    const { header } = parseAccepted(text, name)
    const moved = header.file === plan.file || (await realPath(root, header.file)) === null
    if (header.campaignId === plan.campaignId && moved) return
    throw new CliError(
      `${name} holds the accepted records of campaign ${JSON.stringify(header.campaignId)} in ${header.file}, and two campaigns cannot share them: rename one of the two`,
    )
  } catch (error) {
    if (!(error instanceof AcceptedRecordsError)) throw error
  }
}
