import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { glob } from 'tinyglobby'

const run = promisify(execFile)

/** Digests of the files that patterns name below a folder, by path. A pattern that names none is part of the answer. */
export async function digestFiles(
  folder: string,
  patterns: readonly string[],
): Promise<{ readonly [path: string]: string }> {
  const paths = await glob([...patterns], {
    cwd: folder,
    dot: true,
    followSymbolicLinks: false,
    expandDirectories: false,
  })
  const digests: Record<string, string> = {}
  for (const path of paths.sort()) digests[path] = sha256(await readFile(join(folder, path)))
  for (const pattern of patterns) if (paths.length === 0) digests[pattern] = 'missing'
  return digests
}

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

/**
 * The id of the tree of everything in the work tree that git does not ignore, committed or not; null outside of one.
 * Written into a store and an index of its own, so that the repository is only read.
 */
export async function workTree(folder: string): Promise<string | null> {
  const scratch = await mkdtemp(join(tmpdir(), 'vitest-campaign-tree-'))
  const git = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> =>
    (
      await run('git', args, { cwd: folder, timeout: 60_000, maxBuffer: 1 << 20, env: { ...process.env, ...env } })
    ).stdout.trim()
  try {
    const top = await git({}, 'rev-parse', '--show-toplevel')
    const objects = await git({}, 'rev-parse', '--path-format=absolute', '--git-path', 'objects')
    const env = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: scratch,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    }
    await git(env, '-C', top, 'add', '--all')
    return await git(env, '-C', top, 'write-tree')
  } catch {
    // No git, no work tree, or one that git cannot read: what would decide the result is not known.
    return null
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
