import { closeSync, constants, openSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AcceptedRecords, parseAccepted } from '../core/accepted/format.ts'
import { segmentOf } from '../core/campaign/segment.ts'
import { journalLines } from '../core/journal/read.ts'
import {
  type RecordedCampaign,
  type RecordedRun,
  type RecordPlace,
  recordedRun,
  type UnknownBill,
} from '../core/journal/recorded.ts'
import type { RunRecord } from '../core/record/record.ts'
import { runBudgetText } from '../core/report/budget.ts'
import { buildReport } from '../core/report/build.ts'
import { leavesOut } from '../core/report/exit.ts'
import type { CampaignMaterial } from '../core/report/material.ts'
import type { CampaignReport } from '../core/report/report.ts'
import { cellTraffic } from '../plugin/pool/cell-traffic.ts'
import { readLabels } from '../plugin/pool/labels.ts'
import { type CliContext, CliError } from './command.ts'
import { realPath, shown } from './project.ts'
import type { FoundRun } from './run-folder.ts'

/** A run read back from its journal. */
export interface OpenRun extends FoundRun {
  readonly recorded: RecordedRun
  /** The records of a campaign as text, in the order of the plan. */
  texts(campaign: RecordedCampaign): Iterable<string>
  records(campaign: RecordedCampaign): Iterable<RunRecord>
  /** Cells that bought something, and whose bill nobody knows. */
  unknownBills(campaign: RecordedCampaign): Iterable<UnknownBill>
  /** What the run's own verdict was computed from gives the same report again, with the labels of today. */
  report(campaign: RecordedCampaign): CampaignReport
  /** What that report is computed from, down to the exchanges. */
  material(campaign: RecordedCampaign): CampaignMaterial
  close(): void
}

const PIECE = 1 << 20

/**
 * @throws CliError where the journal is damaged or is none
 */
export async function openRun(context: CliContext, found: FoundRun): Promise<OpenRun> {
  const handle = openSync(found.journal, constants.O_RDONLY | constants.O_NOFOLLOW)
  const read = ({ offset, length }: RecordPlace): Buffer => {
    const line = Buffer.alloc(length)
    readSync(handle, line, 0, length, offset)
    return line
  }
  try {
    const name = shown(context, found.journal)
    const recorded = recordedRun(journalLines(piecesOf(handle), name), name)
    const baselines = await readBaselines(context, found, recorded)
    return {
      ...found,
      recorded,
      *texts(campaign) {
        for (const { text } of campaign.records(read)) yield text
      },
      records: (campaign) => recordsOf(campaign, read),
      unknownBills: (campaign) => campaign.unknownBills(read),
      report: (campaign) => {
        // People label what a run has given: their words are read anew.
        const { labels, problems } = readLabels(found.root, campaign.plan)
        return buildReport({
          plan: campaign.plan,
          fingerprint: campaign.fingerprint,
          records: recordsOf(campaign, read),
          problems: [...campaign.problemsOf(read), ...problems],
          labels,
          accepted: baselines.get(campaign.plan.campaignId) ?? null,
          prereg: campaign.registration,
          looks: campaign.look,
          budget: campaign.budget,
          capacity: campaign.capacity,
        })
      },
      material: (campaign) => ({
        runId: recorded.run.runId,
        plan: campaign.plan,
        accepted: baselines.get(campaign.plan.campaignId) ?? null,
        records: () => recordsOf(campaign, read),
        traffic: (record) => cellTraffic(found.dir, found.root, campaign.plan, record),
      }),
      close: () => closeSync(handle),
    }
  } catch (error) {
    closeSync(handle)
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** What the run was compared with: its own copies, whatever became of the committed files since. */
async function readBaselines(
  context: CliContext,
  { dir }: FoundRun,
  { campaigns }: RecordedRun,
): Promise<ReadonlyMap<string, AcceptedRecords>> {
  const found = new Map<string, AcceptedRecords>()
  for (const { plan, accepted } of campaigns) {
    if (accepted === null) continue
    const path = await realPath(dir, join('accepted', `${segmentOf(plan.campaignId)}.jsonl`))
    if (path === null) {
      throw new CliError(
        `${shown(context, dir)} lacks its copy of ${accepted.file}: its verdict cannot be computed again`,
      )
    }
    const baseline = parseAccepted(await readFile(path, 'utf8'), shown(context, path))
    if (baseline.digest !== accepted.digest) {
      throw new CliError(`${shown(context, path)} is not what the run was compared with: it was edited since`)
    }
    found.set(plan.campaignId, baseline)
  }
  return found
}

function* recordsOf(campaign: RecordedCampaign, read: (place: RecordPlace) => Buffer): Generator<RunRecord> {
  for (const { record } of campaign.records(read)) yield record
}

function* piecesOf(handle: number): Generator<Buffer> {
  const piece = Buffer.alloc(PIECE)
  for (let at = 0; ; ) {
    const length = readSync(handle, piece, 0, PIECE, at)
    if (length === 0) return
    at += length
    yield piece.subarray(0, length)
  }
}

/** Why this run is red whatever its reports say. */
export function runProblems({ recorded: { end, problems } }: OpenRun): string[] {
  return [
    ...problems.filter(leavesOut).map(({ text }) => text),
    ...(end === 'finished' ? [] : [`the run did not reach its end (${end ?? 'it was killed, or it still goes on'})`]),
  ]
}

/** What a reader of this run must know before its reports. */
export function runNotes({ recorded }: OpenRun): string[] {
  const { budget, end, continuedBy, repaired, fencedOff, problems, campaigns } = recorded
  return [
    ...(repaired === null ? [] : [`the journal's last line was cut off while it was written; it does not count`]),
    ...(fencedOff === 0
      ? []
      : [`${fencedOff} lines do not count: they were written after another run had taken the folder over`]),
    ...(end === null ? ['the run has no end: it was killed, or it still goes on'] : []),
    ...(continuedBy === null ? [] : [`run ${continuedBy} went on with it`]),
    ...problems.map(({ text }) => text),
    ...(budget === null ? [] : [runBudgetText(budget)]),
    ...campaigns.flatMap(({ plan: { campaignId }, skipped, partial }) =>
      skipped
        ? [`campaign ${campaignId}: skipped (.skip or another campaign's .only)`]
        : partial === null
          ? []
          : [`campaign ${campaignId}: ${partial}`],
    ),
  ]
}
