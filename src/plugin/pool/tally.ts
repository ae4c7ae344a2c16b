import type { CellStatus } from '../../core/record/status.ts'
import { type MicroUsd, toMicroUsd } from '../../core/record/usage.ts'
import type { Settlement } from '../control.ts'

/** Running counts of a run, for the live line. */
export class Tally {
  planned = 0
  done = 0
  replayed = 0
  carried = 0
  live = 0
  failed = 0
  readonly statuses: Partial<Record<CellStatus, number>> = {}
  /** Micro-USD paid in this run; replayed calls cost nothing. */
  spent: MicroUsd = 0
  /** Live cells whose charge nobody knows. */
  unknownCharges = 0

  add({ status, provenance, usd }: Settlement): void {
    this.done++
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status === 'task_fail' || status.endsWith('_error')) this.failed++
    if (provenance === null) return
    if (provenance === 'replayed') {
      this.replayed++
      return
    }
    if (provenance === 'carried') this.carried++
    else this.live++
    if (usd === null) this.unknownCharges++
    else this.spent += toMicroUsd(usd)
  }

  /** What is left at the rate so far, milliseconds; null before a twentieth is done: that says more about start-up. */
  etaMs(elapsedMs: number): number | null {
    return etaMs(this, elapsedMs)
  }
}

export function etaMs({ done, planned }: Pick<Tally, 'done' | 'planned'>, elapsedMs: number): number | null {
  if (done === 0 || done * 20 < planned) return null
  return Math.max(0, Math.round((elapsedMs / done) * (planned - done)))
}
