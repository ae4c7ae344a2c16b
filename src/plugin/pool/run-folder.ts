import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { segmentOf } from '../../core/campaign/segment.ts'
import type { ReportExtension, RunOutput } from '../../core/report/run-source.ts'
import { writeAtomic } from './atomic-file.ts'

/** The folder of all runs, below the project's root. */
export const RUNS = '.evals'

/** `.evals/<runId>/`: everything one run writes. */
export interface RunFolder {
  readonly runId: string
  readonly dir: string
  readonly journal: string
  readonly records: string
  readonly manifest: string
  readonly status: string
  report(campaignId: string, extension: ReportExtension): string
  output(file: RunOutput): string
  /** Copy of the accepted records that the campaign was compared with. */
  accepted(campaignId: string): string
}

/**
 * Creates the folder of a new run: two runs at once have two.
 *
 * @throws Error naming the folder and what keeps it from being made
 */
export async function createRunFolder(root: string, now: Date): Promise<RunFolder> {
  const evals = join(root, RUNS)
  try {
    return await create(evals, now)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `no run folder could be made in ${evals}: ${why}. Nothing was started; free the disk or its rights`,
      {
        cause: error,
      },
    )
  }
}

/** Makes the run the newest: call it when it has a journal. */
export function pointAt({ dir, runId }: RunFolder): Promise<void> {
  return writeAtomic(join(dirname(dir), 'latest'), `${runId}\n`)
}

async function create(evals: string, now: Date): Promise<RunFolder> {
  const runId = `${now.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')}-${randomBytes(3).toString('hex')}`
  const dir = join(evals, runId)
  // Not `recursive`: with that Node says of a disk that may only be read that the folder is missing.
  await mkdir(evals, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await mkdir(dir, { mode: 0o700 })
  await mkdir(join(dir, 'raw'), { mode: 0o700 })
  await mkdir(join(dir, 'reports'), { mode: 0o700 })
  await mkdir(join(dir, 'accepted'), { mode: 0o700 })
  // Written once: a user who wants run folders in the repository edits it.
  await writeFile(join(evals, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
  return {
    runId,
    dir,
    journal: join(dir, 'journal.jsonl'),
    records: join(dir, 'records.jsonl'),
    manifest: join(dir, 'manifest.json'),
    status: join(dir, 'status.json'),
    accepted: (campaignId) => join(dir, 'accepted', `${segmentOf(campaignId)}.jsonl`),
    output: (file) => join(dir, file),
    report: (campaignId, extension) => join(dir, 'reports', `${segmentOf(campaignId)}.${extension}`),
  }
}
