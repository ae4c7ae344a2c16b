import type { MessagePort } from 'node:worker_threads'
import type { ChannelOptions } from 'birpc'

// Taken when this module loads: the eval file may put fake timers in its place.
const { setImmediate: nextTurn } = globalThis

/** Messages that are not held back for the end of the turn: the other thread starts on them meanwhile. */
const FULL = 256

export interface BatchedChannel extends ChannelOptions {
  /** Who receives the messages that are arrays; all others are birpc's. */
  onArray(receive: (message: readonly unknown[]) => void): void
  close(): void
}

/**
 * A birpc channel over a MessagePort that sends the messages of one turn in arrays: with tens of thousands of cells in
 * flight, posting is what a control call costs most.
 */
export function batchedChannel(port: MessagePort): BatchedChannel {
  let outgoing: unknown[] = []
  let closed = false
  let listener: ((batch: unknown[]) => void) | null = null
  let receiveArray: (message: readonly unknown[]) => void = () => {}
  const flush = (): void => {
    const batch = outgoing
    outgoing = []
    if (!closed && batch.length > 0) port.postMessage(batch)
  }
  return {
    post(message) {
      if (closed) return
      outgoing.push(message)
      // A check phase, not a microtask: promise chains of many cells that are ready in one turn then share one message.
      if (outgoing.length === 1) nextTurn(flush)
      else if (outgoing.length >= FULL) flush()
    },
    on(receive) {
      listener = (batch) => {
        for (const message of batch) {
          if (Array.isArray(message)) receiveArray(message)
          else receive(message)
        }
      }
      port.on('message', listener)
    },
    off() {
      if (listener !== null) port.off('message', listener)
    },
    onArray(receive) {
      receiveArray = receive
    },
    close() {
      if (closed) return
      if (outgoing.length > 0) flush()
      closed = true
      port.close()
    },
  }
}
