import type { BatchedChannel } from './channel.ts'
import type { CellFunctions, Settlement } from './control.ts'

// The two calls that every cell makes go beside birpc, which keeps six promises and a random id per call for as long as
// it waits: with tens of thousands of cells in flight that was a tenth of the run.

// Taken when this module loads: the eval file may put fake timers in its place.
const { setImmediate: nextTurn } = globalThis

/** Answers given in one turn: the main process journals the cells of one turn while those of the next run. */
const AT_ONCE = 8
/** From so many on both threads have enough to do, and turns only cost. */
const MANY = 64

type CellCall =
  | readonly [id: number, method: 'lease', cellId: string]
  | readonly [id: number, method: 'settled', settlement: Settlement]
type Answer = readonly [id: number, result: unknown, error?: unknown]

interface Waiting {
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export interface CellCalls extends CellFunctions {
  /** Rejects what still waits, and every later call. */
  close(): void
}

/** The worker's side. */
export function callMain(channel: BatchedChannel): CellCalls {
  const waiting = new Map<number, Waiting>()
  let last = 0
  let closed = false
  const gone = (method: string): Error => new Error(`the control channel is closed, "${method}" cannot be called`)
  const arrived: Answer[] = []
  const settle = ([id, result, error]: Answer): void => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(result as never)
    else call?.reject(error)
  }
  const take = (): void => {
    for (const answer of arrived.splice(0, arrived.length > MANY ? arrived.length : AT_ONCE)) settle(answer)
    if (arrived.length > 0) nextTurn(take)
  }
  channel.onArray((message) => {
    arrived.push(message as Answer)
    if (arrived.length === 1) nextTurn(take)
  })
  function call<Result>(method: CellCall[1], argument: CellCall[2]): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (closed) return reject(gone(method))
      const id = ++last
      waiting.set(id, { resolve, reject })
      channel.post([id, method, argument])
    })
  }
  return {
    lease: (cellId) => call('lease', cellId),
    settled: (settlement) => call('settled', settlement),
    close() {
      closed = true
      for (const { reject } of waiting.values()) reject(gone('lease or settled'))
      waiting.clear()
    },
  }
}

/** The main process's side. */
export function answerWorker(channel: BatchedChannel, functions: CellFunctions): void {
  async function answer(call: CellCall): Promise<void> {
    // A microtask later, as birpc starts its calls: what was sent first is journalled first.
    await null
    let reply: Answer
    try {
      reply = [call[0], call[1] === 'lease' ? await functions.lease(call[2]) : await functions.settled(call[2])]
    } catch (error) {
      reply = [call[0], null, error ?? new Error(`${call[1]} failed without an error`)]
    }
    channel.post(reply)
  }
  channel.onArray((message) => void answer(message as CellCall))
}
