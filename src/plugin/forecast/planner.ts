import type { MessagePort } from 'node:worker_threads'
import type { CampaignPlan, PlannedCell } from '../../core/campaign/plan.ts'
import type { RunForecast } from '../../core/report/run-forecast.ts'
import { batchedChannel } from '../channel.ts'
import type { FilePlan, PlanReply } from '../control.ts'
import { loadBasis } from '../pool/basis.ts'
import { CampaignState } from '../pool/campaign-state.ts'
import { codeDigest } from '../pool/code-digest.ts'
import { type ControlServer, serving } from '../pool/control-server.ts'
import type { RunContext } from '../pool/run-context.ts'
import { Spending } from '../pool/spending.ts'
import { Foreteller } from './foreteller.ts'
import { LeftOver } from './left-over.ts'
import { NOTHING_LEFT } from './outlook.ts'

/** Of what a run is opened with, what saying what it would do needs. */
export type PlannerContext = Pick<
  RunContext,
  'root' | 'projectName' | 'options' | 'policy' | 'budget' | 'modules' | 'shard' | 'resume'
>

/** Stands in for a run where the run is only planned (`EVALS_PLAN=1`): it takes the plans, and nothing is written or sent. */
export class Planner {
  readonly #context: PlannerContext
  readonly #foreteller: Foreteller
  readonly #spending: Spending
  readonly #leftOver: LeftOver | null
  readonly #claims = new Map<string, CampaignPlan>()
  readonly #problems: string[] = []

  constructor(context: PlannerContext) {
    const { root, projectName: project, policy, resume } = context
    this.#context = context
    this.#foreteller = new Foreteller({ ...context, project })
    this.#spending = new Spending(context)
    this.#leftOver = resume === null ? null : new LeftOver({ root, project, policy: policy.traffic }, resume.reconciled)
  }

  /** Why some of it would not run. */
  get problems(): readonly string[] {
    return this.#problems
  }

  async plan({ campaigns }: FilePlan, workerId: number): Promise<PlanReply> {
    const replies: PlanReply['campaigns'][number][] = []
    for (const campaign of campaigns) {
      try {
        const fingerprint = await this.#add(campaign, workerId)
        replies.push({ fingerprint, refused: null, carried: [] })
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        const { campaignId, file, line } = campaign.plan
        const refused = `campaign ${JSON.stringify(campaignId)} (${line === null ? file : `${file}:${line}`}): ${why}`
        this.#problems.push(refused)
        replies.push({ fingerprint: null, refused })
      }
    }
    return { run: { runId: '', commit: { sha: null, dirty: false } }, campaigns: replies }
  }

  /** What a file does while it loads is refused as in a replay, and no fault of its campaigns. */
  problem(code: string, text: string): void {
    if (code === 'definition') this.#problems.push(text)
  }

  /** Everything has been planned. */
  forecast(): RunForecast {
    this.#leftOver?.close()
    return this.#foreteller.forecast(this.#problems)
  }

  async #add({ plan, selection, skipped }: FilePlan['campaigns'][number], workerId: number): Promise<string> {
    const { root, modules, shard } = this.#context
    const other = this.#claims.get(plan.campaignId)
    if (other !== undefined) {
      throw new Error(`it is declared twice, first in ${other.file}. Campaign ids are unique in a project; rename one`)
    }
    this.#claims.set(plan.campaignId, plan)
    const basis = await loadBasis(root, plan, skipped)
    const code = await codeDigest(modules, plan.file, plan.digestFiles)
    const state = new CampaignState(plan, code.digest, selection, skipped, workerId, basis)
    const unpriced = await this.#spending.unpriced(plan, (variantId) => cellsHere(state, variantId))
    if (unpriced !== null) throw new Error(unpriced)
    const resumes = this.#leftOver !== null && shard === null && !skipped && state.selected === null
    const left =
      this.#leftOver === null || !resumes
        ? NOTHING_LEFT
        : await this.#leftOver.of(state, { plan, code: code.files, fingerprint: state.fingerprint })
    await this.#foreteller.add(state, left, null)
    return state.fingerprint
  }
}

function* cellsHere({ cells, selected }: CampaignState, variantId: string): Generator<PlannedCell> {
  for (const cell of cells.values()) {
    if (cell.variant.id === variantId && (selected?.has(cell.cellId) ?? true)) yield cell
  }
}

/** Answers the control calls of a worker that plans: no cell of it asks for anything else. */
export function servePlanner(port: MessagePort, planner: Planner, workerId: number): ControlServer {
  return serving(batchedChannel(port), {
    plan: (plan) => planner.plan(plan, workerId),
    problem: (_campaignId, code, text) => planner.problem(code, text),
  })
}
