import type { JournalEntry } from './entry.ts'
import { decodeLine, LineError } from './line.ts'

export interface ReadJournal {
  readonly entries: readonly JournalEntry[]
  /** Length of the part that holds the entries: cut the file here before it is written on. */
  readonly intactBytes: number
  /** A last line without its end: the process died while writing it, and nobody was told that it was durable. */
  readonly repaired: { readonly bytesDropped: number } | null
}

/** A line that was whole once and is not what was written. Nothing is dropped silently: the user decides. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError'
  readonly file: string
  /** From 1. */
  readonly line: number
  /** What stands before the damage and can be saved. */
  readonly intact: { readonly entries: number; readonly records: number; readonly bytes: number }
  constructor(file: string, line: number, why: string, intact: JournalDamagedError['intact']) {
    super(
      `${file}:${line}: the line is damaged: ${why}. Before it ${intact.entries} entries with ${intact.records} ` +
        `cell records are intact; the first ${intact.bytes} bytes of the file keep them`,
    )
    this.file = file
    this.line = line
    this.intact = intact
  }
}

const NEWLINE = 0x0a

/**
 * Reads a whole journal.
 *
 * @param file its path, for messages
 * @throws JournalDamagedError when a line that has its end fails its checksum, its number or its schema
 */
export function readJournal(bytes: Uint8Array, file: string): ReadJournal {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: JournalEntry[] = []
  let records = 0
  let start = 0
  for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
    try {
      const { seq, entry } = decodeLine(buffer.subarray(start, end))
      if (seq !== entries.length) throw new LineError(`it has number ${seq} where ${entries.length} is due`)
      entries.push(entry)
      if (entry.kind === 'settled') records++
    } catch (error) {
      if (!(error instanceof LineError)) throw error
      const intact = { entries: entries.length, records, bytes: start }
      throw new JournalDamagedError(file, entries.length + 1, error.message, intact)
    }
    start = end + 1
  }
  const bytesDropped = buffer.length - start
  return { entries, intactBytes: start, repaired: bytesDropped > 0 ? { bytesDropped } : null }
}
