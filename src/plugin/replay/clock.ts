/** Time as the recorder reads it. */
export interface Clock {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** ISO instant. */
  readonly instant: () => string
  /** Epoch milliseconds. */
  readonly epoch: () => number
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
  epoch: () => RealDate.now(),
  turn: () => new Promise((resolve) => immediate(resolve)),
  after: (ms, then) => {
    const timer = timeout(then, ms)
    return { cancel: () => clear(timer) }
  },
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const over = () => {
      timer.cancel()
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = clock.after(ms, over)
    signal.addEventListener('abort', over, { once: true })
  })
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
