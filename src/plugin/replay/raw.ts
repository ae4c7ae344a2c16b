import {
  appendFile,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const append = promisify(appendFile)

/** The raw capture of one attempt at a cell: a mark before each live request, a line per exchange when it ends. */
export interface RawCapture {
  /** Creates the file: a call that no mark stands before is about to leave. Where it cannot, `flush` says so. */
  open(): void
  /** Hands the line to the system before it returns. @throws Error naming the file */
  mark(line: string): void
  append(line: string): void
  /** As `append`, but handed to the system before it returns. */
  appendNow(line: string): void
  /** Resolves when all lines are handed to the system. @throws the first error of writing, naming the file */
  flush(): Promise<void>
  /** `flush`, and the end. */
  close(): Promise<void>
}

const pathOf = (runDir: string, cellId: string, attempt: number) => join(runDir, 'raw', `${cellId}.${attempt}.jsonl`)

/** Of each run folder that is replayed: the last attempt at each cell. A folder is looked through once. */
const lastAttempts = new Map<string, ReadonlyMap<string, number>>()

/** The capture of the last attempt at a cell that made a live call; null where there is none. */
export function readCapture(runDir: string, cellId: string): { readonly path: string; readonly text: string } | null {
  const known = lastAttempts.get(runDir) ?? attemptsIn(runDir)
  lastAttempts.set(runDir, known)
  const attempt = known.get(cellId)
  return attempt === undefined ? null : readAttempt(runDir, cellId, attempt)
}

/** The capture of one attempt at a cell; null where there is none. */
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

function attemptsIn(runDir: string): ReadonlyMap<string, number> {
  const attempts = new Map<string, number>()
  let names: string[] = []
  try {
    names = readdirSync(join(runDir, 'raw'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  for (const name of names) {
    const [, cellId, number] = /^([0-9a-f]{16})\.([1-9]\d*)\.jsonl$/.exec(name) ?? []
    if (cellId === undefined) continue
    attempts.set(cellId, Math.max(attempts.get(cellId) ?? 0, Number(number)))
  }
  return attempts
}

/** Nothing is created before the first call: most cells of a replayed run have none. */
export function rawCapture(runDir: string, cellId: string, attempt: number): RawCapture {
  const path = pathOf(runDir, cellId, attempt)
  let file: number | null = null
  let failure: unknown = null
  let tail: Promise<void> = Promise.resolve()
  function opened(): number {
    if (file !== null) return file
    makeFolder(join(runDir, 'raw'))
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
    file = openSync(path, flags, 0o600)
    return file
  }
  function unwritable(error: unknown): Error {
    const why = error instanceof Error ? error.message : String(error)
    return new Error(
      `the raw capture ${path} could not be written: ${why}. Free the disk or its rights, and run again.`,
    )
  }
  async function flush(): Promise<void> {
    await tail
    if (failure !== null) throw unwritable(failure)
  }
  function write(line: string): void {
    // In one write: a process that dies leaves whole lines, and at most one torn at the end.
    if (writeSync(opened(), line) < Buffer.byteLength(line)) throw new Error('only a part of a line was written')
  }
  return {
    open() {
      try {
        opened()
      } catch (error) {
        failure ??= error
      }
    },
    mark(line) {
      try {
        write(line)
      } catch (error) {
        failure ??= error
        throw unwritable(error)
      }
    },
    append(line) {
      tail = tail
        .then(() => (failure === null ? append(opened(), line) : undefined))
        .catch((error: unknown) => {
          failure ??= error
        })
    },
    appendNow(line) {
      if (failure !== null) return
      try {
        write(line)
      } catch (error) {
        failure = error
      }
    },
    flush,
    async close() {
      try {
        await flush()
      } finally {
        if (file !== null) closeSync(file)
        file = null
      }
    },
  }
}

/** Not recursive: a run folder that somebody deleted stays deleted. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
