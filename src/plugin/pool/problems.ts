import type { Reason } from '../../core/report/report.ts'
import type { Campaigns } from './campaigns.ts'
import type { Drain } from './drain.ts'
import type { RunJournal } from './run-journal.ts'

/** What is wrong with a run or a campaign of it beside its cells, and how many tests are red for that or for a cell. */
export class Problems {
  readonly #campaigns: Campaigns
  readonly #journal: RunJournal
  readonly #drain: Drain
  readonly #bail: number
  readonly #ofRun: Reason[] = []
  #reds = 0

  /** @param bail red tests after which nothing new starts; 0: never */
  constructor(campaigns: Campaigns, journal: RunJournal, drain: Drain, bail: number) {
    this.#campaigns = campaigns
    this.#journal = journal
    this.#drain = drain
    this.#bail = bail
  }

  /** Those of no campaign that is planned. */
  get ofRun(): readonly Reason[] {
    return this.#ofRun
  }

  tell(campaignId: string | null, code: string, text: string): void {
    const state = campaignId === null ? undefined : this.#campaigns.byId.get(campaignId)
    if (state !== undefined) state.problems.push({ code, text })
    else this.#ofRun.push({ code, text })
    this.#journal.appendLazy({ kind: 'problem', campaignId, code, text })
    if (code === 'definition') this.red()
  }

  /** A test fails: so many of them, and nothing new is started. */
  red(): void {
    if (++this.#reds !== this.#bail) return
    const bail = this.#bail
    this.#drain.begin('bail')
    const text = `${bail === 1 ? 'a test' : `${bail} tests`} failed, and bail is ${bail}: no cell was started after that`
    this.tell(null, 'bail', text)
  }
}
