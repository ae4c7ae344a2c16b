import type { Dispatcher } from 'undici'

/** A dispatcher of undici, as far as a request needs one. */
export type Via = Pick<Dispatcher, 'dispatch'>

/**
 * The dispatcher that a caller of fetch passes: how users of Node's fetch say proxy or certificate. It is no standard
 * member, and a Request does not show it.
 */
export function viaOf(init: object | null | undefined): { readonly via?: Via } {
  const via: unknown = init == null ? undefined : Reflect.get(init, 'dispatcher')
  return isDispatcher(via) ? { via } : {}
}

function isDispatcher(value: unknown): value is Via {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'dispatch') === 'function'
}
