import type { MicroUsd } from '../record/usage.ts'
import type { Bill } from './bills.ts'
import type { CostKey } from './cost-key.ts'
import type { Scope } from './scope.ts'

/** Money held for one cell in one lane and role. */
export interface Part {
  readonly key: CostKey
  readonly cell: CellMoney
  /** What is still held. */
  amount: MicroUsd
  /** What of it is for calls in flight. */
  reserved: MicroUsd
  /** Charged and unknown so far. */
  spent: MicroUsd
  calls: number
  readonly probe: boolean
  /** The lane of its first call. */
  wire: string | null
  open: boolean
}

export interface CellMoney {
  readonly campaignId: string
  readonly scopes: readonly Scope[]
  readonly subject: CostKey
  readonly parts: Map<CostKey, Part>
  readonly bill: Bill
  openParts: number
  /** What of it waits for money and keeps it from going on. */
  readonly stuckOn: Set<'judge' | 'request'>
  /** Served by a recording, refused or cut off: its bill is no example. */
  silent: boolean
}

/** One request under a budget, from its permit to its bill. */
export interface Call {
  readonly part: Part
  /** What is held for it. */
  readonly need: MicroUsd
  readonly bound: MicroUsd | null
  /** What is kept for it while its bill is unknown. */
  unknown: MicroUsd | null
}
