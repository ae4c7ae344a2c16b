import { philox } from '../../../src/core/stats/philox.ts'

/** Uniform numbers in [0, 1), the same ones in every run. */
export function uniforms(stream: number): () => number {
  const words = new Uint32Array(4)
  let drawn = 0
  return () => {
    if (drawn % 4 === 0) philox(words, drawn >>> 2, 0, stream, 7, [11, 13])
    return (words[drawn++ % 4] ?? 0) / 2 ** 32
  }
}

/** The same values in another order, drawn from the given numbers. */
export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}
