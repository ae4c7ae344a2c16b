import type { CallRole } from '../../core/traffic/exchange.ts'
import type { Cell } from './cell.ts'

/**
 * In whose name code runs: carried by AsyncLocalStorage through every async continuation. One storage for the whole
 * thread: each one more is paid for by every promise.
 */
export interface Scope {
  readonly cellId: string
  readonly role: CallRole
  /** The scorer that runs; null where none does. */
  readonly scorer: string | null
  /** Null where the cell's traffic is not captured. */
  readonly cell: Cell | null
}

/** Of a cell whose traffic is captured. */
export type CapturedScope = Scope & { readonly cell: Cell }
