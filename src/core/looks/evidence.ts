import { createHash } from 'node:crypto'
import type { RunRecord } from '../record/record.ts'

/** What a run saw, as far as a look is concerned. */
export interface Evidence {
  readonly digest: string
  /** Some cell was measured now, or in a run that this one continues, and not replayed. */
  readonly fresh: boolean
  /** Cells with an output. */
  readonly cells: number
}

/**
 * Digest of what the subjects answered, cell by cell: neither clocks, run ids nor whether a call was live enter, so that
 * a replay of recordings is the look that they were recorded with.
 */
export function evidenceOf(records: Iterable<RunRecord>): Evidence {
  const lines: string[] = []
  let fresh = false
  for (const { variantId, variantDigest, scenarioId, scenarioDigest, seed, output, provenance } of records) {
    if (output === null) continue
    // A run that was cut off gave no verdict: nobody has counted a look at what is carried over from it.
    if (provenance !== 'replayed') fresh = true
    lines.push(JSON.stringify([variantId, variantDigest, scenarioId, scenarioDigest, seed, output.digest]))
  }
  const hash = createHash('sha256')
  for (const line of lines.sort()) hash.update(`${line}\n`)
  return { digest: `sha256:${hash.digest('hex')}`, fresh, cells: lines.length }
}
