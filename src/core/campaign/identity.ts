import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/** SHA-256 over RFC 8785 canonical JSON; the scheme is part of the digest, so digests of two schemes never compare equal. */
export type Digest = `sha256-jcs:${string}`

/**
 * Digest of a JSON value.
 *
 * @param root name of the value in error paths
 * @throws NotJsonError when the value cannot be said in JSON
 */
export function digestOf(value: unknown, root = ''): Digest {
  return `sha256-jcs:${sha256Hex(canonicalJson(value, root))}`
}

/** Lower-case hex SHA-256 of text (as UTF-8) or bytes. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** What makes a cell itself, and nothing else: the variant's and scenario's contents are in their digests. */
export interface CellCoordinates {
  readonly campaignId: string
  readonly variantId: string
  readonly scenarioId: string
  readonly seed: number
}

/** 16 hex characters of the digest of the coordinates. */
export function cellIdOf({ campaignId, variantId, scenarioId, seed }: CellCoordinates): string {
  return sha256Hex(canonicalJson({ campaignId, variantId, scenarioId, seed })).slice(0, 16)
}

/** Longest id of a campaign, variant, scenario or scorer, in UTF-16 code units. */
export const MAX_ID_LENGTH = 200

/** Why a string cannot be an id, or null when it can. */
export function idProblem(id: unknown): string | null {
  if (typeof id !== 'string') return `must be a string, not ${id === null ? 'null' : typeof id}`
  if (id.trim() === '') return 'is empty'
  if (id.length > MAX_ID_LENGTH) return `is ${id.length} code units long; at most ${MAX_ID_LENGTH} are allowed`
  if (!id.isWellFormed()) return 'has a lone surrogate'
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(id)) return 'has a control character'
  return null
}

/** How ids are compared for uniqueness: two ids that differ in case alone would share a file on some disks. */
export function foldId(id: string): string {
  return id.normalize('NFC').toLowerCase()
}
