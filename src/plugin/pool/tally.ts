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
  /** Micro-USD paid in this run; replayed calls cost nothing. */
  spent: MicroUsd = 0
  /** Live cells whose charge nobody knows. */
  unknownCharges = 0

  add({ status, provenance, usd }: Settlement): void {
    this.done++
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
}
