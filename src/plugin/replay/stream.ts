import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import type { BodyEnd, StreamCut } from '../../core/traffic/exchange.ts'
import { socketError } from './call.ts'
import { chunksOf, type PlayStyle } from './chunks.ts'
import { type Clock, pause } from './clock.ts'
import type { WireWatch } from './wire-watch.ts'

/** A body that has ended, one way or another. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  readonly cuts: readonly StreamCut[]
  readonly end: BodyEnd
}

export interface TeeOptions {
  readonly clock: Clock
  /** Aborted when the client, or its cell, gives up. */
  readonly signal: AbortSignal
  /** Ends the connection the body comes from. */
  readonly abort: () => void
  /** Told of progress; default: nobody is. */
  readonly watch?: Pick<WireWatch, 'progress' | 'pause' | 'over'> | null
  /** Called once. */
  readonly onEnd: (captured: CapturedBody) => void
  /** False hands the body on and keeps nothing of it. Default true. */
  readonly retain?: boolean
}

/** What is kept of one body, in bytes: the rest is handed on and forgotten. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024

/** Read ahead of the client: enough to see the end of a stream whose reader stopped at its last event. */
const READ_AHEAD_BYTES = 64 * 1024

/** Hands a live body on chunk by chunk, as it arrives, and keeps what it handed on. */
export function tee(
  body: Readable,
  { clock, signal, abort, onEnd, watch = null, retain = true }: TeeOptions,
): ReadableStream<Uint8Array> {
  const chunks: Uint8Array[] = []
  const cuts: StreamCut[] = []
  let last = clock.now()
  let ended = false
  let came = 0
  let kept = 0
  function end(how: BodyEnd): boolean {
    if (ended) return false
    ended = true
    watch?.over()
    signal.removeEventListener('abort', onAbort)
    const whole = !retain || kept === came
    onEnd({ bytes: Buffer.concat(chunks), cuts, end: whole ? how : { kind: 'cut', bytes: came } })
    return true
  }
  function keep(chunk: Uint8Array): void {
    came += chunk.byteLength
    if (!retain || kept === MAX_KEPT_BYTES) return
    const part = chunk.subarray(0, MAX_KEPT_BYTES - kept)
    kept += part.byteLength
    const at = clock.now()
    cuts.push([part.byteLength, Math.round(at - last)])
    last = at
    chunks.push(part)
  }
  let giveUp: (reason: unknown) => void = () => {}
  const onAbort = () => giveUp(signal.reason)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        giveUp = (reason) => {
          if (!end({ kind: 'client-abort' })) return
          abort()
          controller.error(reason)
        }
        body.on('data', (chunk: Uint8Array) => {
          if (ended) return
          watch?.progress()
          keep(chunk)
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) > 0) return
          body.pause()
          watch?.pause()
        })
        body.on('end', () => {
          if (end({ kind: 'complete' })) controller.close()
        })
        const broke = (error: unknown) => {
          const { code, message } = describeBreak(error)
          if (end({ kind: 'broken', code, message })) controller.error(new TypeError('terminated', { cause: error }))
        }
        body.on('error', broke)
        // A stream may be destroyed without a word.
        body.on('close', () => broke(socketError('ECONNRESET', 'the connection closed before the response ended')))
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      },
      pull() {
        if (!ended && body.isPaused()) watch?.progress()
        body.resume()
      },
      cancel() {
        if (end({ kind: 'client-abort' })) abort()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: READ_AHEAD_BYTES }),
  )
}

function describeBreak(error: unknown): { code: string; message: string } {
  const at = error instanceof Error ? error : new Error(String(error))
  const cause = at.cause instanceof Error ? at.cause : at
  const code = Reflect.get(at, 'code') ?? Reflect.get(cause, 'code')
  return { code: typeof code === 'string' ? code : 'ERR_BODY', message: cause.message }
}

/** What a reader meets where a recording has no more. */
function endError(end: Exclude<BodyEnd, { kind: 'complete' }>): Error {
  switch (end.kind) {
    case 'broken':
      return socketError(end.code, end.message)
    case 'client-abort':
      return socketError('ECONNRESET', 'the client gave this response up when it was recorded: no more of it is known')
    case 'cut':
      return socketError(
        'ERR_CAMPAIGN_BODY_CUT',
        `this response had ${end.bytes} bytes, and a recording keeps the first ${MAX_KEPT_BYTES} of one body: fetch less, or list its origin in \`passthrough\``,
      )
  }
}

export interface PlaybackOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly end: BodyEnd
  readonly style: PlayStyle
  /** Of the response; empty where it names none. */
  readonly contentType: string
}

/** A recorded body, by default in its recorded chunks and as fast as the client reads them, ending as it ended then. */
export function playback(
  bytes: Uint8Array,
  cuts: readonly StreamCut[],
  { clock, signal, end, style, contentType }: PlaybackOptions,
): ReadableStream<Uint8Array> {
  const chunks = chunksOf(bytes, cuts, style, contentType)
  let next = 0
  let offset = 0
  let over = false
  const onAbort = () => giveUp()
  let giveUp = () => {}
  function finish(): void {
    over = true
    signal.removeEventListener('abort', onAbort)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        giveUp = () => {
          finish()
          controller.error(signal.reason)
        }
        // One signal may stand behind any number of calls of its cell.
        setMaxListeners(0, signal)
        if (signal.aborted) giveUp()
        else signal.addEventListener('abort', onAbort, { once: true })
      },
      async pull(controller) {
        // Between chunks the event loop turns: a long recording must not starve timers, aborts and other cells.
        const { size, ms } = chunks[next] ?? { size: 0, ms: 0 }
        if (ms > 0) await pause(clock, ms, signal)
        else if (next > 0) await clock.turn()
        if (over) return
        next++
        if (size > 0) {
          // A copy: the client owns what it reads, and the recording may be served again.
          controller.enqueue(bytes.slice(offset, offset + size))
          offset += size
        }
        if (next < chunks.length) return
        if (end.kind === 'complete') {
          finish()
          controller.close()
          return
        }
        if (size > 0) return
        const error = endError(end)
        finish()
        controller.error(new TypeError('terminated', { cause: error }))
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  )
}
