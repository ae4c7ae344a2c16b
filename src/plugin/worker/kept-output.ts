import type { Payload } from '../../core/campaign/listing.ts'
import type { PlannedCell } from '../../core/campaign/plan.ts'
import { callsProvider } from '../../core/campaign/scoring.ts'
import type { CellTraffic } from '../replay/traffic.ts'
import type { RegisteredCampaign, WorkerBridge } from './bridge.ts'
import type { Deadline } from './deadline.ts'
import { inScope } from './in-scope.ts'
import { type Scoring, scoreOutput } from './score.ts'

/** What a cell's subject gave. */
export interface SubjectOutput {
  readonly registered: RegisteredCampaign
  readonly cell: PlannedCell
  readonly deadline: Deadline
  readonly variant: Payload
  readonly scenario: Payload
  readonly traffic: CellTraffic | null
  readonly output: unknown
  /** Resolves when the output is durable. */
  keep(): Promise<void>
}

/** Scores an output that is journalled before anything that may fail or cost money judges it. */
export async function scoreKept(bridge: WorkerBridge, of: SubjectOutput): Promise<Scoring> {
  const { registered } = of
  if (registered.campaign.scorers.some((scorer) => scorer.role !== 'code' || callsProvider(scorer))) {
    await of.deadline.journalled(of.keep())
    return score(bridge, of)
  }
  const scoring = score(bridge, of)
  // Scorers that are done at once are journalled with the record itself, a moment later.
  if (!(scoring instanceof Promise)) return scoring
  let scored = false
  const slow = bridge.clock.turn().then(() => (scored ? undefined : of.keep()))
  // A journal that cannot be written rejects the record too, and there the cell fails.
  slow.catch(() => {})
  const settled = await scoring
  scored = true
  return settled
}

function score(bridge: WorkerBridge, of: SubjectOutput): Scoring | Promise<Scoring> {
  const { registered, cell, deadline, variant, scenario, traffic, output } = of
  const where = { cellId: cell.cellId, traffic }
  return scoreOutput({
    scorers: registered.campaign.scorers,
    ...{ cell, variant, scenario, output, deadline },
    fetch: traffic?.fetch ?? globalThis.fetch,
    // A recording answers at once and buys nothing: no lane limits it.
    judges: traffic?.mode === 'replayed' ? null : bridge.judges,
    within: (scorer, body) => inScope(bridge, where, 'judge', body, scorer),
    redactor: bridge.redactor,
    root: bridge.settings.root,
  })
}
