import { crc32 } from 'node:zlib'
import { JournalEntry, type WrittenEntry } from './entry.ts'

export const JOURNAL_SCHEMA = 'vitest-campaign/journal@1'

const HEAD = `{"schema":${JSON.stringify(JOURNAL_SCHEMA)},"seq":`
/** `,"crc":"` + 8 hex digits + `"}`: the checksum covers every byte before it. */
const TAIL_LENGTH = 18
const TAIL = /^,"crc":"([0-9a-f]{8})"\}$/

/** The number of a run folder's first owner, which its lines need not say. */
export const FIRST_FENCE = 1

/**
 * One line, newline included. The entry is not validated: whoever builds it has its types, and this runs once per cell
 * of the run. It is checked when it is read.
 *
 * @param fence number of the owner that writes: see `readJournal`
 * @throws TypeError for what JSON.stringify cannot write (cycles, bigint)
 */
export function encodeLine(seq: number, entry: JournalEntry | WrittenEntry, fence = FIRST_FENCE): string {
  const owner = fence === FIRST_FENCE ? '' : `,"fence":${fence}`
  const body = `${HEAD}${seq}${owner},"entry":${'json' in entry ? entry.json : JSON.stringify(entry)}`
  return `${body},"crc":"${hex(crc32(body))}"}\n`
}

/** Why a line is not what was written. */
export class LineError extends Error {
  override readonly name = 'LineError'
}

export interface DecodedLine {
  readonly seq: number
  readonly fence: number
  readonly entry: JournalEntry
}

/**
 * @param line the bytes of one line, without its newline
 * @throws LineError when the checksum, the schema version or the entry's shape is wrong
 */
export function decodeLine(line: Buffer): DecodedLine {
  const body = line.subarray(0, Math.max(0, line.length - TAIL_LENGTH))
  const checksum = TAIL.exec(line.toString('latin1', body.length))?.[1]
  if (checksum === undefined) throw new LineError('it has no checksum')
  if (hex(crc32(body)) !== checksum) throw new LineError('its checksum does not match')
  const { schema, seq, fence = FIRST_FENCE, entry } = parse(`${body}}`)
  if (schema !== JOURNAL_SCHEMA) {
    throw new LineError(`it has schema ${JSON.stringify(schema)}, and this version reads ${JOURNAL_SCHEMA}`)
  }
  if (typeof seq !== 'number') throw new LineError('it has no sequence number')
  if (typeof fence !== 'number') throw new LineError('its fence is no number')
  const checked = JournalEntry.safeParse(entry)
  if (checked.success) return { seq, fence, entry: checked.data }
  const [issue] = checked.error.issues
  throw new LineError(`its entry is not valid at ${issue?.path.join('.') || 'the top'}: ${issue?.message}`)
}

const RECORD = '"entry":{"kind":"settled","record":'

/** The record of a `settled` line that was decoded, as the very text that was written; null for any other line. */
export function recordTextOf(line: Buffer): string | null {
  const at = line.indexOf(RECORD)
  // Only at its place: the same characters may stand inside some other entry's text.
  if (at === -1 || at > HEAD.length + 40) return null
  return line.toString('utf8', at + RECORD.length, line.length - TAIL_LENGTH - 1)
}

function parse(text: string): { readonly [Key in 'schema' | 'seq' | 'fence' | 'entry']?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch (cause) {
    throw new LineError('it is not JSON', { cause })
  }
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0')
}
