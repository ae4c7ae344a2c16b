import { cp, lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digestOf } from '../core/campaign/identity.ts'
import type { CampaignPlan } from '../core/campaign/plan.ts'
import { createAppender } from '../core/journal/append.ts'
import type { EntryOf, JournalEntry } from '../core/journal/entry.ts'
import { type Merged, MergeError, mergeShards, type ShardRun } from '../core/journal/merge.ts'
import { readJournal } from '../core/journal/read.ts'
import { evidenceOf } from '../core/looks/evidence.ts'
import type { RunRecord } from '../core/record/record.ts'
import { openJournalFile } from '../plugin/pool/journal-file.ts'
import { LookLedger } from '../plugin/pool/look-ledger.ts'
import { claimFolder } from '../plugin/pool/owner.ts'
import { createRunFolder, pointAt } from '../plugin/pool/run-folder.ts'
import { changedRecordings, SELF_RECORDED, selfRecorded } from '../plugin/pool/self-recorded.ts'
import { thisProcess } from '../plugin/process-identity.ts'
import { type CliContext, CliError, type Command } from './command.ts'
import { note } from './note.ts'
import { projectRoot, realPath, shown } from './project.ts'
import { WRITING, writeRun } from './report.ts'
import { type FoundRun, findRun } from './run-folder.ts'

/** What of a shard's folder is not its journal and belongs to its cells. */
const KEPT = ['raw', 'outputs', 'artifacts', 'commands', 'accepted'] as const

export const merge: Command = {
  name: 'merge',
  summary: 'put the runs of all shards together into one run',
  positionals: ['<run>...'],
  details: [
    'Every <run> is the folder, or the id, of a run with `--shard <index>/<count>` or EVALS_SHARD. Writes a new run into',
    '.evals, with the reports that an unsharded run would have written, and makes it the newest: `gate`, `accept` and',
    '`compare` go on from there. Cells of a shard that is not named are not_run; a cell that two of them ran makes its',
    'campaign invalid.',
  ],
  options: WRITING,
  async run(context, args) {
    const root = await projectRoot(context, args)
    const found: FoundRun[] = []
    for (const given of args.positionals) found.push(await findRun(context, root, given))
    const shards: ShardRun[] = []
    for (const { journal, dir } of found) {
      const name = shown(context, dir)
      shards.push({ name, entries: readJournal(await readFile(journal), shown(context, journal)).entries })
    }
    const merged = joined(shards)
    const startedAt = new Date()
    const folder = await createRunFolder(root, startedAt)
    const ownership = await claimFolder({ dir: folder.dir, here: thisProcess(), now: () => new Date() })
    try {
      for (const { dir } of found) await copyKept(dir, folder.dir)
      const file = await openJournalFile(folder.journal, () => ownership.assert())
      const journal = createAppender(file, { name: folder.journal, fence: ownership.fence })
      journal.appendLazy({ ...merged.run, runId: folder.runId, startedAt: startedAt.toISOString() })
      for (const entry of merged.entries) journal.appendLazy(entry)
      for (const entry of await foundAnew(context, root, folder.runId, merged, shards)) journal.appendLazy(entry)
      journal.appendLazy({ kind: 'end', reason: merged.end })
      await journal.close()
    } finally {
      await ownership.release()
    }
    await pointAt(folder)
    if (merged.missing.length > 0) {
      note(context, `of shard ${merged.missing.join(', ')} there is no run: its cells are not_run`)
    }
    await writeRun(context, await findRun(context, root, folder.runId), args)
    return 0
  },
}

function joined(shards: readonly ShardRun[]): Merged {
  try {
    return mergeShards(shards)
  } catch (error) {
    if (error instanceof MergeError) throw new CliError(error.message, { cause: error })
    throw error
  }
}

/** Files of cells, from the folder of a shard into that of the whole; a cell's file is in one shard alone. */
async function copyKept(from: string, to: string): Promise<void> {
  for (const name of KEPT) {
    const source = await realPath(from, name)
    if (source === null) continue
    for (const entry of await readdir(source)) {
      if ((await lstat(join(source, entry))).isSymbolicLink()) continue
      await cp(join(source, entry), join(to, name, entry), { recursive: true, force: true, dereference: false })
    }
  }
}

/** What counts cells, over all of them. */
async function foundAnew(
  context: CliContext,
  root: string,
  runId: string,
  { entries, end }: Merged,
  shards: readonly ShardRun[],
): Promise<JournalEntry[]> {
  const records = lastRecords(entries)
  const found: JournalEntry[] = []
  const changed = await changedRecordings(root, context.env)
  for (const entry of entries) {
    if (entry.kind === 'plan' && !entry.skipped) {
      const own = records.filter(({ campaignId }) => campaignId === entry.plan.campaignId)
      found.push(...selfRecordings(entry.plan, own, root, changed, shards))
    }
    if (entry.kind === 'prereg' && end === 'finished') {
      const plan = entries.find((other) => other.kind === 'plan' && other.plan.campaignId === entry.campaignId)
      if (plan?.kind === 'plan') found.push(...(await lookOf(plan.plan, entry, records, root, runId)))
    }
  }
  return found
}

function lastRecords(entries: readonly JournalEntry[]): readonly RunRecord[] {
  const last = new Map<string, RunRecord>()
  for (const entry of entries) if (entry.kind === 'settled') last.set(entry.record.cellId, entry.record)
  return [...last.values()]
}

function selfRecordings(
  plan: CampaignPlan,
  records: readonly RunRecord[],
  root: string,
  changed: Awaited<ReturnType<typeof changedRecordings>>,
  shards: readonly ShardRun[],
): EntryOf<'problem'>[] {
  const { campaignId } = plan
  if (changed !== null) {
    const replayed = records.filter(
      ({ provenance, calls }) => provenance === 'replayed' && calls.subject + calls.judge > 0,
    )
    const text = selfRecorded(plan, replayed, root, changed)
    return text === null ? [] : [{ kind: 'problem', campaignId, code: SELF_RECORDED, text }]
  }
  // Without the history here, what each shard found about its own cells has to do.
  const said = shards.flatMap(({ entries }) => entries.filter((entry) => entry.kind === 'problem'))
  return said.filter((entry) => entry.campaignId === campaignId && entry.code === SELF_RECORDED)
}

/** Shards give no verdict, so that nobody has looked yet. */
async function lookOf(
  plan: CampaignPlan,
  { registration, campaignId }: EntryOf<'prereg'>,
  records: readonly RunRecord[],
  root: string,
  runId: string,
): Promise<EntryOf<'look'>[]> {
  if (plan.gate?.kind !== 'release') return []
  const evidence = evidenceOf(records.filter((record) => record.campaignId === campaignId))
  if (evidence.cells === 0) return []
  const look = await new LookLedger(root, plan).count(evidence, {
    prereg: digestOf(registration.terms, 'terms'),
    runId,
  })
  return [{ kind: 'look', campaignId, ...look }]
}
