import { createHash } from 'node:crypto'
import { philox } from '../dist/core/stats/philox.js'

/**
 * Uniform numbers in (0, 1) of one campaign. Seed, row and number address them, so that any campaign can be drawn again
 * alone, and neither the order of rows nor their number changes another row.
 */
export function uniforms(seed, row, campaign) {
  const stream = createHash('sha256').update(row).digest().readUInt32BE()
  const words = new Uint32Array(4)
  let drawn = 0
  return () => {
    if (drawn % 4 === 0) philox(words, drawn >>> 2, campaign, stream, 0, [seed, 0])
    return (words[drawn++ % 4] + 0.5) / 2 ** 32
  }
}
