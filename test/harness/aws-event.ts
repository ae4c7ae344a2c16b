import { crc32 } from 'node:zlib'

/** One message of AWS's event stream as the specification of the encoding lays it out. */
export function awsEvent(type: string, payload: unknown): Buffer {
  const header = (name: string, value: string) => {
    const head = Buffer.alloc(1 + name.length + 3)
    head.writeUInt8(name.length, 0)
    head.write(name, 1)
    head.writeUInt8(7, 1 + name.length)
    head.writeUInt16BE(value.length, 2 + name.length)
    return Buffer.concat([head, Buffer.from(value)])
  }
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  const data = Buffer.from(JSON.stringify(payload))
  const whole = Buffer.alloc(12 + headers.length + data.length + 4)
  whole.writeUInt32BE(whole.length, 0)
  whole.writeUInt32BE(headers.length, 4)
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8)
  headers.copy(whole, 12)
  data.copy(whole, 12 + headers.length)
  whole.writeUInt32BE(crc32(whole.subarray(0, whole.length - 4)), whole.length - 4)
  return whole
}
