import { AsyncResource } from 'node:async_hooks'

/**
 * Keeps work with the cell that asked for it: calls that `work` makes belong to the cell in which `bind` was called, also
 * when a queue, a pool or an event emitter runs it later in the context of another.
 *
 * @returns the same function, to be handed to the queue
 */
export function bind<Arguments extends readonly unknown[], Result>(
  work: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return AsyncResource.bind(work)
}
