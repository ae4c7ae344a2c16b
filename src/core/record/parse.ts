import { RUN_RECORD_SCHEMA, RunRecord } from './record.ts'

/** A row that is no RunRecord of this version. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError'
}

/**
 * Checks a row read from a file or a port.
 *
 * @param where names the row in errors, for instance `records.jsonl:17`
 * @throws InvalidRecordError with the first path that is wrong
 */
export function parseRecord(value: unknown, where: string): RunRecord {
  const parsed = RunRecord.safeParse(value)
  if (parsed.success) return parsed.data
  const schema = typeof value === 'object' && value !== null && 'schema' in value ? value.schema : undefined
  if (schema !== RUN_RECORD_SCHEMA) {
    throw new InvalidRecordError(
      `${where}: its schema is ${JSON.stringify(schema) ?? 'missing'}; this version reads ${RUN_RECORD_SCHEMA}`,
    )
  }
  const [first] = parsed.error.issues
  const path = first === undefined || first.path.length === 0 ? 'the record' : first.path.map(String).join('.')
  const more = parsed.error.issues.length - 1
  throw new InvalidRecordError(
    `${where}: ${path}: ${first?.message ?? 'is invalid'}${more > 0 ? ` (and ${more} more)` : ''}`,
  )
}
