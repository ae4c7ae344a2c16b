import type { Json } from '../../core/campaign/canonical-json.ts'
import type { SubjectFacts } from '../../core/journal/entry.ts'
import { describeOutput } from '../../core/record/output.ts'
import type { CellTraffic } from '../replay/traffic.ts'
import type { WorkerBridge } from './bridge.ts'
import { journalledOutput } from './output-file.ts'

/** What a subject gave, and what the cell's record will say of it. */
export interface KeptSubject {
  readonly cellId: string
  readonly attempt: number
  readonly traffic: CellTraffic | null
  /** The output, redacted. */
  readonly kept: Json
  readonly facts: Omit<SubjectFacts, 'calls'>
}

/** Resolves when the output is durable: from here on nothing runs the subject again, in this run or the next. */
export async function keepSubject({ control, settings }: WorkerBridge, subject: KeptSubject): Promise<void> {
  if (control === null) return
  const { cellId, attempt, traffic, kept, facts } = subject
  // A scorer that is slow may have changed it in place meanwhile.
  const faithful = facts.faithful && describeOutput(kept).digest === facts.digest
  const [output, calls] = await Promise.all([
    journalledOutput(settings.runDir, kept),
    // What it was answered must be with the system before the journal says that it is done.
    traffic?.flush() ?? 0,
  ])
  await control.subjectSettled({ cellId, attempt, ...output, subject: { ...facts, faithful, calls } })
}
