import { sha256Hex } from './identity.ts'

/** Longest readable part of an escaped id, in bytes. */
const MAX_BYTES = 60
const PLAIN = /^[a-z0-9](?:[a-z0-9_.-]*[a-z0-9_-])?$/
/** What an escaped id ends with: a plain id that ends so is escaped too, or it could meet another's escape. */
const DIGEST_END = /-[0-9a-f]{8}$/
/** Names Windows keeps for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/

/**
 * An id as one path segment. Lower-case ids of letters, digits, `_`, `-` and inner dots stay as they are; all others are
 * escaped, cut, and told apart by their digest, so that no two ids share a file on any disk and none leaves its folder.
 */
export function segmentOf(id: string): string {
  if (PLAIN.test(id) && id.length <= MAX_BYTES && !DIGEST_END.test(id) && !DEVICE.test(id)) return id
  const readable = id
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[.-]+/, '_')
    .slice(0, MAX_BYTES)
  return `${readable}-${sha256Hex(id).slice(0, 8)}`
}
