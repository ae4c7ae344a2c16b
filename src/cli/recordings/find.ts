import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SHARED_NAME } from '../../core/traffic/shared.ts'
import { BODIES, RECORDINGS } from '../../plugin/replay/path.ts'

/** The recordings beside the eval files of one folder. */
export interface Recordings {
  /** The `__recordings__` folder. */
  readonly folder: string
  /** Paths of files that stand where a cell's recording does: campaign/variant/scenario/seed. */
  readonly files: readonly string[]
  /** Paths of bodies that recordings share. */
  readonly bodies: readonly string[]
  /** What does not belong there, with the reason. */
  readonly strange: readonly string[]
}

const NOT_SEARCHED = new Set(['node_modules', '.git', '.evals', 'dist'])

/** Every `__recordings__` folder below `root`, in the order of their paths. No link is followed. */
export async function findRecordings(root: string): Promise<Recordings[]> {
  const found: Recordings[] = []
  async function search(folder: string): Promise<void> {
    const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      if (!entry.isDirectory() || NOT_SEARCHED.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.name === RECORDINGS) found.push(await contents(path))
      else await search(path)
    }
  }
  await search(root)
  return found
}

/** Folders between `__recordings__` and a recording. */
const DEPTH = 3

async function contents(folder: string): Promise<Recordings> {
  const files: string[] = []
  const bodies: string[] = []
  const strange: string[] = []
  async function descend(at: string, depth: number): Promise<void> {
    const entries = (await readdir(at, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(at, entry.name)
      const shared = depth === 0 && entry.name === BODIES
      if (entry.isSymbolicLink()) strange.push(`${path} is a symbolic link, and links are not followed: remove it`)
      else if (entry.isDirectory() && shared) await collectBodies(path)
      else if (entry.isDirectory() && depth < DEPTH) await descend(path, depth + 1)
      else if (entry.isFile() && depth === DEPTH && /^-?\d+\.jsonl$/.test(entry.name)) files.push(path)
      else if (entry.isFile() && /^\..*\.tmp$/.test(entry.name))
        strange.push(`${path} was left by a run that died: remove it`)
      else strange.push(`${path} is no recording and no folder of one`)
    }
  }
  async function collectBodies(at: string): Promise<void> {
    for (const name of (await readdir(at)).sort()) {
      const path = join(at, name)
      const stats = await lstat(path)
      if (stats.isFile() && SHARED_NAME.test(name)) bodies.push(path)
      else strange.push(`${path} is no body of a recording`)
    }
  }
  await descend(folder, 0)
  return { folder, files, bodies, strange }
}
