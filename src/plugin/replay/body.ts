import { isUtf8 } from 'node:buffer'
import type { Body } from '../../core/traffic/exchange.ts'

/** Bytes as they are written down: text where they are UTF-8, base64 where they are not. */
export function bodyOf(bytes: Uint8Array | null): Body {
  if (bytes === null || bytes.byteLength === 0) return null
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return isUtf8(buffer) ? { text: buffer.toString('utf8') } : { base64: buffer.toString('base64') }
}

export function bytesOf(body: Body): Uint8Array {
  if (body === null) return new Uint8Array()
  return 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64')
}
