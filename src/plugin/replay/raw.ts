import { closeSync, constants, lstatSync, openSync, readFileSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'

/** The raw capture of one attempt at a cell: one line per live exchange, appended when it ends. */
export interface RawCapture {
  append(line: string): void
  /** Resolves when all lines are handed to the system. @throws the first error of writing, naming the file */
  close(): Promise<void>
}

const pathOf = (runDir: string, cellId: string, attempt: number) => join(runDir, 'raw', `${cellId}.${attempt}.jsonl`)

/** Attempts at one cell that are looked for: a run gives up long before. */
const MAX_ATTEMPTS = 16

/** The capture of the last attempt at a cell that made a live call; null where there is none. */
export function readCapture(runDir: string, cellId: string): { readonly path: string; readonly text: string } | null {
  for (let attempt = MAX_ATTEMPTS; attempt > 0; attempt--) {
    const found = readAttempt(runDir, cellId, attempt)
    if (found !== null) return found
  }
  return null
}

/** The capture of one attempt at a cell; null where it made no live call. */
export function readAttempt(
  runDir: string,
  cellId: string,
  attempt: number,
): { readonly path: string; readonly text: string } | null {
  const path = pathOf(runDir, cellId, attempt)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return { path, text: readFileSync(file, 'utf8') }
  } finally {
    closeSync(file)
  }
}

/** Nothing is created before the first line: most cells of a replayed run have none. */
export function rawCapture(runDir: string, cellId: string, attempt: number): RawCapture {
  const folder = join(runDir, 'raw')
  const path = pathOf(runDir, cellId, attempt)
  let file: FileHandle | null = null
  let failure: unknown = null
  let tail: Promise<void> = Promise.resolve()
  async function write(line: string): Promise<void> {
    if (file === null) {
      // Not recursive: a run folder that somebody deleted stays deleted.
      await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
      file = await open(path, flags, 0o600)
    }
    // One write per line: a process that dies leaves whole lines, and at most one torn at the end.
    await file.appendFile(line)
  }
  return {
    append(line) {
      tail = tail
        .then(() => (failure === null ? write(line) : undefined))
        .catch((error: unknown) => {
          failure ??= error
        })
    },
    async close() {
      await tail
      await file?.close()
      file = null
      if (failure !== null) {
        const why = failure instanceof Error ? failure.message : String(failure)
        throw new Error(
          `the raw capture ${path} could not be written: ${why}. Free the disk or its rights, and run again.`,
        )
      }
    },
  }
}
