import { isInShard, type Shard } from '../../core/campaign/shard.ts'
import { forecast, type PlannedCells } from '../../core/capacity/forecast.ts'
import { expectedOf } from '../../core/capacity/seen-cells.ts'
import { capacityOfShard } from '../../core/capacity/shard.ts'
import { type MicroUsd, toMicroUsd, toUsd } from '../../core/record/usage.ts'
import type { CampaignForecast, RunForecast } from '../../core/report/run-forecast.ts'
import type { ResolvedOptions } from '../options.ts'
import type { CampaignState } from '../pool/campaign-state.ts'
import type { Policy } from '../pool/policy.ts'
import { evidenceOf } from './evidence.ts'
import { type Left, outlookOf } from './outlook.ts'

export interface ForetellerOptions {
  /** Absolute root of the project. */
  readonly root: string
  readonly project: string
  readonly options: Pick<ResolvedOptions, 'capacity'>
  readonly policy: Policy
  readonly shard: Shard | null
  /** Of the whole run; null: none. */
  readonly budget: MicroUsd | null
}

const UNCAPTURED = "their campaign has capture: 'off', so that nobody sees what they call"

/** Says what the campaigns of a run will do and take, as their plans arrive. */
export class Foreteller {
  readonly #options: ForetellerOptions
  readonly #campaigns: CampaignForecast[] = []
  readonly #planned: PlannedCells[] = []

  constructor(options: ForetellerOptions) {
    this.#options = options
  }

  /**
   * @param left what an earlier run leaves of the campaign's cells
   * @param runId the run that will execute them; null: none
   */
  async add(state: CampaignState, left: Left, runId: string | null): Promise<CampaignForecast> {
    const { root, project, options, policy, shard } = this.#options
    const { plan } = state
    const { cells, byVariant } = outlookOf(state, left, policy, root)
    const uncaptured = plan.capture === 'off'
    const calls = cells.live + cells.rescored > 0
    const prices = options.capacity.lanes ?? []
    const called = [...byVariant].flatMap(([id, { live, rescored }]) => (live + rescored > 0 ? [id] : []))
    const evidence =
      calls && !uncaptured
        ? await evidenceOf(plan, state.fingerprint, state.cells.values(), {
            root,
            project,
            runId,
            prices,
            variants: called,
          })
        : { cells: [], sources: [], report: null }
    const unseen = { variants: [] as string[], cells: 0 }
    for (const [variantId, { live, rescored }] of byVariant) {
      const seen = evidence.cells.filter((cell) => cell.variantId === variantId)
      const [all, judges] = [expectedOf(seen), expectedOf(seen, ['judge'])]
      if (all !== null && judges !== null) {
        this.#planned.push({ cells: live, expected: all }, { cells: rescored, expected: judges })
      } else if (live + rescored > 0) {
        unseen.variants.push(variantId)
        unseen.cells += live + rescored
      }
    }
    const why = uncaptured ? UNCAPTURED : unseenOf(plan.campaignId, unseen.variants)
    this.#planned.push({ cells: unseen.cells, expected: { unseen: why } })
    // With it comes the statistics kernel.
    const { plannedPower } = await import('../../core/report/planned-power.ts')
    const forecasted: CampaignForecast = {
      campaignId: plan.campaignId,
      file: plan.file,
      variants: plan.variants.length,
      scenarios: plan.scenarios.length,
      seeds: plan.seeds.length,
      cells,
      uncaptured,
      budgetUsd: plan.budgetUsd === undefined ? null : shareOf(toMicroUsd(plan.budgetUsd), shard),
      sources: evidence.sources,
      power: isWhole(state, shard) ? plannedPower(plan, evidence.report) : null,
    }
    this.#campaigns.push(forecasted)
    return forecasted
  }

  /** Of all campaigns so far. */
  forecast(problems: readonly string[] = []): RunForecast {
    const { project, options, policy, shard, budget } = this.#options
    const capacity = shard === null ? options.capacity : capacityOfShard(options.capacity, shard)
    const planned = this.#planned.filter(({ cells }) => cells > 0)
    return {
      project,
      policy,
      shard,
      campaigns: [...this.#campaigns],
      forecast: planned.length === 0 ? null : forecast(planned, capacity),
      budgetUsd: budget === null ? null : shareOf(budget, shard),
      problems,
    }
  }
}

/** What one shard has of a budget, as everything that all of them have together. */
const shareOf = (whole: MicroUsd, shard: Shard | null): number =>
  toUsd(shard === null ? whole : Math.floor(whole / shard.count))

/** Whether all of the campaign runs, here or in the other shards: else nothing is decided. */
function isWhole({ skipped, selected, cells }: CampaignState, shard: Shard | null): boolean {
  if (skipped || selected === null || shard === null) return !skipped && selected === null
  return [...cells.keys()].every((cellId) => selected.has(cellId) || !isInShard(cellId, shard))
}

/** Variants that are named; the others are counted. */
const NAMED = 4

function unseenOf(campaignId: string, variants: readonly string[]): string {
  const more = variants.length > NAMED ? ` and ${variants.length - NAMED} more` : ''
  const who = `${variants.length === 1 ? 'variant' : 'variants'} ${variants.slice(0, NAMED).join(', ')}${more}`
  return `${who} of ${campaignId} never ran here and ${variants.length === 1 ? 'has' : 'have'} no recordings: run a few cells first (-t)`
}
