import type { JournalEntry } from './entry.ts'
import { type DecodedLine, decodeLine, FIRST_FENCE, LineError } from './line.ts'

export interface ReadJournal {
  readonly entries: readonly JournalEntry[]
  /** Length of the part that holds the entries: cut the file here before it is written on. */
  readonly intactBytes: number
  /** A last line without its end: the process died while writing it, and nobody was told that it was durable. */
  readonly repaired: { readonly bytesDropped: number } | null
  /** Number of the last owner that wrote. */
  readonly fence: number
  /** Lines of an owner that somebody else had replaced when they were written: they do not count. */
  readonly fencedOff: number
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

/** One line where it stands in the file. */
export interface JournalLine {
  readonly entry: JournalEntry
  /** The line without its newline; valid until the next one is asked for. */
  readonly line: Buffer
  /** Of its first byte, from the start of the file. */
  readonly offset: number
}

/** How a journal ends. */
export type JournalEnd = Omit<ReadJournal, 'entries'>

/**
 * Reads a journal piece by piece: as many bytes are held as a piece and one line have.
 *
 * A run that takes a folder over writes with a higher fence than those before it: what a replaced owner still writes
 * after that, because it was only stopped or on a machine that nobody could see, does not count.
 *
 * @param file its path, for messages
 * @throws JournalDamagedError when a line that has its end fails its checksum, its number or its schema
 */
export function* journalLines(pieces: Iterable<Uint8Array>, file: string): Generator<JournalLine, JournalEnd> {
  let rest: Buffer = Buffer.alloc(0)
  let offset = 0
  let count = 0
  let records = 0
  let fence = FIRST_FENCE
  let fencedOff = 0
  for (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let buffer = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    for (let end = buffer.indexOf(NEWLINE, rest.length); end !== -1; end = buffer.indexOf(NEWLINE)) {
      const line = buffer.subarray(0, end)
      let decoded: DecodedLine
      try {
        decoded = decodeLine(line)
        if (decoded.fence < fence) {
          fencedOff++
          offset += end + 1
          buffer = buffer.subarray(end + 1)
          continue
        }
        if (decoded.seq !== count) throw new LineError(`it has number ${decoded.seq} where ${count} is due`)
      } catch (error) {
        if (!(error instanceof LineError)) throw error
        throw new JournalDamagedError(file, count + 1, error.message, { entries: count, records, bytes: offset })
      }
      fence = decoded.fence
      if (decoded.entry.kind === 'settled') records++
      count++
      yield { entry: decoded.entry, line, offset }
      offset += end + 1
      buffer = buffer.subarray(end + 1)
    }
    // A copy: the caller may read the next piece into the same memory.
    rest = Buffer.from(buffer)
  }
  return {
    intactBytes: offset,
    repaired: rest.length > 0 ? { bytesDropped: rest.length } : null,
    fence,
    fencedOff,
  }
}

/**
 * Reads a whole journal.
 *
 * @param file its path, for messages
 * @throws JournalDamagedError when a line that has its end fails its checksum, its number or its schema
 */
export function readJournal(bytes: Uint8Array, file: string): ReadJournal {
  const entries: JournalEntry[] = []
  const lines = journalLines([bytes], file)
  for (let next = lines.next(); ; next = lines.next()) {
    if (next.done) return { entries, ...next.value }
    entries.push(next.value.entry)
  }
}
