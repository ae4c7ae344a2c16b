import { crc32 } from 'node:zlib'
import { parseJson } from './peek.ts'
import type { ServerEvent } from './stream.ts'

/** Total length, header length, CRC-32 of both. */
const PRELUDE = 12
const CRC = 4

/**
 * The events of a body in AWS's event stream encoding (application/vnd.amazon.eventstream): binary messages, each with
 * a checked prelude, headers, a payload and a checksum over all of it. Reading stops at the first message that is not
 * whole or whose checksum is wrong: what follows cannot be told apart from noise.
 */
export function readAwsEvents(bytes: Buffer): ServerEvent[] {
  const events: ServerEvent[] = []
  for (let at = 0; at + PRELUDE + CRC <= bytes.length; ) {
    const total = bytes.readUInt32BE(at)
    const headerLength = bytes.readUInt32BE(at + 4)
    const end = at + total
    if (total < PRELUDE + headerLength + CRC || end > bytes.length) break
    if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) break
    if (crc32(bytes.subarray(at, end - CRC)) !== bytes.readUInt32BE(end - CRC)) break
    const headers = stringHeaders(bytes.subarray(at + PRELUDE, at + PRELUDE + headerLength))
    const data = bytes.toString('utf8', at + PRELUDE + headerLength, end - CRC)
    events.push({
      event: headers.get(':event-type') ?? headers.get(':exception-type') ?? null,
      data,
      json: parseJson(data),
    })
    at = end
  }
  return events
}

/** Bytes of the values that are no string, by their type: booleans, integers, a timestamp, a UUID. */
const FIXED: { readonly [type: number]: number } = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const BYTES = 6
const STRING = 7

function stringHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < block.length; ) {
    const nameEnd = at + 1 + block.readUInt8(at)
    if (nameEnd + 1 > block.length) break
    const name = block.toString('utf8', at + 1, nameEnd)
    const type = block.readUInt8(nameEnd)
    const valueAt = nameEnd + 1
    if (type !== BYTES && type !== STRING) {
      const size = FIXED[type]
      if (size === undefined) break
      at = valueAt + size
      continue
    }
    if (valueAt + 2 > block.length) break
    const valueEnd = valueAt + 2 + block.readUInt16BE(valueAt)
    if (type === STRING) headers.set(name, block.toString('utf8', valueAt + 2, valueEnd))
    at = valueEnd
  }
  return headers
}
