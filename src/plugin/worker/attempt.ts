import type { Json } from '../../core/campaign/canonical-json.ts'
import type { SubjectOutcome } from '../../core/record/build.ts'
import { describeOutput, survivesJson } from '../../core/record/output.ts'
import type { Rescore } from '../control.ts'
import type { CellTraffic } from '../replay/traffic.ts'
import type { CellContext } from './cell-context.ts'
import { gatherSoftFailures } from './expect.ts'
import { inScope } from './in-scope.ts'
import { readOutputFile } from './output-file.ts'
import { subjectContext } from './subject.ts'

/** The subject gave an output. */
export interface Returned {
  readonly kind: 'returned'
  readonly output: unknown
  /** Redacted. */
  readonly kept: Json
  /** Nothing of it was redacted. */
  readonly faithful: boolean
  readonly outcome: SubjectOutcome
}

/** How the subject's part of a cell ended. */
export type Attempt = Returned | { readonly kind: 'threw'; readonly thrown: unknown }

export async function runSubject(of: CellContext, traffic: CellTraffic | null): Promise<Attempt> {
  const { bridge, cell, lease, deadline, variant, scenario, notes } = of
  const { campaign } = of.registered
  const soft = gatherSoftFailures(cell.cellId)
  try {
    const context = subjectContext({
      ...{ cell, variant, scenario, deadline, notes },
      lane: lease.failover ?? cell.variant.lane,
      fetch: traffic?.fetch ?? globalThis.fetch,
      runDir: bridge.settings.runDir,
      redactor: bridge.redactor,
    })
    if (campaign.plan.sideEffects === true) {
      // What it changes may not be a call that anybody sees.
      const admitted = bridge.control?.admitted(cell.cellId, lease.attempt, cell.variant.lane)
      if (admitted !== undefined) await deadline.journalled(admitted)
    }
    const output = await deadline.bound(
      inScope(bridge, { cellId: cell.cellId, traffic }, 'subject', async () => campaign.run(context)),
    )
    const failed = soft.end()
    if (failed !== null) throw failed
    // Digested before redaction: two outputs that differ in a secret alone are different outputs.
    const described = describeOutput(output)
    const kept = bridge.redactor.json(output as Json).value
    const shown = kept === output ? described : { ...describeOutput(kept), digest: described.digest }
    const isKept = kept === output || describeOutput(kept).digest === described.digest
    const faithful = isKept && survivesJson(output)
    return { kind: 'returned', output, kept, faithful, outcome: { kind: 'output', output: shown } }
  } catch (thrown) {
    return { kind: 'threw', thrown }
  } finally {
    soft.end()
  }
}

/** What the subject gave in an earlier run, which was cut off before it was scored. */
export async function takeSubject(
  { bridge, notes }: CellContext,
  traffic: CellTraffic | null,
  { subject, output: kept }: Rescore,
): Promise<Returned> {
  const output = 'value' in kept ? kept.value : await readOutputFile(bridge.settings.runDir, kept.file)
  traffic?.adopt()
  Object.assign(notes.metrics, subject.metrics)
  Object.assign(notes.tags, subject.tags)
  notes.profile = subject.profile
  const described = { ...describeOutput(output), digest: subject.digest }
  return { kind: 'returned', output, kept: output, faithful: true, outcome: { kind: 'output', output: described } }
}
