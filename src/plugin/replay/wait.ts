import { setMaxListeners } from 'node:events'

/** Rejects with the signal's reason as soon as it aborts; otherwise as `promise`. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {})
    return Promise.reject(signal.reason)
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** A controller that aborts with the first of the signals, and can be cut loose from them. */
export function linkedController(signals: readonly AbortSignal[]): AbortController & { unlink(): void } {
  const controller = new AbortController()
  const links = signals.map((signal) => {
    // One signal serves all calls of a cell: that is no leak to warn of.
    setMaxListeners(0, signal)
    const onAbort = () => controller.abort(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    return () => signal.removeEventListener('abort', onAbort)
  })
  // AbortSignal.any would do, but on Node 20 a long-lived signal keeps every signal made from it.
  return Object.assign(controller, {
    unlink() {
      for (const unlink of links) unlink()
    },
  })
}
