import type { TestContext } from 'vitest'
import { printable } from '../../core/traffic/hostile.ts'
import type { RegisteredCampaign, WorkerBridge } from './bridge.ts'

/** A red verdict. Its stack is the evalCampaign() call: that is the line an annotation belongs to. */
class GateError extends Error {
  override readonly name = 'GateError'
  constructor(said: string, site: string) {
    const headline = printable(said)
    super(headline)
    this.stack = `${this.name}: ${headline}\n${site}`
  }
}

/** The body of a campaign's last test: asks the main process for the verdict and shows it. */
export async function showVerdict(
  bridge: WorkerBridge,
  registered: RegisteredCampaign,
  context: TestContext,
): Promise<void> {
  const { control } = bridge
  context.task.meta.campaign = { campaignId: registered.campaign.plan.campaignId }
  if (control === null) throw new Error('the gate runs only inside a run, never while tests are listed')
  if (registered.refused !== null) throw new GateError(registered.refused, registered.site)
  const verdict = await control.verdict(registered.campaign.plan.campaignId)
  if (verdict.skipped !== null) return context.skip(verdict.skipped)
  if (verdict.red) throw new GateError(verdict.headline, registered.site)
  await context.annotate(printable(verdict.headline), 'notice')
}
