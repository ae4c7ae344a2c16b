import { relative, sep } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { NotJsonError } from '../../core/campaign/canonical-json.ts'
import { cellName, cellsOf } from '../../core/campaign/cells.ts'
import type { CampaignDefinition, DeclareCampaign } from '../../core/campaign/definition.ts'
import { type Campaign, loadDefinition } from '../../core/campaign/load.ts'
import { isInShard } from '../../core/campaign/shard.ts'
import { settlesWithin, systemClock } from '../replay/clock.ts'
import { BROKEN_TEST, type RegisteredCampaign, requireBridge, verdictTest, type WorkerBridge } from './bridge.ts'
import { type CallSite, callSite } from './call-site.ts'
import { runCell } from './cell.ts'
import { adaptExpect } from './expect.ts'
import { withoutOwnFrames } from './frames.ts'
import { showVerdict } from './gate.ts'
import { redactedError } from './redacted-error.ts'

/**
 * Declares a campaign: variants × scenarios × seeds, how to run one, how to score it, how to decide.
 *
 * Registers one concurrent Vitest test per cell, `<id> > <variant> > <scenario> > seed <n>`, and a last test `gate`
 * (`coverage` where no gate is declared). `evalCampaign.only` and `.skip` work like Vitest's.
 *
 * @param id unique in the project, at most 200 code units, no control characters
 * @throws Error outside the campaign pool; every other mistake in the definition is the failure of a test `definition`
 *   in place of the cells, naming the campaign, the option and what to do
 */
export interface EvalCampaign extends DeclareCampaign {
  readonly only: DeclareCampaign
  readonly skip: DeclareCampaign
}

export const evalCampaign: EvalCampaign = Object.assign(registrar('run'), {
  only: registrar('only'),
  skip: registrar('skip'),
})

function registrar(mode: 'run' | 'only' | 'skip'): DeclareCampaign {
  const register: DeclareCampaign = (id, definition) => {
    const bridge = requireBridge('evalCampaign()')
    adaptExpect(bridge)
    const site = callSite(bridge.file, register)
    const suite = mode === 'only' ? describe.only : mode === 'skip' ? describe.skip : describe
    suite(String(id), () => collect(bridge, id, definition, site, mode === 'skip'))
  }
  return register
}

async function collect<Variant extends object, Scenario extends object, Output>(
  bridge: WorkerBridge,
  id: string,
  definition: CampaignDefinition<Variant, Scenario, Output>,
  site: CallSite,
  skip: boolean,
): Promise<void> {
  const file = relative(bridge.settings.root, bridge.file ?? '')
    .split(sep)
    .join('/')
  let campaign: Campaign
  try {
    campaign = await loadDefinition(id, definition, { file, line: site.line }, bridge.settings, (work, ms) =>
      settlesWithin(systemClock, work, ms),
    )
  } catch (thrown) {
    // Only this campaign is lost: the others of the file still run, and the run is red.
    const error = redactedError(atSite(thrown, site), bridge.redactor) as Error
    bridge.broken.push({ campaignId: String(id), error, skip })
    test(BROKEN_TEST, () => {
      throw error
    })
    return
  }
  const { shard } = bridge.settings
  const all = cellsOf(campaign.plan)
  const cells = shard === null ? all : all.filter(({ cellId }) => isInShard(cellId, shard))
  const registered: RegisteredCampaign = { campaign, cells, skip, site: site.stack, planned: null, refused: null }
  bridge.campaigns.push(registered)
  // Each look at `test.concurrent` makes a new function with a dozen properties.
  const { concurrent } = test
  const run = (context: TestContext) => runCell(bridge, context)
  for (const cell of cells) concurrent(cellName(cell), run)
  test(verdictTest(campaign.plan), (context: TestContext) => showVerdict(bridge, registered, context))
}

/** The error with the evalCampaign() call for a stack: where it was thrown inside this package helps nobody. */
function atSite(thrown: unknown, site: CallSite): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  // A cause of the user's own (their loader threw) is shown with their frames; one of ours says the same twice.
  if (error.cause instanceof NotJsonError) delete error.cause
  else withoutOwnFrames(error.cause, site.stack)
  error.stack = `${error.name}: ${error.message}\n${site.stack}`
  return error
}
