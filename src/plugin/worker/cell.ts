import type { TestContext } from 'vitest'
import type { CampaignPlan } from '../../core/campaign/plan.ts'
import type { RunRecord } from '../../core/record/record.ts'
import type { Telling } from '../telling.ts'
import type { WorkerBridge } from './bridge.ts'
import { showCarried } from './carried.ts'
import { type Again, Execution, type Measured } from './execution.ts'

declare module 'vitest' {
  interface TaskMeta {
    /**
     * The cell's RunRecord, or of a campaign's last test its plan, for reporters and merged blob reports: put in by the
     * reporter, in the main process.
     */
    campaign?:
      | { readonly cellId: string; readonly record?: RunRecord }
      | {
          readonly campaignId: string
          readonly carried?: { readonly plan: CampaignPlan; readonly fingerprint: string }
        }
  }
}

/** The body of a cell's test: runs the subject, scores it, checks it, and returns when its record is durable. */
export async function runCell(bridge: WorkerBridge, context: TestContext): Promise<void> {
  const binding = bridge.bindings.get(context.task)
  if (binding?.kind === 'cell' && binding.carried !== null) {
    return showCarried(bridge, binding.registered, binding.carried, context)
  }
  if (binding?.kind !== 'cell' || binding.lease === null || binding.registered.planned === null) {
    throw new Error(
      `cell ${context.task.name} was started without a lease: is another test runner configured for this project?`,
    )
  }
  const { cellId } = binding.cell
  const { registered, cell, lease } = binding
  const leased = { registered, cell, planned: binding.registered.planned }
  let execution = new Execution(bridge, { ...leased, lease })
  let told: Telling | null = null
  while (told === null) {
    bridge.inFlight.set(cellId, execution)
    try {
      const measured: Measured | Again = await execution.run()
      if ('lease' in measured) {
        execution.over()
        execution = new Execution(bridge, { ...leased, lease: measured.lease }, measured.calls)
        continue
      }
      told = measured.told
      await measured.durable
    } finally {
      bridge.inFlight.delete(cellId)
      execution.over()
    }
  }
  binding.settled = true
  context.task.meta.campaign = { cellId }
  execution.show(context, told)
}
