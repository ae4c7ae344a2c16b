import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CellFate, resumePlan } from '../../core/journal/resume.ts'
import type { CampaignState } from '../pool/campaign-state.ts'
import { EarlierRuns, type LookingOptions, type Wanted } from '../pool/earlier-runs.ts'
import { RUNS } from '../pool/run-folder.ts'
import { type Left, NOTHING_LEFT } from './outlook.ts'

/** What the run that would go on from an earlier one would leave alone of a campaign: looked at, and nothing taken over. */
export class LeftOver {
  readonly #runs: EarlierRuns
  readonly #root: string
  readonly #reconciled: boolean

  /** @param reconciled cells with side effects that an earlier run was cut off in may run again */
  constructor(options: Omit<LookingOptions, 'runId' | 'isTaken'>, reconciled: boolean) {
    // No run has this id.
    this.#runs = new EarlierRuns({ ...options, runId: '', isTaken: () => false })
    this.#root = options.root
    this.#reconciled = reconciled
  }

  /** @throws UnreadableRunError where the earlier run is damaged: nothing would run either */
  async of(state: CampaignState, wanted: Wanted): Promise<Left> {
    // The folder of runs is a run's to make.
    if (!existsSync(join(this.#root, RUNS))) return NOTHING_LEFT
    const found = await this.#runs.find(wanted)
    if (found.kind !== 'unfinished') return NOTHING_LEFT
    const { campaign, journal } = found
    const { fates } = resumePlan(campaign, journal.run.cells, [...state.cells.values()], {
      reconciled: this.#reconciled,
    })
    return { carried: those(fates, 'carried'), rescored: those(fates, 'rescored'), held: those(fates, 'held') }
  }

  close(): void {
    this.#runs.close()
  }
}

function those(fates: ReadonlyMap<string, CellFate>, kind: CellFate['kind']): ReadonlySet<string> {
  return new Set([...fates].flatMap(([cellId, fate]) => (fate.kind === kind ? [cellId] : [])))
}
