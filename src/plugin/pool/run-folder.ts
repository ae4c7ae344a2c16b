import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentOf } from '../replay/path.ts'
import { writeAtomic } from './atomic-file.ts'

/** `.evals/<runId>/`: everything one run writes. */
export interface RunFolder {
  readonly runId: string
  readonly dir: string
  readonly journal: string
  readonly records: string
  readonly manifest: string
  report(campaignId: string, extension: 'json' | 'md'): string
  /** Copy of the accepted records that the campaign was compared with. */
  accepted(campaignId: string): string
}

/** Creates the folder of a new run and points `.evals/latest` at it. */
export async function createRunFolder(root: string, now: Date): Promise<RunFolder> {
  const evals = join(root, '.evals')
  const runId = `${now.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')}-${randomBytes(3).toString('hex')}`
  const dir = join(evals, runId)
  await mkdir(join(dir, 'raw'), { recursive: true, mode: 0o700 })
  await mkdir(join(dir, 'reports'), { mode: 0o700 })
  await mkdir(join(dir, 'accepted'), { mode: 0o700 })
  // Written once: a user who wants run folders in the repository edits it.
  await writeFile(join(evals, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    },
  )
  await writeAtomic(join(evals, 'latest'), `${runId}\n`)
  return {
    runId,
    dir,
    journal: join(dir, 'journal.jsonl'),
    records: join(dir, 'records.jsonl'),
    manifest: join(dir, 'manifest.json'),
    accepted: (campaignId) => join(dir, 'accepted', `${segmentOf(campaignId)}.jsonl`),
    report: (campaignId, extension) => join(dir, 'reports', `${segmentOf(campaignId)}.${extension}`),
  }
}
