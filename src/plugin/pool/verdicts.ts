import type { LookCount } from '../../core/looks/count.ts'
import type { BudgetBasis } from '../../core/report/budget.ts'
import type { buildReport } from '../../core/report/build.ts'
import type { CapacityBasis } from '../../core/report/capacity.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import { writeAtomic } from './atomic-file.ts'
import type { CampaignState } from './campaign-state.ts'
import { readLabels } from './labels.ts'
import type { RunFolder } from './run-folder.ts'

/** The reports of a run, each computed once and again only when records or problems were added since. */
export class Verdicts {
  readonly #folder: RunFolder
  readonly #countLook: (state: CampaignState) => Promise<LookCount | null>
  readonly #moneyOf: (state: CampaignState) => BudgetBasis
  readonly #capacityOf: (state: CampaignState) => CapacityBasis
  #loading: Promise<{ readonly buildReport: typeof buildReport }> | null = null
  readonly #root: string
  readonly #given = new Map<
    string,
    { readonly report: CampaignReport; readonly settled: number; readonly problems: number }
  >()

  /** @param root of the project, below which labels lie beside the eval files */
  constructor(
    folder: RunFolder,
    root: string,
    countLook: (state: CampaignState) => Promise<LookCount | null>,
    moneyOf: (state: CampaignState) => BudgetBasis,
    capacityOf: (state: CampaignState) => CapacityBasis,
  ) {
    this.#capacityOf = capacityOf
    this.#moneyOf = moneyOf
    this.#folder = folder
    this.#root = root
    this.#countLook = countLook
  }

  /**
   * Loads the report and its statistics, half of this package's modules: beside the first cells, not before them. A
   * failure shows where the report is wanted.
   */
  prepare(): void {
    this.#load().catch(() => {})
  }

  #load(): Promise<{ readonly buildReport: typeof buildReport }> {
    this.#loading ??= import('../../core/report/build.ts')
    return this.#loading
  }

  /** Computes the report of a campaign and writes it to the run folder. */
  async give(state: CampaignState): Promise<CampaignReport> {
    const { campaignId } = state.plan
    const known = this.#given.get(campaignId)
    if (known !== undefined && known.settled === state.settled.size && known.problems === state.problems.length) {
      return known.report
    }
    state.look ??= await this.#countLook(state)
    const { buildReport } = await this.#load()
    const read = readLabels(this.#root, state.plan)
    const report = buildReport({
      plan: state.plan,
      fingerprint: state.fingerprint,
      records: state.records(),
      problems: [...state.problems, ...read.problems],
      accepted: state.accepted,
      prereg: state.registration,
      looks: state.look,
      labels: read.labels,
      budget: this.#moneyOf(state),
      capacity: this.#capacityOf(state),
    })
    this.#given.set(campaignId, { report, settled: state.settled.size, problems: state.problems.length })
    await writeAtomic(this.#folder.report(campaignId, 'json'), `${JSON.stringify(report, null, 2)}\n`)
    return report
  }

  /** Of those that have one, in the order of the ids. */
  reports(campaignIds: Iterable<string>): readonly CampaignReport[] {
    return [...campaignIds].flatMap((id) => this.#given.get(id)?.report ?? [])
  }

  /** records.jsonl: every record of the run, in the order of the plans. */
  async writeRecords(states: Iterable<CampaignState>): Promise<void> {
    await writeAtomic(this.#folder.records, recordLines(states))
  }
}

function* recordLines(states: Iterable<CampaignState>): Generator<string> {
  for (const state of states) {
    for (const cellId of state.cells.keys()) {
      const settled = state.settled.get(cellId)
      if (settled !== undefined) yield `${settled.record}\n`
    }
  }
}
