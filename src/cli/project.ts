import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type CliArguments, type CliContext, CliError } from './command.ts'

/**
 * The root of the eval project: `--root`, else where the user stands.
 *
 * @throws CliError when it is no folder
 */
export async function projectRoot(context: CliContext, args: CliArguments): Promise<string> {
  const root = resolve(context.cwd, args.text('root') ?? '.')
  const stats = await lstat(root).catch(() => null)
  if (stats?.isDirectory() === true) return root
  throw new CliError(`--root ${root} is ${stats === null ? 'not there' : 'no folder'}`)
}

/** A path as the user would type it from where they stand. */
export function shown(context: CliContext, path: string): string {
  const below = relative(context.cwd, path)
  return (below.length < path.length ? below : path).split(sep).join('/') || '.'
}

/**
 * `file` below `folder`; every step of the way down must be real. Null where something on the way is not there.
 *
 * @throws CliError for a path that leaves the folder, or meets a symbolic link
 */
export async function realPath(folder: string, file: string): Promise<string | null> {
  const steps = relative(folder, resolve(folder, file)).split(sep)
  if (steps[0] === '..' || isAbsolute(steps.join(sep))) throw new CliError(`${file} leads out of ${folder}`)
  let at = folder
  for (const step of steps) {
    at = join(at, step)
    const stats = await lstat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      throw error
    })
    if (stats === null) return null
    if (stats.isSymbolicLink()) throw new CliError(`${at} is a symbolic link, and links are not followed: remove it`)
  }
  return at
}
