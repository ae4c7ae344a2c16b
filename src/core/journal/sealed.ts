import { crc32 } from 'node:zlib'
import { LineError } from './line.ts'

/** `,"crc":"` + 8 hex digits + `"}`: the checksum covers everything before it. */
const SEAL = /,"crc":"([0-9a-f]{8})"\}\r?$/

/** One line of a committed file: an object with its checksum, newline included. */
export function sealedLine(fields: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify(fields).slice(0, -1)
  return `${body},"crc":"${checksum(body)}"}\n`
}

/**
 * The object of a sealed line.
 *
 * @param line without its newline
 * @throws LineError when it is not what was written
 */
export function unsealed(line: string): Readonly<Record<string, unknown>> {
  const seal = SEAL.exec(line)
  if (seal === null) throw new LineError('it has no checksum at its end')
  const body = line.slice(0, seal.index)
  if (checksum(body) !== seal[1]) throw new LineError('its checksum does not match: it was edited or damaged')
  const value: unknown = JSON.parse(`${body}}`)
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
