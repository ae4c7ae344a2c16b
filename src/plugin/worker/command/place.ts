import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'

/** Folder of a run in which each command has one of its own while it runs. */
export const SCRATCH = 'scratch'

/**
 * The real folder that a path names below the project, absolute.
 *
 * @throws Error where it is missing, or leads out of the project: by `..`, or by a symbolic link
 */
export async function folderIn(root: string, path: string): Promise<string> {
  const refuse = (problem: string): never => {
    throw new Error(`command: cwd ${JSON.stringify(path)} ${problem}`)
  }
  const inside = join(root, path)
  if (isAbsolute(path) || leaves(relative(root, inside))) refuse('leaves the project: name a folder in it')
  const [top, real] = await Promise.all([realpath(root), realpath(inside).catch(() => refuse('is no folder'))])
  if (leaves(relative(top, real))) refuse('leads out of the project by a symbolic link')
  return real
}

/**
 * Writes the files of a command into a folder that is its own.
 *
 * @throws Error for a path that leaves the folder
 */
export async function writeFiles(
  folder: string,
  files: { readonly [path: string]: string | Uint8Array },
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [path, data] of Object.entries(files)) {
    const target = join(folder, path)
    const below = relative(folder, target)
    if (path === '' || path.includes('\0') || isAbsolute(path) || below === '' || leaves(below)) {
      throw new Error(`command: files has ${JSON.stringify(path)}, which is no path below the command's folder`)
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await writeFile(target, data, { flag: 'wx', mode: 0o600 })
  }
}

const leaves = (below: string): boolean => below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)
