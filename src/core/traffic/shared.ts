import { hash } from 'node:crypto'
import type { Body } from './exchange.ts'

/** Bodies of more bytes than this lie in a file of their own: one for all recordings that hold the same. */
export const SHARED_FROM = 64 * 1024

/** `<sha256 of the bytes>.txt` or `.bin`: nothing else is ever opened. */
export const SHARED_NAME = /^[0-9a-f]{64}\.(?:txt|bin)$/

/** Collects the bodies that a recording shares. */
export interface BodyShare {
  /** Bytes by file name. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The file name under which the body is kept; null where it stands in its line. */
  keep(body: NonNullable<Body>): string | null
}

export function bodyShare(): BodyShare {
  const files = new Map<string, Uint8Array>()
  return {
    files,
    keep(body) {
      const bytes = 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64')
      if (bytes.byteLength <= SHARED_FROM) return null
      const name = `${digest(bytes)}.${'text' in body ? 'txt' : 'bin'}`
      files.set(name, bytes)
      return name
    },
  }
}

/** Opens a shared body by its file name; null where there is none. */
export type OpenShared = (name: string) => Uint8Array | null

/** The body in a shared file, or what is wrong with it. */
export function sharedBody(name: string, open: OpenShared | undefined): NonNullable<Body> | { readonly wrong: string } {
  const bytes = open?.(name) ?? null
  if (bytes === null) return { wrong: `its body ${name} is not there: restore _bodies/${name}` }
  if (digest(bytes) !== name.slice(0, 64)) return { wrong: `its body ${name} was changed: restore _bodies/${name}` }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return name.endsWith('.txt') ? { text: buffer.toString('utf8') } : { base64: buffer.toString('base64') }
}

const digest = (bytes: Uint8Array) => hash('sha256', bytes)
