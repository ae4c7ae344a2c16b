import { type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest'
import { cellName } from '../../core/campaign/cells.ts'
import { neverRan } from '../../core/record/build.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { type CarriedCell, type FilePlan, settlementOf } from '../control.ts'
import {
  type Binding,
  BROKEN_TEST,
  type CellBinding,
  type RegisteredCampaign,
  requireBridge,
  verdictTest,
  type WorkerBridge,
} from './bridge.ts'
import { isGreen } from './carried.ts'
import { redactedError } from './redacted-error.ts'
import { attributeUncaught } from './uncaught.ts'

/** Vitest's runner with a lease around every cell. */
export default class CampaignRunner extends TestRunner {
  readonly #bridge: WorkerBridge = requireBridge('the campaign runner')
  #restoreUncaught: (() => void) | null = null

  override onCollectStart(file: RunnerTestFile): void {
    this.#bridge.file = file.filepath
    super.onCollectStart(file)
  }

  /** Modes (only, skip, -t) are final here: what is planned, and what of it this run selects. */
  async onCollected(files: RunnerTestFile[]): Promise<void> {
    await this.#collected(files)
    if (this.#bridge.settings.planOnly) for (const file of files) standStill(file)
  }

  async #collected(files: RunnerTestFile[]): Promise<void> {
    const { control, campaigns, broken } = this.#bridge
    for (const file of files) this.#clean(file)
    if (control === null) return
    this.#restoreUncaught = attributeUncaught(this.#bridge)
    const suites = [...suitesOf(files)]
    for (const { campaignId, error, skip } of broken) {
      const suite = take(suites, (candidate) => isBroken(candidate, campaignId))
      const test = suite?.tasks[0]
      // A filter that looks for other cells does not make a file right.
      if (suite !== undefined && test !== undefined && !skip && this.config.testNamePattern !== undefined) enable(test)
      control.problem(null, 'definition', error.message).catch(() => {})
    }
    const planned: RegisteredCampaign[] = []
    const entries: FilePlan['campaigns'][number][] = []
    for (const registered of campaigns) {
      const suite = take(suites, (candidate) => holds(candidate, registered))
      if (suite === undefined) continue
      planned.push(registered)
      entries.push(this.#bind(registered, suite))
    }
    if (planned.length === 0) return
    const reply = await control.plan({ file: this.#bridge.file ?? '', campaigns: entries })
    for (const [i, registered] of planned.entries()) {
      const answer = reply.campaigns[i]
      if (answer === undefined) continue
      registered.refused = answer.refused
      if (answer.refused !== null) continue
      registered.planned = { run: reply.run, fingerprint: answer.fingerprint }
      if (answer.carried.length > 0) this.#carry(registered, answer.carried)
    }
  }

  #carry(registered: RegisteredCampaign, carried: readonly CarriedCell[]): void {
    const byId = new Map(carried.map((cell) => [cell.cellId, cell]))
    for (const binding of this.#bridge.bindings.values()) {
      if (binding.kind !== 'cell' || binding.registered !== registered) continue
      binding.carried = byId.get(binding.cell.cellId) ?? null
    }
  }

  #bind(registered: RegisteredCampaign, suite: RunnerTestSuite): FilePlan['campaigns'][number] {
    const { bindings } = this.#bridge
    const selected: string[] = []
    const { cells } = registered
    // Registered in the order of the plan, with the gate last.
    for (const [i, cell] of cells.entries()) {
      const task = suite.tasks[i]
      if (task === undefined) continue
      bindings.set(task, { kind: 'cell', registered, cell, lease: null, carried: null, settled: false })
      once(task)
      if (task.mode === 'run' || task.mode === 'queued') selected.push(cell.cellId)
    }
    const gate = suite.tasks[cells.length]
    // Nothing selected without a filter: another campaign's or test's `.only` took this one out.
    const skipped =
      registered.skip || (selected.length === 0 && cells.length > 0 && this.config.testNamePattern === undefined)
    if (gate !== undefined) {
      bindings.set(gate, { kind: 'gate', registered })
      // `sequence.concurrent` or a describe.concurrent() around the campaign would start it beside the cells.
      gate.concurrent = false
      once(gate)
      // `-t` filters the gate out without a word; run, it says why there is no verdict.
      if (selected.length > 0 && gate.mode === 'skip') gate.mode = 'run'
    }
    const { variants, scenarios, seeds } = registered.campaign.plan
    const selection = selected.length === variants.length * scenarios.length * seeds.length ? 'all' : selected
    return { plan: registered.campaign.plan, selection, skipped }
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    const binding: Binding | undefined = this.#bridge.bindings.get(test)
    // Nothing of it runs, not even a hook of the user.
    if (binding?.kind === 'cell' && binding.carried !== null && isGreen(binding.carried)) {
      return pass(test, binding.cell.cellId)
    }
    await super.onBeforeRunTask(test)
    // The hook also fires for skipped tests, and its counterpart never does: they take no lease.
    if (binding?.kind !== 'cell' || (test.mode !== 'run' && test.mode !== 'queued')) return
    const { refused, campaign } = binding.registered
    if (refused !== null) return skip(test, `the campaign was refused: see its test ${verdictTest(campaign.plan)}`)
    if (this.#bridge.calls === null || binding.carried !== null) return
    const reply = await this.#bridge.calls.lease(binding.cell.cellId)
    if (!reply.granted) {
      const { reason, detail } = reply
      return skip(test, printable(detail === undefined ? `not run: ${reason}` : `not run: ${reason}: ${detail}`))
    }
    binding.lease = reply
    if (!this.#bridge.cancelled) return
    await this.#settleUnrun(binding, 'not_run', 'interrupted')
    skip(test, 'not run: interrupted')
  }

  override async onAfterRunTask(test: RunnerTestCase): Promise<void> {
    const binding = this.#bridge.bindings.get(test)
    // A hook of the user that failed before the cell: the cell itself settles its lease in every other case.
    if (binding?.kind === 'cell' && binding.lease !== null && !binding.settled) {
      await this.#settleUnrun(binding, 'infra_error', 'collection-error', 'a hook failed before the cell could run')
    }
    this.#clean(test)
    super.onAfterRunTask(test)
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    this.#clean(suite)
    await super.onAfterRunSuite(suite)
  }

  /** What a hook, a file or an ordinary test of an eval file has thrown goes to the same sinks as a cell's error. */
  #clean({ result }: Pick<Task, 'result'>): void {
    if (result?.errors === undefined) return
    // Vitest 5 keeps the errors of every attempt a second time, and prints those.
    const { attempts = [] } = result as { readonly attempts?: { errors?: typeof result.errors }[] }
    for (const one of [result, ...attempts]) {
      if (one.errors !== undefined) one.errors = redactedError(one.errors, this.#bridge.redactor) as typeof one.errors
    }
  }

  override cancel(reason: Parameters<TestRunner['cancel']>[0]): void {
    this.#bridge.cancelled = true
    super.cancel(reason)
  }

  override onAfterRunFiles(): void {
    this.#restoreUncaught?.()
    this.#restoreUncaught = null
    super.onAfterRunFiles()
  }

  async #settleUnrun(
    binding: CellBinding,
    status: 'not_run' | 'infra_error',
    reason: 'interrupted' | 'collection-error',
    message?: string,
  ): Promise<void> {
    const { planned, campaign } = binding.registered
    if (planned === null || this.#bridge.calls === null) return
    const run = { ...planned.run, fingerprint: planned.fingerprint }
    binding.settled = true
    const why = { status, reason, ...(message === undefined ? {} : { message }) }
    const settlement = settlementOf(neverRan(run, campaign.plan, binding.cell, why))
    await this.#bridge.calls.settled({ ...settlement, red: status === 'infra_error' })
  }
}

function pass(test: RunnerTestCase, cellId: string): void {
  test.meta.campaign = { cellId }
  // A test that is not to run is left as it is, and the result is all that goes to the main process.
  test.mode = 'skip'
  test.result = { state: 'pass', duration: 0 }
}

function skip(test: RunnerTestCase, note: string): void {
  test.mode = 'skip'
  // `note` is read by reporters and absent from the type of a result that is set by hand.
  const result: RunnerTestCase['result'] & { note: string } = { state: 'skip', note }
  test.result = result
}

type Task = RunnerTestFile | RunnerTestSuite | RunnerTestCase

/** Every suite below the tasks, in the order written. */
function* suitesOf(tasks: readonly Task[]): Generator<RunnerTestSuite> {
  for (const task of tasks) {
    if (task.type !== 'suite') continue
    if (!('filepath' in task)) yield task
    yield* suitesOf(task.tasks)
  }
}

/** Takes the first suite that fits out of the list: two campaigns of a file may have one name. */
function take(suites: RunnerTestSuite[], fits: (suite: RunnerTestSuite) => boolean): RunnerTestSuite | undefined {
  const at = suites.findIndex(fits)
  return at === -1 ? undefined : suites.splice(at, 1)[0]
}

/** By its tests, not its name alone: a describe() around a campaign may have the campaign's name. */
function holds(suite: RunnerTestSuite, { campaign, cells }: RegisteredCampaign): boolean {
  const [first] = cells
  return (
    suite.name === campaign.plan.campaignId &&
    suite.tasks.length === cells.length + 1 &&
    suite.tasks[0]?.name === (first === undefined ? verdictTest(campaign.plan) : cellName(first))
  )
}

function isBroken(suite: RunnerTestSuite, campaignId: string): boolean {
  return suite.name === campaignId && suite.tasks.length === 1 && suite.tasks[0]?.name === BROKEN_TEST
}

/** Nothing of it runs, hooks included: the user's own tests in an eval file may buy something too. */
function standStill(task: Task): void {
  task.mode = 'skip'
  if (task.type === 'suite') for (const child of task.tasks) standStill(child)
}

/** Whatever a describe() around the campaign says: a cell runs once. */
function once(task: Task): void {
  task.retry = 0
  if ('repeats' in task) task.repeats = 0
}

/** Makes a filtered task run, and every suite around it. */
function enable(task: Task): void {
  if (task.mode === 'skip') task.mode = 'run'
  if (task.suite !== undefined) enable(task.suite)
  else if (task.file !== undefined && task.file !== task) enable(task.file)
}
