import { sha256Hex } from '../campaign/identity.ts'
import { LineError } from '../journal/line.ts'
import { sealedLine, unsealed } from '../journal/sealed.ts'
import { parseRecord } from '../record/parse.ts'
import type { RunRecord } from '../record/record.ts'
import { ACCEPTED_SCHEMA, AcceptedHeader } from './header.ts'

/** Accepted records as they are read, every line checked. */
export interface AcceptedRecords {
  readonly header: AcceptedHeader
  /** In the order of the file. */
  readonly records: readonly RunRecord[]
  /** Digest of the file's text: two reports with the same one were compared with the same rows. */
  readonly digest: string
  /** What stands behind the name of a variant that is one of these. Default `accepted`. */
  readonly as?: string
}

/** Accepted records that cannot be used; names file and line, and what to do. */
export class AcceptedRecordsError extends Error {
  override readonly name = 'AcceptedRecordsError'
}

/** The lines of a file of accepted records: the header, then one record each. */
export function* acceptedLines(header: AcceptedHeader, records: Iterable<RunRecord>): Generator<string> {
  yield sealedLine({ schema: ACCEPTED_SCHEMA, header })
  for (const record of records) yield sealedLine({ schema: ACCEPTED_SCHEMA, record })
}

/**
 * @param file its path, for messages
 * @throws AcceptedRecordsError for another schema version, a line that was edited, rows of two campaigns, two rows of
 *   one cell, and a file that was cut off
 */
export function parseAccepted(text: string, file: string): AcceptedRecords {
  const lines = text.split('\n')
  // What stands behind the last newline: nothing, or a line that was cut off.
  const last = lines.pop() ?? ''
  const fail = (line: number, why: string): never => {
    throw new AcceptedRecordsError(`${file}:${line}: ${why}. ${REMEDY}`)
  }
  const read = (line: string, number: number): Readonly<Record<string, unknown>> => {
    try {
      const fields = unsealed(line)
      if (fields.schema === ACCEPTED_SCHEMA) return fields
      return fail(number, `its schema is ${JSON.stringify(fields.schema)}, and this version reads ${ACCEPTED_SCHEMA}`)
    } catch (error) {
      if (!(error instanceof LineError)) throw error
      return fail(number, `this is no line of accepted records: ${error.message}`)
    }
  }
  if (lines.length === 0) fail(1, 'the file holds no accepted records')
  const parsed = AcceptedHeader.safeParse(read(lines[0] ?? '', 1).header)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return fail(1, `the header is not valid at ${issue?.path.join('.') || 'the top'}: ${issue?.message}`)
  }
  const header = parsed.data
  const seen = new Map<string, number>()
  const records = lines.slice(1).map((line, i) => {
    const number = i + 2
    const record = recordAt(read(line, number).record, `${file}:${number}`)
    if (record.campaignId !== header.campaignId) {
      fail(
        number,
        `a record of campaign ${JSON.stringify(record.campaignId)} among those of ${JSON.stringify(header.campaignId)}`,
      )
    }
    const first = seen.get(record.cellId)
    const where = `${record.variantId} / ${record.scenarioId} / seed ${record.seed}`
    if (first !== undefined) fail(number, `a second record of ${where}; the first stands in line ${first}`)
    seen.set(record.cellId, number)
    return record
  })
  if (last !== '' || records.length !== header.rows) {
    fail(lines.length + (last === '' ? 0 : 1), `${records.length} whole records where the header counts ${header.rows}`)
  }
  return { header, records, digest: `sha256:${sha256Hex(text)}` }
}

const REMEDY = 'Restore the file from git, or remove it and accept a run again'

function recordAt(value: unknown, where: string): RunRecord {
  try {
    return parseRecord(value, where)
  } catch (error) {
    throw new AcceptedRecordsError(`${(error as Error).message}. ${REMEDY}`, { cause: error })
  }
}
