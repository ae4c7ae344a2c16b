import { cellsOf } from '../../core/campaign/cells.ts'
import type { CampaignPlan, PlannedCell, Selection } from '../../core/campaign/plan.ts'
import { printable } from '../../core/traffic/hostile.ts'
import type { FilePlan, PlanReply } from '../control.ts'
import type { Admission } from './admission.ts'
import { writeAtomic } from './atomic-file.ts'
import { type LoadedBasis, loadBasis } from './basis.ts'
import { CampaignState } from './campaign-state.ts'
import type { Campaigns } from './campaigns.ts'
import { type CodeDigest, codeDigest } from './code-digest.ts'
import { deadLanes, type Preflight, preflightText, soughtIn } from './preflight.ts'
import type { Problems } from './problems.ts'
import type { Resumed, Resumption } from './resumption.ts'
import type { RunContext } from './run-context.ts'
import type { RunFolder } from './run-folder.ts'
import type { RunJournal } from './run-journal.ts'
import type { Spending } from './spending.ts'
import type { Tally } from './tally.ts'
import { unrecordable } from './unrecordable.ts'

interface IntakeOf {
  readonly context: RunContext
  readonly folder: RunFolder
  readonly campaigns: Campaigns
  readonly journal: RunJournal
  readonly problems: Problems
  readonly resumption: Resumption | null
  readonly spending: Spending
  readonly admission: Admission
  readonly preflight: Preflight | null
  readonly tally: Tally
}

type Answer = PlanReply['campaigns'][number]

/** Takes in the plans of eval files: everything that may refuse a campaign does so here, before it asks for a lease. */
export class Intake {
  readonly #of: IntakeOf
  /** Campaign ids and who took them. */
  readonly #claims = new Map<string, CampaignPlan>()

  constructor(of: IntakeOf) {
    this.#of = of
  }

  async plan({ campaigns }: FilePlan, workerId: number): Promise<readonly Answer[]> {
    const answers: Answer[] = []
    for (const planned of campaigns) answers.push(await this.#take(planned, workerId))
    return answers
  }

  async #take({ plan, selection, skipped }: FilePlan['campaigns'][number], workerId: number): Promise<Answer> {
    const { context, campaigns, journal, problems, spending, tally } = this.#of
    const { campaignId } = plan
    const other = this.#claims.get(campaignId)
    if (other !== undefined) {
      problems.tell(null, 'campaign_twice', twice(other, plan))
      return { fingerprint: null, refused: twice(other, plan) }
    }
    // Claimed before anything is awaited: another file's plan may arrive meanwhile.
    this.#claims.set(campaignId, plan)
    let basis: LoadedBasis
    try {
      basis = await loadBasis(context.root, plan, skipped)
    } catch (error) {
      return this.#refuse(plan, error)
    }
    const unpriced = await spending.unpriced(plan, (variantId) => selectedOf(plan, selection, variantId))
    if (unpriced !== null) return this.#refuse(plan, unpriced)
    const unkept = skipped
      ? null
      : await unrecordable(context.root, plan, context.policy.traffic, cellsHere(plan, selection))
    if (unkept !== null) return this.#refuse(plan, unkept)
    const code = await codeDigest(context.modules, plan.file, plan.digestFiles)
    const state = new CampaignState(plan, code.digest, selection, skipped, workerId, basis)
    let resumed: Resumed | null
    try {
      resumed = await this.#goOn(state, code.files)
    } catch (error) {
      if (journal.failure !== null) throw error
      return this.#refuse(plan, error)
    }
    campaigns.add(state)
    const spent = resumed?.spent ?? { chargedMicroUsd: 0, unknownMicroUsd: 0 }
    this.#of.admission.budget(campaignId, spending.budgetOf(plan), spent)
    tally.planned += state.plannedHere
    for (const settlement of state.settled.values()) tally.add(settlement)
    const { fingerprint } = state
    // From this line on the run answers for what it carries: see Resumption.
    journal.appendLazy({ kind: 'plan', plan, fingerprint, selection, skipped, code: code.files })
    for (const { code, text } of resumed?.reasons ?? []) problems.tell(campaignId, code, text)
    await this.#journalBasis(campaignId, basis)
    await this.#preflown(state)
    return { fingerprint, refused: null, carried: resumed?.carried ?? [] }
  }

  /** What an earlier run settled of the campaign; null where it begins afresh. */
  #goOn(state: CampaignState, code: CodeDigest['files']): Promise<Resumed | null> | null {
    const { resumption, context } = this.#of
    // A part of a campaign is run because somebody wants to see that part run.
    if (resumption === null || context.shard !== null) return null
    if (state.skipped || state.selected !== null) return null
    return resumption.into(state, { plan: state.plan, code, fingerprint: state.fingerprint })
  }

  /** Nothing of the campaign may run: the message of its gate. */
  #refuse(plan: CampaignPlan, error: unknown): Answer {
    const why = error instanceof Error ? error.message : String(error)
    const refused = `campaign ${JSON.stringify(plan.campaignId)} (${placeOf(plan)}): ${why}`
    this.#of.problems.tell(null, 'definition', refused)
    return { fingerprint: null, refused }
  }

  /** What the report is computed from beside the records: with it the folder of the run is enough to compute it again. */
  async #journalBasis(campaignId: string, { baseline, registration }: LoadedBasis): Promise<void> {
    const { folder, journal } = this.#of
    if (baseline !== null) {
      // The committed file may change; what this run was compared with must not.
      await writeAtomic(folder.accepted(campaignId), baseline.text)
      journal.appendLazy({ kind: 'accepted', campaignId, file: baseline.name, digest: baseline.accepted.digest })
    }
    if (registration !== null) journal.appendLazy({ kind: 'prereg', campaignId, registration })
  }

  /** Before a cell of the campaign asks for anything. */
  async #preflown({ plan, judges }: CampaignState): Promise<void> {
    const { preflight, admission, problems } = this.#of
    if (preflight === null) return
    const found = await preflight.check(soughtIn(plan.variants, judges))
    for (const [lane, detail] of deadLanes(plan.variants, preflight.found)) admission.closeLane(lane, detail)
    const text = preflightText(found)
    if (text === null) return
    process.stderr.write(`\nvitest-campaign: ${printable(text)}\n`)
    problems.tell(plan.campaignId, 'preflight', text)
  }
}

const placeOf = ({ file, line }: CampaignPlan): string => (line === null ? file : `${file}:${line}`)

function* cellsHere(plan: CampaignPlan, selection: Selection): Generator<PlannedCell> {
  const selected = selection === 'all' ? null : new Set(selection)
  for (const cell of cellsOf(plan)) if (selected?.has(cell.cellId) ?? true) yield cell
}

function* selectedOf(plan: CampaignPlan, selection: Selection, variantId: string): Generator<PlannedCell> {
  for (const cell of cellsHere(plan, selection)) if (cell.variant.id === variantId) yield cell
}

function twice(first: CampaignPlan, second: CampaignPlan): string {
  return (
    `campaign ${JSON.stringify(first.campaignId)} is declared twice: in ${placeOf(first)}, which runs, and in ` +
    `${placeOf(second)}, which does not. Campaign ids are unique in a project; rename one`
  )
}
