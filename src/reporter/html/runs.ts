import { lstatSync } from 'node:fs'
import { constants, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** One run below `.evals`, as far as its folder tells. */
export interface ListedRun {
  readonly runId: string
  /** Null where the manifest is missing or cannot be read. */
  readonly manifest: Manifest | null
  readonly reports: readonly ListedReport[]
}

export interface ListedReport {
  /** File in the run's folder of reports, without its extension. */
  readonly name: string
  readonly campaignId: string
  readonly verdict: z.infer<typeof Verdict>
  /** Which of its renderings are there. */
  readonly files: { readonly html: boolean; readonly md: boolean }
}

const Manifest = z.object({
  project: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  end: z.string().nullable(),
  policy: z.object({ traffic: z.string(), reason: z.string() }),
  commit: z.object({ sha: z.string().nullable(), dirty: z.boolean() }),
  campaigns: z.array(
    z.object({ campaignId: z.string(), planned: z.number(), recorded: z.number(), skipped: z.boolean() }),
  ),
})
export type Manifest = z.infer<typeof Manifest>

const Verdict = z.object({ word: z.string(), gate: z.string(), outcome: z.string().nullable(), headline: z.string() })
const Report = z.object({ campaignId: z.string(), verdict: Verdict })

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
/** Runs whose folders are read, the newest. */
const READ = 100
const LARGEST = 64 * 1024 * 1024

/** The newest runs of an `.evals` folder, newest first, and how many older ones there are. No link is followed. */
export async function listRuns(
  evals: string,
): Promise<{ readonly runs: readonly ListedRun[]; readonly older: number }> {
  const entries = await readdir(evals, { withFileTypes: true })
  // A run's id begins with its instant: the order of names is that of time.
  const ids = entries
    .filter((entry) => entry.isDirectory() && RUN_ID.test(entry.name))
    .map(({ name }) => name)
    .filter((name) => isFile(join(evals, name, 'journal.jsonl')))
    .sort()
    .reverse()
  const runs: ListedRun[] = []
  for (const runId of ids.slice(0, READ)) runs.push(await runOf(join(evals, runId), runId))
  return { runs, older: Math.max(0, ids.length - READ) }
}

async function runOf(dir: string, runId: string): Promise<ListedRun> {
  const manifest = Manifest.safeParse(await readJson(join(dir, 'manifest.json')))
  const folder = join(dir, 'reports')
  const reports: ListedReport[] = []
  for (const name of (await namesIn(folder)).sort()) {
    if (!name.endsWith('.json')) continue
    const report = Report.safeParse(await readJson(join(folder, name)))
    if (!report.success) continue
    const stem = name.slice(0, -'.json'.length)
    const files = { html: isFile(join(folder, `${stem}.html`)), md: isFile(join(folder, `${stem}.md`)) }
    reports.push({ name: stem, ...report.data, files })
  }
  return { runId, manifest: manifest.success ? manifest.data : null, reports }
}

async function namesIn(folder: string): Promise<string[]> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return readdir(folder)
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Null for what is not there, is no JSON, or is too large to be ours. */
async function readJson(path: string): Promise<unknown> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.size > LARGEST) return null
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return JSON.parse(await file.readFile('utf8'))
  } catch {
    return null
  } finally {
    await file.close()
  }
}
