import { constants, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalFile } from '../../core/journal/append.ts'

/**
 * Creates a journal, readable by its owner alone. It must not exist: one file has one writer.
 *
 * @param allowed called before every write; what it throws fails the write
 * @throws Error (`EEXIST`, `ENOENT`, `EACCES`, …) naming the path
 */
export async function openJournalFile(path: string, allowed: () => void = () => {}): Promise<JournalFile> {
  const handle = await open(path, 'ax', 0o600)
  try {
    await syncFolder(dirname(path))
  } catch (error) {
    await handle.close()
    throw error
  }
  return journalFile(handle, allowed)
}

/**
 * Opens the journal of an earlier run, cut where its last whole line ends.
 *
 * @param intactBytes as `readJournal` found them
 */
export async function reopenJournalFile(path: string, intactBytes: number, allowed: () => void): Promise<JournalFile> {
  const handle = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW)
  try {
    allowed()
    await handle.truncate(intactBytes)
  } catch (error) {
    await handle.close()
    throw error
  }
  return journalFile(handle, allowed)
}

function journalFile(handle: FileHandle, allowed: () => void): JournalFile {
  return {
    async write(data) {
      allowed()
      writeAll(handle, data)
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  }
}

/**
 * One write call may take only a part, on a nearly full disk for instance. It goes to the page cache: what the disk takes
 * is waited for in `sync`, and a way through the thread pool takes ten times as long as the call.
 */
function writeAll({ fd }: FileHandle, data: Buffer): void {
  for (let rest = data; rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest))
}

/** Without this the data would survive a power cut and the file's name might not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be opened there
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
