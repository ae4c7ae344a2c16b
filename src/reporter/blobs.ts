import { join } from 'node:path'
import { cellsOf } from '../core/campaign/cells.ts'
import { inFileOrder } from '../core/campaign/order.ts'
import type { CampaignPlan } from '../core/campaign/plan.ts'
import { segmentOf } from '../core/campaign/segment.ts'
import { digest, plan as planSchema } from '../core/journal/plan.ts'
import { RunRecord } from '../core/record/record.ts'
import { buildReport } from '../core/report/build.ts'
import type { CapacityBasis } from '../core/report/capacity.ts'
import type { CellTraffic } from '../core/report/material.ts'
import type { CampaignReport, Reason } from '../core/report/report.ts'
import type { FinishedRun } from '../core/report/run-source.ts'

/** What the last test of a campaign carries to other reporters, the blob one included. */
export interface CarriedPlan {
  readonly plan: CampaignPlan
  readonly fingerprint: string
}

interface Gathered extends CarriedPlan {
  readonly records: RunRecord[]
  readonly problems: Reason[]
}

type Task = { readonly meta?: object; readonly tasks?: readonly Task[] }
/** A file of a blob, as Vitest reads it. */
export type BlobFile = Task & { readonly projectName?: string | undefined }

/**
 * The runs that merged blob reports hold, computed from the records and plans that travel in `task.meta`: Vitest itself
 * keeps of the files that several shards ran only one.
 *
 * @param files of all blobs
 * @param root of the project: the files that reports name are below it
 */
export function runsOfBlobs(files: readonly BlobFile[], root: string): Pick<FinishedRun, 'runs' | 'red' | 'notes'> {
  const projects = new Map<string, Map<string, Gathered>>()
  const notes: string[] = []
  for (const file of files) {
    const project = file.projectName ?? ''
    const campaigns = projects.get(project) ?? new Map<string, Gathered>()
    projects.set(project, campaigns)
    notes.push(...gather(file, campaigns))
  }
  const runs: FinishedRun['runs'][number][] = []
  for (const [project, campaigns] of projects) {
    const reports: CampaignReport[] = []
    for (const { plan, fingerprint, records, problems } of inFileOrder(campaigns.values(), ({ plan }) => plan.file)) {
      inOrderOf(plan, records)
      if (plan.gate?.accepted != null) {
        notes.push(
          `campaign ${plan.campaignId} is compared with accepted records, which are in no blob: merge the run folders (npx vitest-campaign merge)`,
        )
        problems.push({ code: 'manifest_mismatch', text: 'its accepted records are in no blob report' })
      }
      reports.push(buildReport({ plan, fingerprint, records, problems, capacity: capacityOf(records) }))
    }
    if (reports.length > 0) runs.push(runOf(project, root, reports, campaigns))
  }
  return { runs, red: reports(runs).some(({ verdict }) => verdict.red) || notes.length > 0, notes }
}

/** What was asked of the lanes stands in the journals of the shards, and in no blob; where nothing was, there is nothing to say. */
function capacityOf(records: readonly RunRecord[]): CapacityBasis | null {
  const asked = records.some(
    ({ provenance, calls }) => provenance !== 'replayed' && calls.subject + calls.judge + calls.setup > 0,
  )
  return asked ? { lanes: null, refused: 'merged', failovers: new Map() } : null
}

const reports = (runs: FinishedRun['runs']): CampaignReport[] => runs.flatMap((run) => [...run.reports])

/** Takes the plans and records of a file; gives what is wrong with them. */
function gather(file: BlobFile, campaigns: Map<string, Gathered>): string[] {
  const notes: string[] = []
  const records: RunRecord[] = []
  for (const { meta } of testsOf(file)) {
    const { campaign } = Object(meta) as { readonly campaign?: unknown }
    if (campaign === undefined) continue
    const { record, carried } = Object(campaign) as { readonly record?: unknown; readonly carried?: unknown }
    if (carried !== undefined && carried !== null) notes.push(...takePlan(carried, campaigns))
    if (record === undefined || record === null) continue
    const read = RunRecord.safeParse(record)
    if (read.success) records.push(read.data)
    else notes.push('a record could not be read: was another version of vitest-campaign at work?')
  }
  for (const record of records) {
    const known = campaigns.get(record.campaignId)
    if (known === undefined) notes.push(`a record of campaign ${record.campaignId} has no plan beside it`)
    else known.records.push(record)
  }
  return [...new Set(notes)]
}

function takePlan(carried: unknown, campaigns: Map<string, Gathered>): string[] {
  const { plan, fingerprint } = Object(carried) as { readonly plan?: unknown; readonly fingerprint?: unknown }
  const read = planSchema.safeParse(plan)
  const own = digest.safeParse(fingerprint)
  if (!read.success || !own.success)
    return ['a plan could not be read: was another version of vitest-campaign at work?']
  const { campaignId } = read.data
  const known = campaigns.get(campaignId)
  if (known === undefined) {
    campaigns.set(campaignId, { plan: read.data, fingerprint: own.data, records: [], problems: [] })
  } else if (known.fingerprint !== own.data && known.problems.length === 0) {
    known.problems.push({
      code: 'manifest_mismatch',
      text: 'the blobs hold different versions of the campaign: its code, its definition or the lock file changed between them',
    })
  }
  return []
}

/** As a run writes them, whatever order the shards' blobs are read in; what is of no planned cell comes last. */
function inOrderOf(plan: CampaignPlan, records: RunRecord[]): void {
  const places = new Map(Array.from(cellsOf(plan), ({ cellId }, at) => [cellId, at]))
  const placeOf = ({ cellId }: RunRecord): number => places.get(cellId) ?? places.size
  records.sort((a, b) => placeOf(a) - placeOf(b))
}

function* testsOf(task: Task): Generator<Task> {
  if (task.tasks === undefined) yield task
  else for (const child of task.tasks) yield* testsOf(child)
}

/** Blobs hold records, and no exchanges. */
const UNTOLD: CellTraffic = { parts: [], notes: ["its exchanges are in the folder of its shard's run"] }

/** Renderings go to `.evals/merged`: there is no run, and no journal, behind them. */
function runOf(
  project: string,
  root: string,
  reports: readonly CampaignReport[],
  campaigns: ReadonlyMap<string, Gathered>,
): FinishedRun['runs'][number] {
  const dir = join(root, '.evals', 'merged')
  return {
    project,
    runDir: dir,
    root,
    policy: { traffic: 'merge', reason: '--merge-reports' },
    reports,
    reportPath: (campaignId, extension) => join(dir, 'reports', `${segmentOf(campaignId)}.${extension}`),
    outputPath: (file) => join(dir, file),
    records: (campaignId) => campaigns.get(campaignId)?.records ?? [],
    problems: [],
    github: null,
    material: (campaignId) => {
      const gathered = campaigns.get(campaignId)
      if (gathered === undefined) return null
      const { plan, records } = gathered
      return { runId: 'merged', plan, accepted: null, records: () => records, traffic: () => UNTOLD }
    },
  }
}
