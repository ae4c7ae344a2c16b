/** Time as the recorder reads it. */
export interface Clock {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** ISO instant. */
  readonly instant: () => string
  /** Resolves in a later turn of the event loop. */
  readonly turn: () => Promise<void>
  readonly after: (ms: number, then: () => void) => { readonly cancel: () => void }
}

// Taken when this module loads, before user code can put fake timers in their place: a test that freezes time must not
// freeze the traffic of its neighbours.
const now = performance.now.bind(performance)
const RealDate = Date
const { setImmediate: immediate, setTimeout: timeout, clearTimeout: clear } = globalThis

export const systemClock: Clock = {
  now,
  instant: () => new RealDate().toISOString(),
  turn: () => new Promise((resolve) => immediate(resolve)),
  after: (ms, then) => {
    const timer = timeout(then, ms)
    return { cancel: () => clear(timer) }
  },
}

/** True when `promise` settled within `ms`; its rejection counts as settled. */
export function settlesWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(false))
    const settled = () => {
      timer.cancel()
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
