import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Registration } from '../../core/prereg/registration.ts'

const run = promisify(execFile)

/** Whether a file stands committed in its repository as it is, and since when. Works without git: then nobody knows. */
export async function committedSince(path: string): Promise<Registration['commit']> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: dirname(path), timeout: 10_000, maxBuffer: 16 * 1024 * 1024 })).stdout.trim()
  const unknown = (state: Registration['commit']['state']): Registration['commit'] => ({ state, sha: null, at: null })
  try {
    // The last commit of a shallow clone looks as if it had made every file.
    if ((await git('rev-parse', '--is-shallow-repository')) === 'true') return unknown('shallow')
    const status = await git('status', '--porcelain', '--ignored', '--', path)
    if (status.startsWith('??') || status.startsWith('!!')) return unknown('untracked')
    if (status !== '') return unknown('changed')
    const [sha = '', seconds = ''] = (await git('log', '-1', '--format=%H %ct', '--', path)).split(' ')
    if (sha === '') return unknown('untracked')
    return { state: 'committed', sha, at: new Date(Number(seconds) * 1000).toISOString() }
  } catch {
    return unknown('no-repository')
  }
}
