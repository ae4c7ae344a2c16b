import { randomBytes } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readFileSync } from 'node:fs'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SHARED_NAME } from '../../core/traffic/shared.ts'
import { BODIES, RECORDINGS, type RecordingPlace } from './path.ts'

/**
 * The text of the recording, or null where there is none.
 *
 * @throws Error when the file, or a folder on the way to it, is a symbolic link
 */
export async function readRecording(place: RecordingPlace): Promise<string | null> {
  const path = findRecording(place)
  return path === null ? null : readFound(path)
}

/** Folders that were looked for, and whether they are there. */
export type LookedFor = Map<string, boolean>

/**
 * The path of the recording, or null where there is none.
 *
 * @param lookedFor give the same one for many cells: they share their folders, and most of the time goes into these
 * @throws Error when the file, or a folder on the way to it, is a symbolic link
 */
export function findRecording(place: RecordingPlace, lookedFor: LookedFor = new Map()): string | null {
  const folder = descend(place, lookedFor)
  if (folder === null) return null
  const path = join(folder, place.file)
  return isThere(path, 'file') ? path : null
}

/** The text of a recording that was found. Synchronous: it is parsed at once, which takes longer than reading it. */
export function readFound(path: string): string {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

/**
 * The bytes of a body that recordings share, or null where it is not there.
 *
 * @param recordings the `__recordings__` folder
 * @throws Error when it, or a folder on the way to it, is a symbolic link
 */
export function readShared(recordings: string, name: string): Uint8Array | null {
  const folder = join(recordings, BODIES)
  const path = join(folder, name)
  if (
    !SHARED_NAME.test(name) ||
    !isThere(recordings, 'folder') ||
    !isThere(folder, 'folder') ||
    !isThere(path, 'file')
  ) {
    return null
  }
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return readFileSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Puts the recording into place whole, or not at all: temp file, fsync, rename; mode 0600. The bodies it shares with
 * others are there before it.
 */
export async function writeRecording(
  place: RecordingPlace,
  text: string,
  shared: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<void> {
  for (const [file, bytes] of shared) {
    const bodies = { base: place.base, folders: [RECORDINGS, BODIES], file }
    // Its name says what is in it; a damaged one is written again.
    const old = readShared(join(place.base, RECORDINGS), file)
    if (old === null || !Buffer.from(bytes).equals(old)) await writeWhole(bodies, bytes)
  }
  await writeWhole(place, text)
}

/**
 * Sees that a recording could be put there: afterwards it is paid for.
 *
 * @throws Error when a folder on the way is a symbolic link or no folder, or the innermost that is there may not be
 *   written to
 */
export async function checkWritable({ base, folders }: Pick<RecordingPlace, 'base' | 'folders'>): Promise<void> {
  let at = base
  for (const folder of folders) {
    const next = join(at, folder)
    if (!isThere(next, 'folder')) break
    at = next
  }
  try {
    await access(at, constants.W_OK | constants.X_OK)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`no recording could be written in ${at}: ${why}`, { cause: error })
  }
}

async function writeWhole(place: RecordingPlace, content: string | Uint8Array): Promise<void> {
  const folder = await folderOf(place)
  const path = join(folder, place.file)
  isThere(path, 'file')
  // Threads share their process's id: two eval files may write the same body at the same time.
  const temp = join(folder, `.${place.file}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(
      temp,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    )
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temp, path)
  } catch (error) {
    await rm(temp, { force: true })
    throw error
  }
}

/** Removes a recording that is no longer true: its cell was recorded again and made no call. */
export async function removeRecording(place: RecordingPlace): Promise<void> {
  const folder = descend(place, new Map())
  if (folder !== null) await rm(join(folder, place.file), { force: true })
}

/** The innermost folder, every step of the way a real folder; null where one is missing. */
function descend({ base, folders }: RecordingPlace, lookedFor: LookedFor): string | null {
  let at = base
  for (const folder of folders) {
    at = join(at, folder)
    const known = lookedFor.get(at)
    const there = known ?? isThere(at, 'folder')
    if (known === undefined) lookedFor.set(at, there)
    if (!there) return null
  }
  return at
}

/** The innermost folder, every step of the way a real folder, made where it is missing. */
export async function folderOf({ base, folders }: RecordingPlace): Promise<string> {
  let at = base
  for (const folder of folders) {
    at = join(at, folder)
    if (isThere(at, 'folder')) continue
    // Another worker may make it at the same moment.
    await mkdir(at, { recursive: true })
    isThere(at, 'folder')
  }
  return at
}

/** Synchronous: five looks per cell through the thread pool cost fifty times what they cost directly. */
function isThere(path: string, what: 'file' | 'folder'): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (stats.isSymbolicLink()) {
    throw new Error(
      `${path} is a symbolic link; what is committed is only read and written through real folders. Remove the link.`,
    )
  }
  if (what === 'file' ? !stats.isFile() : !stats.isDirectory()) {
    throw new Error(`${path} is no ${what}, and one belongs there. Move it away.`)
  }
  return true
}
