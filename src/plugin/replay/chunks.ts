import { philox } from '../../core/stats/philox.ts'
import type { StreamCut } from '../../core/traffic/exchange.ts'
import type { TrafficSettings } from '../traffic-options.ts'

/** How a recording is played: in which pieces, and how fast. */
export type PlayStyle = Pick<TrafficSettings, 'timing' | 'recut'>

export const AS_RECORDED: PlayStyle = { timing: 'instant', recut: 'recorded' }

/** A piece of a replayed body, and the milliseconds before it. */
export interface Chunk {
  readonly size: number
  readonly ms: number
}

/** The pieces in which a recorded body is given to its reader. */
export function chunksOf(
  bytes: Uint8Array,
  cuts: readonly StreamCut[],
  { timing, recut }: PlayStyle,
  contentType: string,
): readonly Chunk[] {
  const recorded = recordedCuts(bytes, cuts)
  const sizes = recut === 'recorded' ? recorded.map(([size]) => size) : recutSizes(bytes, recorded, recut, contentType)
  if (timing === 'instant') return sizes.map((size) => ({ size, ms: 0 }))
  return timed(sizes, recorded)
}

function recordedCuts(bytes: Uint8Array, cuts: readonly StreamCut[]): StreamCut[] {
  const kept = cuts.filter(([size]) => size > 0)
  return kept.length === 0 && bytes.byteLength > 0 ? [[bytes.byteLength, 0]] : kept
}

function recutSizes(
  bytes: Uint8Array,
  recorded: readonly StreamCut[],
  recut: Exclude<PlayStyle['recut'], 'recorded'>,
  contentType: string,
): number[] {
  if (recut === 'sse-event') {
    return /^text\/event-stream\b/i.test(contentType) ? eventSizes(bytes) : recorded.map(([size]) => size)
  }
  if (typeof recut === 'object') return randomSizes(bytes.byteLength, recut.random)
  const step = recut === 'one-byte' ? 1 : recut
  const whole = Math.floor(bytes.byteLength / step)
  const rest = bytes.byteLength % step
  return [...Array<number>(whole).fill(step), ...(rest > 0 ? [rest] : [])]
}

const LARGEST_RANDOM = 64

/** The same pieces for the same seed: a parser that failed on a cut fails on it again. */
function randomSizes(length: number, seed: number): number[] {
  const sizes: number[] = []
  const words = new Uint32Array(4)
  for (let left = length, count = 0; left > 0; count++) {
    if (count % words.length === 0) philox(words, count, 0, 0, 0, [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0])
    const size = Math.min(left, 1 + ((words[count % words.length] ?? 0) % LARGEST_RANDOM))
    sizes.push(size)
    left -= size
  }
  return sizes
}

/** An event ends with an empty line, in any of the three line ends of the standard. */
function eventSizes(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return (text.match(/[\s\S]*?(?:\r\n|\n|\r(?!\n)){2,}|[\s\S]+$/g) ?? []).map((event) => event.length)
}

/** Every piece waits for what was waited for, in the recording, until its last byte had come. */
function timed(sizes: readonly number[], recorded: readonly StreamCut[]): Chunk[] {
  const chunks: Chunk[] = []
  let cut = 0
  let come = 0
  let end = 0
  for (const size of sizes) {
    end += size
    let ms = 0
    for (let next = recorded[cut]; next !== undefined && come < end; next = recorded[cut]) {
      come += next[0]
      ms += next[1]
      cut++
    }
    chunks.push({ size, ms })
  }
  return chunks
}
