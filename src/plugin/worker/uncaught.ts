import type { WorkerBridge } from './bridge.ts'
import { redactedError } from './redacted-error.ts'

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

/**
 * Gives errors that nobody caught to the cell in whose async context they were thrown. Vitest's own listeners leave the
 * cell green and the run red, and stand aside when another listener exists: they are displaced here and called for what
 * no cell owns.
 */
export function attributeUncaught(bridge: WorkerBridge): () => void {
  const undo: (() => void)[] = []
  for (const event of EVENTS) {
    const displaced = process.rawListeners(event)
    if (displaced.length === 0) continue
    for (const listener of displaced) process.removeListener(event, listener as () => void)
    const own = (error: unknown, detail: unknown): void => {
      const scope = bridge.scopes.getStore()
      const cell = scope === undefined ? undefined : bridge.inFlight.get(scope.cellId)
      if (cell !== undefined) cell.uncaught(error)
      else {
        const shown = redactedError(error, bridge.redactor)
        for (const listener of displaced) (listener as (error: unknown, detail: unknown) => void)(shown, detail)
      }
    }
    process.on(event, own as () => void)
    undo.push(() => {
      process.removeListener(event, own as () => void)
      for (const listener of displaced) process.on(event, listener as () => void)
    })
  }
  return () => {
    for (const restore of undo) restore()
  }
}
