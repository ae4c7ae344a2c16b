import type { RunRecord } from '../../core/record/record.ts'
import { type MicroUsd, toMicroUsd } from '../../core/record/usage.ts'

/** Running counts of a run, for the live line. */
export class Tally {
  planned = 0
  done = 0
  replayed = 0
  live = 0
  failed = 0
  /** Micro-USD paid in this run; replayed calls cost nothing. */
  spent: MicroUsd = 0
  /** Live cells whose charge nobody knows. */
  unknownCharges = 0

  add(record: RunRecord): void {
    this.done++
    if (record.status === 'task_fail' || record.status.endsWith('_error')) this.failed++
    if (record.calls.subject + record.calls.judge === 0) return
    if (record.provenance === 'replayed') {
      this.replayed++
      return
    }
    this.live++
    if (record.cost.usd === null) this.unknownCharges++
    else this.spent += toMicroUsd(record.cost.usd)
  }
}
