import { type PhiloxKey, philox } from '../philox.ts'

export interface ResampleSource {
  readonly key: PhiloxKey
  /** Third word of the counter: which use of randomness in the campaign this is. */
  readonly stream: number
}

/**
 * Draws the units of one resample, with replacement: draw u of resample r is word u mod 4 at counter (u div 4, r,
 * stream, 0), mapped to floor(word / 2³² · S) (bias at most S/2³²). A matter of the design alone: all variants share the
 * draws, and another candidate moves no one's.
 *
 * @param out receives as many indices as there are units
 */
export function drawUnits(out: Uint32Array, resample: number, { key, stream }: ResampleSource): void {
  const units = out.length
  const words = new Uint32Array(4)
  for (let u = 0; u < units; u++) {
    if (u % 4 === 0) philox(words, u >>> 2, resample, stream, 0, key)
    out[u] = Math.floor(((words[u & 3] ?? 0) / 2 ** 32) * units)
  }
}
