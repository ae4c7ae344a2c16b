import { expect, test } from 'vitest'
import type { GovernorEffect, GovernorEvent, PermitOutcome } from '../../../src/core/capacity/events.ts'
import { createGovernor } from '../../../src/core/capacity/governor.ts'
import type { PermitReply } from '../../../src/plugin/control.ts'
import { type Clock, systemClock } from '../../../src/plugin/replay/clock.ts'
import { Permits, UNSENT } from '../../../src/plugin/replay/permit.ts'
import type { CellTrafficOptions, TrafficPort } from '../../../src/plugin/replay/traffic.ts'

const CALLS = 210
const STEP_MS = 10
const LANE = { match: 'p/m', concurrency: 64, tokensPerMinute: 180_000, burstSeconds: 2 }

/** As a provider with a bucket counts; a refused request takes nothing. */
class Bucket {
  over = 0
  arrived = 0
  #due = 0

  arrive(now: number, tokens: number): number | null {
    this.arrived++
    const due = Math.max(this.#due, now) + (tokens * 60_000) / LANE.tokensPerMinute
    const wait = due - now - LANE.burstSeconds * 1_000
    if (wait > 0) {
      this.over++
      return wait
    }
    this.#due = due
    return null
  }
}

/** Calls of one lane through permits of a governor, on a virtual clock; the thread hears of nothing while it is busy. */
async function campaign(isBusy: (now: number) => boolean): Promise<{ over: number; asked: number; ms: number }> {
  let now = 0
  let asked = 0
  let answered = 0
  const governor = createGovernor({ cells: 512, lanes: [LANE] }, () => now)
  const replies = new Map<number, (reply: PermitReply) => void>()
  /** What the thread has not heard yet. */
  const heard: (() => void)[] = []
  const due: { at: number; then: () => void }[] = []
  function send(events: readonly GovernorEvent[]): void {
    for (const effect of governor.send(events)) apply(effect)
  }
  function apply(effect: GovernorEffect): void {
    if (effect.type !== 'permit-granted') return
    const { permitId, waitedMs, leaveWithinMs } = effect
    const leaveBy = leaveWithinMs === undefined ? {} : { leaveBy: now + leaveWithinMs }
    heard.push(() => replies.get(permitId)?.({ granted: true, waitedMs, ...leaveBy }))
  }
  const port = {
    permit(cellId: string, ask: { lane: string }) {
      const permitId = ++asked
      const reply = new Promise<PermitReply>((resolve) => replies.set(permitId, resolve))
      send([{ type: 'ask-permit', permitId, request: { cellId, ...ask } }])
      return { reply, done: (outcome: PermitOutcome) => send([{ type: 'release-permit', permitId, outcome }]) }
    },
  } as Pick<TrafficPort, 'permit'> as TrafficPort
  const clock: Clock = { ...systemClock, now: () => now, epoch: () => now }
  const provider = new Bucket()
  const pause = (ms: number) => new Promise<void>((then) => due.push({ at: now + ms, then }))

  async function cell(n: number): Promise<void> {
    const cellId = `c${n}`
    send([{ type: 'ask-lease', request: { cellId, lane: 'p/m', rank: [0, n, 0, 'campaign'] } }])
    const permits = new Permits(port, { cellId } as CellTrafficOptions, clock)
    const tokens = { input: 41, output: 150 }
    for (;;) {
      const permit = await permits.ask({ lane: 'p/m', role: 'subject', tokens }, new AbortController().signal)
      if (!permit.granted) throw new Error('nothing refuses here')
      const output = 50 + ((n * 37) % 100)
      const wait = provider.arrive(now, 50 + output)
      if (wait === null) {
        await pause(150 + ((n * 53) % 300))
        permit.done({ result: { kind: 'answered' }, tokens: { input: 50, output }, microUsd: null })
        answered++
        return
      }
      permit.done(UNSENT)
      await pause(wait)
    }
  }

  const all = Promise.all(Array.from({ length: CALLS }, (_, n) => cell(n)))
  for (; answered < CALLS; now += STEP_MS) {
    if (now > 60_000) throw new Error(`only ${answered} of ${CALLS} calls were answered in a minute`)
    if ((governor.nextWake() ?? now + 1) <= now) send([])
    if (!isBusy(now)) {
      for (const hear of heard.splice(0)) hear()
      for (const { at, then } of due.splice(0)) {
        if (at <= now) then()
        else due.push({ at, then })
      }
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await all
  return { over: provider.over, asked, ms: now }
}

test('tokens per minute in short bursts: what the estimates miss is no request over the limit', async () => {
  const { over, asked, ms } = await campaign(() => false)
  expect({ over, asked }).toEqual({ over: 0, asked: CALLS })
  // 210 calls of 150 tokens at 3,000 a second, 2 seconds of them at once.
  expect(ms).toBeLessThan(9_500)
})

test.each([
  ['at the first burst', (now: number) => now < 3_500],
  ['in the middle', (now: number) => now > 4_000 && now < 5_300],
  ['again and again', (now: number) => now % 2_000 > 1_200],
])('a thread that is busy %s does not send what it was let go meanwhile all at once', async (_, isBusy) => {
  const { over, asked } = await campaign(isBusy)
  expect(over).toBe(0)
  expect(asked, 'permits that were too old were given back').toBeGreaterThan(CALLS)
})

test('a thread that is always late sends all the same', async () => {
  const permits = (reply: PermitReply, log: string[]) =>
    new Permits(
      {
        permit: () => ({ reply: Promise.resolve(reply), done: ({ result }) => log.push(result.kind) }),
      } as Pick<TrafficPort, 'permit'> as TrafficPort,
      { cellId: 'c' } as CellTrafficOptions,
      { ...systemClock, epoch: () => 1_000 },
    )
  const log: string[] = []
  const ask = { lane: 'p/m', role: 'subject', tokens: { input: 1, output: 1 } } as const
  const { signal } = new AbortController()
  expect(await permits({ granted: true, waitedMs: 0, leaveBy: 999 }, log).ask(ask, signal)).toMatchObject({
    granted: true,
  })
  expect(log).toEqual(['unsent', 'unsent', 'unsent'])
  log.length = 0
  expect(await permits({ granted: true, waitedMs: 0, leaveBy: 1_000 }, log).ask(ask, signal)).toMatchObject({
    granted: true,
  })
  expect(await permits({ granted: true, waitedMs: 0 }, log).ask(ask, signal)).toMatchObject({ granted: true })
  expect(log, 'in time, or of a lane that counts no minute').toEqual([])
})
