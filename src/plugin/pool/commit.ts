import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RunFacts } from '../control.ts'

const run = promisify(execFile)

/** The commit that is checked out at `root` and whether the work tree differs from it; sha null outside a repository. */
export async function readCommit(root: string): Promise<RunFacts['commit']> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: root, timeout: 5_000, maxBuffer: 16 * 1024 * 1024 })).stdout
  try {
    const sha = (await git('rev-parse', 'HEAD')).trim()
    return { sha, dirty: (await git('status', '--porcelain', '--untracked-files=no')).trim() !== '' }
  } catch {
    // No git, no repository or no commit yet: unknown, and not an error of the run.
    return { sha: null, dirty: false }
  }
}
