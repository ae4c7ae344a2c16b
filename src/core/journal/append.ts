import type { JournalEntry, WrittenEntry } from './entry.ts'
import { encodeLine, FIRST_FENCE } from './line.ts'

/** An open file at whose end is written. */
export interface JournalFile {
  /** Writes all of it behind what was written before. */
  write(data: Buffer): Promise<void>
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface AppenderOptions {
  /** The file's path, for messages. */
  readonly name: string
  /** Number of the first line written here; default 0. A journal that goes on: `readJournal().entries.length`. */
  readonly firstSeq?: number
  /** Number of the owner that writes; default: the first. */
  readonly fence?: number
}

/** The one writer of a journal. */
export interface Appender {
  /**
   * Resolves when the entry and everything before it are durable.
   *
   * Rejects with JournalWriteError when this or an earlier write failed: nothing more is written then.
   */
  append(entry: JournalEntry | WrittenEntry): Promise<void>
  /**
   * Writes in order and does not say when: the entry is durable with the next `append` or with `close`, where a failure
   * shows too.
   *
   * @throws JournalWriteError when an earlier write failed
   */
  appendLazy(entry: JournalEntry | WrittenEntry): void
  /** Writes what is left, makes it durable, closes the file. Rejects with the failure if there was one. */
  close(): Promise<void>
}

export class JournalWriteError extends Error {
  override readonly name = 'JournalWriteError'
  constructor(file: string, what: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(`cannot ${what} the journal ${file}: ${why}. Nothing after this is recorded`, { cause })
  }
}

/** Bytes from which a piece is handed to one write: keeps memory flat when thousands of records wait. */
const PIECE = 1 << 20

interface Batch {
  readonly lines: string[]
  /** Someone waits for the disk. */
  durable: boolean
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

function emptyBatch(): Batch {
  let resolve = (): void => {}
  let reject = (_: Error): void => {}
  const done = new Promise<void>((onDone, onError) => {
    resolve = onDone
    reject = onError
  })
  // The failure is kept and given to every later append and to close, so a caller who does not wait loses nothing.
  done.catch(() => {})
  return { lines: [], durable: false, done, resolve, reject }
}

/**
 * Group commit: whatever arrives while one batch is written and synced goes out together as the next, so that the disk
 * is asked once per batch and not once per entry.
 */
export function createAppender(
  file: JournalFile,
  { name, firstSeq = 0, fence = FIRST_FENCE }: AppenderOptions,
): Appender {
  let seq = firstSeq
  let next = emptyBatch()
  let pumping: Promise<void> | null = null
  let unsynced = false
  let failure: JournalWriteError | null = null
  let closing: Promise<void> | null = null

  function add(entry: JournalEntry | WrittenEntry): Batch {
    if (failure !== null) throw failure
    if (closing !== null) throw new Error(`the journal ${name} is closed: a ${entry.kind} entry came too late`)
    next.lines.push(encodeLine(seq, entry, fence))
    seq++
    pumping ??= pump()
    return next
  }

  async function pump(): Promise<void> {
    // One turn later, so that appends of the same turn share the first batch too.
    await Promise.resolve()
    while (next.lines.length > 0) {
      const batch = next
      next = emptyBatch()
      try {
        await writeOut(batch.lines)
        if (batch.durable) await sync()
        batch.resolve()
      } catch (error) {
        failure = error instanceof JournalWriteError ? error : new JournalWriteError(name, 'write', error)
        batch.reject(failure)
        next.reject(failure)
        next = emptyBatch()
      }
    }
    pumping = null
  }

  async function writeOut(lines: readonly string[]): Promise<void> {
    // Line by line: to join the strings first and then make bytes of the whole costs four times as much.
    let piece: Buffer[] = []
    let bytes = 0
    for (const line of lines) {
      const data = Buffer.from(line)
      piece.push(data)
      bytes += data.length
      if (bytes < PIECE) continue
      await write(Buffer.concat(piece, bytes))
      piece = []
      bytes = 0
    }
    if (bytes > 0) await write(Buffer.concat(piece, bytes))
  }

  async function write(data: Buffer): Promise<void> {
    unsynced = true
    try {
      await file.write(data)
    } catch (cause) {
      throw new JournalWriteError(name, 'write', cause)
    }
  }

  async function sync(): Promise<void> {
    try {
      await file.sync()
    } catch (cause) {
      throw new JournalWriteError(name, 'sync', cause)
    }
    unsynced = false
  }

  async function shut(): Promise<void> {
    await pumping
    try {
      if (failure === null && unsynced) await sync()
    } finally {
      await file.close().catch((cause: unknown) => {
        failure ??= new JournalWriteError(name, 'close', cause)
      })
    }
    if (failure !== null) throw failure
  }

  return {
    async append(entry) {
      const batch = add(entry)
      batch.durable = true
      await batch.done
    },
    appendLazy(entry) {
      add(entry)
    },
    close() {
      closing ??= shut()
      return closing
    },
  }
}
