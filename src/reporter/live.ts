import type { LiveState } from '../core/report/run-source.ts'
import { harmless, inline } from './inline.ts'
import { dollars, duration, grouped, plural } from './numbers.ts'
import { cutEnd, textWidth } from './terminal/width.ts'
import { whyWaiting } from './waiting.ts'

export interface LiveOptions {
  /** Columns; null: no limit (a line of a log). */
  readonly width: number | null
  readonly unicode: boolean
}

/**
 * Where the run stands, in one line: cells first, then money, then time, then lanes, then why anything waits. What does
 * not fit is left out from the end; a log has a line of its own for each lane that somebody waits for. Empty while nothing is planned.
 */
export function renderLive(state: LiveState, { width, unicode }: LiveOptions): string {
  if (state.planned === 0) return ''
  const share = Math.floor((state.done / state.planned) * 100)
  const parts = [
    `evals ${grouped(String(state.done))}/${grouped(String(state.planned))} (${share} %)`,
    state.failed > 0 ? `${grouped(String(state.failed))} failed` : '',
    state.replayed > 0 ? `${grouped(String(state.replayed))} replayed` : '',
    state.live > 0 ? `${grouped(String(state.live))} live` : '',
    money(state),
    state.etaMs === null || state.done >= state.planned ? '' : `${duration(state.etaMs)} left`,
    ...state.inFlight
      .filter(({ requests, cells }) => requests + cells > 0)
      .map(
        ({ lane, requests, cells }) => `${inline(lane, 60)}: ${plural(requests, 'request')}, ${plural(cells, 'cell')}`,
      ),
    state.waiting > 0 ? `${grouped(String(state.waiting))} waiting` : '',
    ...(width === null ? [] : state.waits.map(whyWaiting)),
  ].filter((part) => part !== '')
  const [first = '', ...rest] = parts
  let line = first
  for (const part of rest) {
    const longer = `${line}  ${part}`
    if (width !== null && textWidth(longer) > width) break
    line = longer
  }
  const safe = harmless(line)
  return width === null ? safe : cutEnd(safe, width, unicode ? '…' : '...')
}

/** Nothing was bought: no money is shown, not even 0. */
function money({ live, spentUsd, unknownCharges }: LiveState): string {
  if (live === 0 && spentUsd === 0) return ''
  if (unknownCharges === 0) return dollars(spentUsd)
  const unknown = `${plural(unknownCharges, 'charge')} unknown`
  return spentUsd === 0 ? unknown : `${dollars(spentUsd)} + ${unknown}`
}

/** What the line needs of a terminal. */
export interface LiveStream {
  write(chunk: string | Uint8Array, ...rest: never[]): boolean
  readonly columns?: number
}

export interface LiveTimers {
  set(callback: () => void, ms: number): unknown
  clear(timer: unknown): void
}

export interface LiveLineOptions {
  readonly stream: LiveStream
  readonly isTTY: boolean
  /** In CI a log is written even where it looks like a terminal. */
  readonly ci: boolean
  readonly unicode: boolean
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Between two looks at the state; default 1 s. */
  readonly intervalMs?: number
  /** Between two lines of a log; default 30 s. */
  readonly logEveryMs?: number
  /** Default: the process's timers, which do not keep it alive. */
  readonly timers?: LiveTimers
}

export interface LiveLine {
  start(): void
  /** Erases the line and gives the stream back; safe to call twice. */
  stop(): void
}

const ERASE = '\r\u001b[2K'

const PROCESS_TIMERS: LiveTimers = {
  set: (callback, ms) => {
    const timer = setInterval(callback, ms)
    timer.unref()
    return timer
  },
  clear: (timer) => clearInterval(timer as NodeJS.Timeout),
}

/**
 * On a terminal one status line, redrawn; otherwise a plain line now and then.
 *
 * Vitest's summary draws a window of its own: it replaces the stream's `write` and prints whatever is written above
 * its window, for good. A stream whose `write` is replaced already therefore gets plain lines.
 */
export function createLiveLine(options: LiveLineOptions, getState: () => LiveState | null): LiveLine {
  const { stream, now, unicode, intervalMs = 1_000, logEveryMs = 30_000, timers = PROCESS_TIMERS } = options
  let timer: unknown = null
  let close: () => void = () => {}

  const state = (): LiveState | null => getState()

  function startLog(): () => void {
    let last = now()
    let said = ''
    return every(() => {
      if (now() - last < logEveryMs) return
      last = now()
      const current = state()
      const line = current === null ? '' : renderLive(current, { width: null, unicode })
      if (current === null || line === '' || line === said) return
      said = line
      for (const one of [line, ...current.waits.map(whyWaiting)]) stream.write(`${harmless(one)}\n`)
    })
  }

  function startLine(): () => void {
    const original = stream.write
    let drawn = ''
    let lineStart = true
    const raw = (text: string): void => {
      original.call(stream, text)
    }
    const erase = (): void => {
      if (drawn !== '') raw(ERASE)
      drawn = ''
    }
    // Other output goes where the line stands: the line makes room and comes back with the next look at the state.
    const hooked = function (this: unknown, chunk: string | Uint8Array, ...rest: never[]): boolean {
      erase()
      if (chunk.length > 0) lineStart = chunk.at(-1) === (typeof chunk === 'string' ? '\n' : 10)
      return original.call(stream, chunk, ...rest)
    }
    stream.write = hooked
    const stopTimer = every(() => {
      const current = state()
      const line = current === null ? '' : renderLive(current, { width: (stream.columns || 80) - 1, unicode })
      // In the middle of somebody else's line there is no place for ours.
      if (line === drawn || !lineStart) return
      if (line === '') erase()
      else raw(ERASE + line)
      drawn = line
    })
    return () => {
      stopTimer()
      erase()
      // Somebody hooked the stream after us: their write calls ours, and ours only passes on from here.
      if (stream.write === hooked) stream.write = original
    }
  }

  function every(look: () => void): () => void {
    timer = timers.set(look, intervalMs)
    return () => timers.clear(timer)
  }

  return {
    start() {
      if (timer !== null) return
      const replaced = Object.hasOwn(stream, 'write')
      close = options.isTTY && !options.ci && !replaced ? startLine() : startLog()
    },
    stop() {
      if (timer === null) return
      close()
      timer = null
    },
  }
}
