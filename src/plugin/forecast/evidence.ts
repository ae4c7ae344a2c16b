import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CampaignPlan, PlannedCell } from '../../core/campaign/plan.ts'
import { segmentOf } from '../../core/campaign/segment.ts'
import type { SeenCell } from '../../core/capacity/seen-cells.ts'
import { decodeLine, recordTextOf } from '../../core/journal/line.ts'
import type { PriceOverrides } from '../../core/record/cost.ts'
import { RunRecord } from '../../core/record/record.ts'
import { toMicroUsd } from '../../core/record/usage.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import type { ForecastSource } from '../../core/report/run-forecast.ts'
import { decodeRecording } from '../../core/traffic/format.ts'
import { cellTraffic } from '../pool/cell-traffic.ts'
import { RUN_ID } from '../pool/earlier-runs.ts'
import { readManifest } from '../pool/manifest.ts'
import { RUNS } from '../pool/run-folder.ts'
import { findRecording, readFound, readShared } from '../replay/disk.ts'
import { RECORDINGS, recordingPlace } from '../replay/path.ts'

/** Earlier runs that are looked through, the newest first. */
const LOOKED_AT = 20
/** Of those, runs of the campaign whose records are read: a new variant is in none of them, and the run waits. */
const READ = 5
/** Cells of a variant that are looked at: more of them tell little more, and the run waits for it. */
const SAMPLE = 30
/** Of a file of records, bytes that are read. */
const MOST_BYTES = 16 << 20

export interface EvidenceOptions {
  /** Absolute root of the project. */
  readonly root: string
  readonly project: string
  /** The run that asks; null: none. */
  readonly runId: string | null
  readonly prices: PriceOverrides
  /** Whose cells are wanted. */
  readonly variants: Iterable<string>
}

/** What is known of how cells of a campaign ran before. */
export interface Evidence {
  readonly cells: readonly SeenCell[]
  readonly sources: readonly ForecastSource[]
  /** The newest report of it. */
  readonly report: CampaignReport | null
}

/**
 * How cells of the campaign ran before: the newest runs that have some, and for variants that none of them has the
 * recordings that are committed. What cannot be read is passed over: it leaves a number unknown, and no run waits for it.
 */
export async function evidenceOf(
  plan: CampaignPlan,
  fingerprint: string,
  planned: Iterable<PlannedCell>,
  options: EvidenceOptions,
): Promise<Evidence> {
  const cells: SeenCell[] = []
  const sources: ForecastSource[] = []
  const lacking = new Set(options.variants)
  let report: CampaignReport | null = null
  let read = 0
  const take = (seen: readonly SeenCell[], source: Omit<ForecastSource, 'cells'>): void => {
    if (seen.length === 0) return
    cells.push(...seen)
    sources.push({ ...source, cells: seen.length })
    for (const { variantId } of seen) lacking.delete(variantId)
  }
  for (const { runId, dir } of await earlierRuns(options)) {
    if (lacking.size === 0 && report !== null) break
    const manifest = await readManifest(join(dir, 'manifest.json'))
    if (manifest?.project !== options.project) continue
    const campaign =
      manifest.campaigns.find(({ campaignId }) => campaignId === plan.campaignId) ??
      (manifest.end === null ? plannedIn(dir, plan.campaignId) : undefined)
    if (campaign === undefined) continue
    report ??= await reportOf(dir, plan.campaignId)
    if (lacking.size === 0 || read++ >= READ) continue
    const seen = await seenInRun(dir, plan, lacking, options)
    take(seen, { kind: 'run', runId, changed: campaign.fingerprint !== fingerprint })
  }
  if (lacking.size > 0) {
    const seen = await seenInRecordings(plan, planned, lacking, options)
    take(seen, { kind: 'recordings', runId: null, changed: false })
  }
  return { cells, sources, report }
}

async function earlierRuns({ root, runId: own }: EvidenceOptions): Promise<{ runId: string; dir: string }[]> {
  const runs = join(root, RUNS)
  // Without one there was no run.
  const entries = await readdir(runs, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name) && entry.name !== own)
    .map(({ name }) => name)
    .sort()
    .reverse()
    .slice(0, LOOKED_AT)
    .map((runId) => ({ runId, dir: join(runs, runId) }))
}

async function reportOf(dir: string, campaignId: string): Promise<CampaignReport | null> {
  const { CampaignReportSchema } = await import('../../core/report/schema.ts')
  try {
    const text = await readFile(join(dir, 'reports', `${segmentOf(campaignId)}.json`), 'utf8')
    return CampaignReportSchema.parse(JSON.parse(text)) as CampaignReport
  } catch {
    return null
  }
}

async function seenInRun(
  dir: string,
  plan: CampaignPlan,
  wanted: ReadonlySet<string>,
  { root, prices }: EvidenceOptions,
): Promise<SeenCell[]> {
  // With it comes the price list.
  const { seenInExchanges, seenInRecord } = await import('../../core/record/seen-cell.ts')
  const byVariant = new Map<string, unknown[]>()
  const ofCampaign = `"campaignId":${JSON.stringify(plan.campaignId)}`
  const ofVariants = Array.from(wanted, (id) => `"variantId":${JSON.stringify(id)}`)
  for (const line of recordsIn(dir)) {
    // Most of the time goes into parsing what nobody wants.
    if (!line.includes(ofCampaign) || !ofVariants.some((variant) => line.includes(variant))) continue
    const record = parsed(line)
    if (record?.campaignId !== plan.campaignId || !wanted.has(record.variantId)) continue
    // What ended otherwise may not have called all it would have.
    if (record.status !== 'scored' && record.status !== 'task_fail') continue
    const own = byVariant.get(record.variantId)
    if (own === undefined) byVariant.set(record.variantId, [record])
    else own.push(record)
  }
  const seen: SeenCell[] = []
  for (const found of byVariant.values()) {
    for (const each of sampled(found)) {
      const read = RunRecord.safeParse(each)
      if (!read.success) continue
      const record = read.data
      const alone = seenInRecord(record)
      if (alone !== null) {
        seen.push(alone)
        continue
      }
      const { parts } = cellTraffic(dir, root, plan, record)
      const exchanges = parts.filter(({ attempt }) => attempt === null || attempt === record.attempts)
      const whole = seenInExchanges(
        record.variantId,
        exchanges.flatMap((part) => part.exchanges),
        prices,
      )
      const calls = whole.uses.reduce((sum, use) => sum + use.calls, 0)
      const { subject, judge, setup } = record.calls
      seen.push(calls < subject + judge + setup ? countedOf(record) : whole)
    }
  }
  return seen
}

/** Its captures are gone: how often each role called, and what it cost, the record still says. */
function countedOf({ variantId, lane, calls, cost }: RunRecord): SeenCell {
  const part = (role: 'subject' | 'judge' | 'setup', usd: number | null) => ({
    lane: role === 'subject' ? lane : null,
    role,
    calls: calls[role],
    tokens: null,
    ms: null,
    microUsd: usd === null ? null : toMicroUsd(usd),
  })
  const { usd, subjectUsd, judgeUsd } = cost
  const setupUsd = usd === null || subjectUsd === null || judgeUsd === null ? null : usd - subjectUsd - judgeUsd
  const uses = [part('subject', subjectUsd), part('judge', judgeUsd), part('setup', setupUsd)]
  return { variantId, uses: uses.filter((use) => use.calls > 0), ms: null }
}

async function seenInRecordings(
  plan: CampaignPlan,
  planned: Iterable<PlannedCell>,
  wanted: ReadonlySet<string>,
  { root, prices }: EvidenceOptions,
): Promise<SeenCell[]> {
  const { campaignId } = plan
  const byVariant = new Map<string, { path: string; recordings: string }[]>()
  for (const { variant, scenario, seed } of planned) {
    if (!wanted.has(variant.id)) continue
    const own = byVariant.get(variant.id) ?? []
    byVariant.set(variant.id, own)
    if (own.length >= SAMPLE) continue
    const place = recordingPlace(resolve(root, plan.file), {
      campaignId,
      variantId: variant.id,
      scenarioId: scenario.id,
      seed,
    })
    const path = found(() => findRecording(place))
    if (path !== null) own.push({ path, recordings: join(place.base, RECORDINGS) })
  }
  const seen: SeenCell[] = []
  const { seenInExchanges } = await import('../../core/record/seen-cell.ts')
  for (const [variantId, own] of byVariant) {
    for (const { path, recordings } of own) {
      try {
        const { value } = decodeRecording(await readFound(path), path, (name) => readShared(recordings, name))
        seen.push(seenInExchanges(variantId, value.exchanges, prices))
      } catch {
        // A recording that cannot be read fails its cell, which says why.
      }
    }
  }
  return seen
}

/** The text of each record: of a run that was killed its journal alone has them, and a cell that ran again more than one. */
function* recordsIn(dir: string): Generator<string> {
  const records = linesOf(join(dir, 'records.jsonl'))
  if (records.length > 0) yield* records
  else for (const line of linesOf(join(dir, 'journal.jsonl'))) yield recordTextOf(Buffer.from(line)) ?? ''
}

/** What a run that was killed had planned of the campaign, which its manifest does not say. */
function plannedIn(dir: string, campaignId: string): { readonly fingerprint: string } | undefined {
  for (const line of linesOf(join(dir, 'journal.jsonl'))) {
    if (!line.includes('"entry":{"kind":"plan"')) continue
    const entry = found(() => decodeLine(Buffer.from(line)).entry)
    if (entry?.kind === 'plan' && entry.plan.campaignId === campaignId) return entry
  }
  return undefined
}

/** Evenly over all of them. */
function* sampled<T>(all: readonly T[]): Generator<T> {
  const step = Math.max(1, all.length / SAMPLE)
  for (let at = 0; at < all.length; at += step) {
    const one = all[Math.floor(at)]
    if (one !== undefined) yield one
  }
}

interface Line {
  readonly campaignId: string
  readonly variantId: string
  readonly status: string
}

function parsed(line: string): Line | null {
  try {
    return JSON.parse(line) as Line | null
  } catch {
    return null
  }
}

/** The lines of a file, as far as it is read; none where it is not there or is a link. */
function linesOf(path: string): string[] {
  return (
    found(() => {
      const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        const bytes = Buffer.alloc(Math.min(MOST_BYTES, fstatSync(handle).size))
        let length = 0
        for (let read = -1; read !== 0 && length < bytes.length; length += read) {
          read = readSync(handle, bytes, length, bytes.length - length, length)
        }
        const lines = bytes.toString('utf8', 0, length).split('\n')
        // Empty after a whole line, and a part of one where more was there.
        lines.pop()
        return lines
      } finally {
        closeSync(handle)
      }
    }) ?? []
  )
}

function found<T>(look: () => T | null): T | null {
  try {
    return look()
  } catch {
    return null
  }
}
