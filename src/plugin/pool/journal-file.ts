import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JournalFile } from '../../core/journal/append.ts'

/**
 * Creates a journal, readable by its owner alone. It must not exist: one file has one writer.
 *
 * @throws Error (`EEXIST`, `ENOENT`, `EACCES`, …) naming the path
 */
export async function openJournalFile(path: string): Promise<JournalFile> {
  const handle = await open(path, 'ax', 0o600)
  try {
    await syncFolder(dirname(path))
  } catch (error) {
    await handle.close()
    throw error
  }
  return {
    write: (data) => writeAll(handle, data),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  }
}

/** One write call may take only a part, on a nearly full disk for instance. */
async function writeAll(handle: FileHandle, data: Buffer): Promise<void> {
  let rest = data
  while (rest.length > 0) {
    const { bytesWritten } = await handle.write(rest)
    rest = rest.subarray(bytesWritten)
  }
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
