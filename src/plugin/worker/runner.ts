import { type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest'
import { neverRan } from '../../core/record/build.ts'
import type { FilePlan } from '../control.ts'
import { type Binding, type CellBinding, type RegisteredCampaign, requireBridge, type WorkerBridge } from './bridge.ts'
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
    const { control, campaigns } = this.#bridge
    if (control === null || campaigns.length === 0) return
    this.#restoreUncaught = attributeUncaught(this.#bridge)
    const entries: FilePlan['campaigns'][number][] = []
    for (const registered of campaigns) {
      const suite = findSuite(files, registered.campaign.plan.campaignId)
      if (suite !== null) entries.push(this.#bind(registered, suite))
    }
    const reply = await control.plan({ file: this.#bridge.file ?? '', campaigns: entries })
    for (const registered of campaigns) {
      const { campaignId } = registered.campaign.plan
      const fingerprint = reply.fingerprints[campaignId]
      registered.refused = reply.refused[campaignId] ?? null
      if (fingerprint !== undefined) registered.planned = { run: reply.run, fingerprint }
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
      bindings.set(task, { kind: 'cell', registered, cell, lease: null, settled: false })
      if (task.mode === 'run' || task.mode === 'queued') selected.push(cell.cellId)
    }
    const gate = suite.tasks[cells.length]
    // Nothing selected without a filter: another campaign's or test's `.only` took this one out.
    const skipped = registered.skip || (selected.length === 0 && this.config.testNamePattern === undefined)
    if (gate !== undefined) {
      bindings.set(gate, { kind: 'gate', registered })
      // `-t` filters the gate out without a word; run, it says why there is no verdict.
      if (selected.length > 0 && gate.mode === 'skip') gate.mode = 'run'
    }
    const selection = selected.length === cells.length ? 'all' : selected
    return { plan: registered.campaign.plan, selection, skipped }
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test)
    const binding: Binding | undefined = this.#bridge.bindings.get(test)
    // The hook also fires for skipped tests, and its counterpart never does: they take no lease.
    if (binding?.kind !== 'cell' || (test.mode !== 'run' && test.mode !== 'queued')) return
    if (binding.registered.refused !== null) return skip(test, 'the campaign was refused: see its gate')
    await this.#lease(binding, test)
  }

  async #lease(binding: CellBinding, test: RunnerTestCase): Promise<void> {
    const { control } = this.#bridge
    if (control === null) return
    const reply = await control.lease(binding.cell.cellId)
    if (!reply.granted) return skip(test, `not run: ${reply.reason}`)
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
    super.onAfterRunTask(test)
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
    if (planned === null || this.#bridge.control === null) return
    const run = { ...planned.run, fingerprint: planned.fingerprint }
    binding.settled = true
    await this.#bridge.control.settled(
      neverRan(run, campaign.plan, binding.cell, { status, reason, ...(message === undefined ? {} : { message }) }),
    )
  }
}

function skip(test: RunnerTestCase, note: string): void {
  test.mode = 'skip'
  // `note` is read by reporters and absent from the type of a result that is set by hand.
  const result: RunnerTestCase['result'] & { note: string } = { state: 'skip', note }
  test.result = result
}

function findSuite(tasks: readonly (RunnerTestFile | RunnerTestSuite | RunnerTestCase)[], name: string): RunnerTestSuite | null {
  for (const task of tasks) {
    if (task.type !== 'suite') continue
    if (task.name === name && !('filepath' in task)) return task
    const found = findSuite(task.tasks, name)
    if (found !== null) return found
  }
  return null
}
