import { describe, expect, test } from 'vitest'
import type { LiveState } from '../../src/core/report/run-source.ts'
import { createLiveLine, renderLive } from '../../src/reporter/live.ts'

const STATE: LiveState = {
  done: 118,
  planned: 480,
  inFlight: [
    { lane: 'openai/gpt-5-mini', requests: 16, cells: 12 },
    { lane: 'idle', requests: 0, cells: 0 },
  ],
  waiting: 330,
  waits: [
    {
      lane: 'openai/gpt-5-mini',
      cells: 12,
      requests: 16,
      waitingCells: 300,
      waitingJudges: 1,
      waitingRequests: 4,
      why: [
        { kind: 'hold', forMs: 12_000, reason: '429 rate_limit, retry-after' },
        { kind: 'slots', forMs: null, reason: null },
      ],
    },
  ],
  replayed: 40,
  live: 78,
  failed: 2,
  spentUsd: 0.4212,
  unknownCharges: 3,
  etaMs: 125_000,
}

/** What a log says of the one lane that is waited for. */
const WAITS =
  'openai/gpt-5-mini waits, 300 cells, 1 judge, 4 requests: held for 12.0 s (429 rate_limit, retry-after); its slots are taken'

describe('renderLive', () => {
  test('says everything where there is room', () => {
    expect(renderLive(STATE, { width: null, unicode: true })).toBe(
      'evals 118/480 (24 %)  2 failed  40 replayed  78 live  $0.421 + 3 charges unknown  2.08 min left  openai/gpt-5-mini: 16 requests, 12 cells  330 waiting',
    )
  })

  test('a terminal that is wide enough says why a lane is waited for', () => {
    expect(renderLive(STATE, { width: 400, unicode: true })).toBe(
      `${renderLive(STATE, { width: null, unicode: true })}  ${WAITS}`,
    )
  })

  test('drops what does not fit from the end', () => {
    expect(renderLive(STATE, { width: 60, unicode: true })).toBe('evals 118/480 (24 %)  2 failed  40 replayed  78 live')
    expect(renderLive(STATE, { width: 10, unicode: true })).toBe('evals 118…')
  })

  test.each<[string, Partial<LiveState>, string]>([
    ['nothing planned', { planned: 0, done: 0 }, ''],
    [
      'only unknown charges: no 0',
      { spentUsd: 0, unknownCharges: 1, etaMs: null, inFlight: [], waiting: 0 },
      'evals 118/480 (24 %)  2 failed  40 replayed  78 live  1 charge unknown',
    ],
    [
      'all replayed: no money',
      { live: 0, spentUsd: 0, unknownCharges: 0, etaMs: null, inFlight: [], waiting: 0, failed: 0 },
      'evals 118/480 (24 %)  40 replayed',
    ],
    [
      'a lane named to be hostile',
      {
        ...{ failed: 0, replayed: 0, live: 0, spentUsd: 0, unknownCharges: 0, etaMs: null, waiting: 0 },
        inFlight: [{ lane: '\u001b[2J\nx', requests: 1, cells: 0 }],
      },
      'evals 118/480 (24 %)  \\x1b[2J x: 1 request, 0 cells',
    ],
  ])('%s', (_, part, line) => {
    expect(renderLive({ ...STATE, ...part }, { width: null, unicode: true })).toBe(line)
  })
})

class Terminal {
  readonly columns = 40
  text = ''
  write(chunk: string | Uint8Array): boolean {
    this.text += String(chunk)
    return true
  }
}

class Ticks {
  now = 0
  callback: (() => void) | null = null
  set = (callback: () => void): string => {
    this.callback = callback
    return 'timer'
  }
  clear = (timer: unknown): void => {
    if (timer === 'timer') this.callback = null
  }
  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.now += 1_000
      this.callback?.()
    }
  }
}

function live(options: { isTTY: boolean; ci: boolean }, stream: Terminal) {
  const ticks = new Ticks()
  let state: LiveState | null = STATE
  const line = createLiveLine({ stream, ...options, unicode: true, now: () => ticks.now, timers: ticks }, () => state)
  return {
    line,
    ticks,
    set: (next: LiveState | null) => {
      state = next
    },
  }
}

const ERASE = '\r\u001b[2K'

describe('createLiveLine', () => {
  test('redraws one line on a terminal and erases it at the end', () => {
    const stream = new Terminal()
    const { line, ticks, set } = live({ isTTY: true, ci: false }, stream)
    line.start()
    ticks.pass(1_000)
    expect(stream.text).toBe(`${ERASE}evals 118/480 (24 %)  2 failed`)
    stream.text = ''
    ticks.pass(3_000)
    expect(stream.text).toBe('')
    set({ ...STATE, done: 119 })
    ticks.pass(1_000)
    expect(stream.text).toBe(`${ERASE}evals 119/480 (24 %)  2 failed`)
    stream.text = ''
    line.stop()
    line.stop()
    expect(stream.text).toBe(ERASE)
    expect(ticks.callback).toBeNull()
    expect(Object.hasOwn(stream, 'write') && stream.write !== Terminal.prototype.write).toBe(false)
  })

  test('makes room for other output, and waits until its line has ended', () => {
    const stream = new Terminal()
    const { line, ticks } = live({ isTTY: true, ci: false }, stream)
    line.start()
    ticks.pass(1_000)
    stream.text = ''
    stream.write('half a ')
    ticks.pass(2_000)
    expect(stream.text).toBe(`${ERASE}half a `)
    stream.write('line\n')
    ticks.pass(1_000)
    expect(stream.text).toBe(`${ERASE}half a line\n${ERASE}evals 118/480 (24 %)  2 failed`)
    line.stop()
  })

  test.each([
    ['no terminal', { isTTY: false, ci: false }, false],
    ['a terminal in CI', { isTTY: true, ci: true }, false],
    ["a terminal on which Vitest's summary draws", { isTTY: true, ci: false }, true],
  ])('%s: a plain line every 30 seconds, none twice', (_, options, replaced) => {
    const stream = new Terminal()
    if (replaced) stream.write = Terminal.prototype.write.bind(stream)
    const { line, ticks, set } = live(options, stream)
    line.start()
    ticks.pass(29_000)
    expect(stream.text).toBe('')
    ticks.pass(1_000)
    expect(stream.text).toBe(`${renderLive(STATE, { width: null, unicode: true })}\n${WAITS}\n`)
    ticks.pass(60_000)
    expect(stream.text.split('\n')).toHaveLength(3)
    set({ ...STATE, done: 120 })
    ticks.pass(30_000)
    expect(stream.text.split('\n')).toHaveLength(5)
    line.stop()
    expect(ticks.callback).toBeNull()
  })

  test('a second start does not start a second timer; without a state nothing is drawn', () => {
    const stream = new Terminal()
    const { line, ticks, set } = live({ isTTY: true, ci: false }, stream)
    set(null)
    line.start()
    const first = ticks.callback
    line.start()
    expect(ticks.callback).toBe(first)
    ticks.pass(5_000)
    line.stop()
    expect(stream.text).toBe('')
  })
})
