import type { Exchange } from './exchange.ts'
import { decodeCapture } from './format.ts'
import { decodeSent, isSentLine, type SentMark } from './sent.ts'

/** What an attempt at a cell left in its raw capture. */
export interface Capture {
  readonly exchanges: readonly Exchange[]
  /** One per request that was about to leave, in order. */
  readonly sent: readonly SentMark[]
  /** Marks whose exchange never came: the process died meanwhile. */
  readonly unfinished: readonly SentMark[]
}

/**
 * Reads a raw capture, whatever its process died in: a torn last line is left out, and the mark before it shows that an
 * exchange is missing.
 *
 * @param file its path, for messages
 * @throws RecordingError for a bad line elsewhere
 */
export function readCapture(text: string, file: string): Capture {
  const sent: SentMark[] = []
  const lines = text.split('\n')
  // A mark that is not whole was never followed by its request.
  lines.pop()
  for (const line of lines) if (isSentLine(line)) sent.push(decodeSent(line))
  const { value: exchanges } = decodeCapture(text, file)
  const left = new Map<string, number>()
  for (const exchange of exchanges) left.set(placeOf(exchange), (left.get(placeOf(exchange)) ?? 0) + 1)
  const unfinished = sent.filter((mark) => {
    const place = placeOf(mark)
    const count = left.get(place) ?? 0
    left.set(place, count - 1)
    return count <= 0
  })
  return { exchanges, sent, unfinished }
}

/** An attempt made again on the wire has the place of the first. */
export const placeOf = ({ key, ordinal }: Pick<Exchange, 'key' | 'ordinal'>): string => `${ordinal} ${key}`
