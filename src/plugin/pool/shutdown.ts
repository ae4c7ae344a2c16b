import { constants } from 'node:os'
import type { Vitest } from 'vitest/node'
import type { ProjectRuns } from './project-runs.ts'
import type { Run } from './run.ts'

/** What aborted cells get to hand in their records. */
const ANSWER_MS = 3_000
/** What a thread without cells in flight gets to end by itself, after one signal and after two. */
const REST_MS = 10_000
const FORCED_REST_MS = 3_000

type Signal = 'SIGINT' | 'SIGTERM'
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM']

/**
 * Takes SIGINT and SIGTERM over while a run is open: Vitest's own listeners end the process a millisecond later, with
 * nothing drained. The first signal drains (no new leases; cells in flight get `shutdownTimeout`, then their signal
 * aborts and they settle), the second aborts at once. The displaced listeners are called at the end.
 */
export class Shutdown {
  readonly #vitest: Vitest
  #displaced: { readonly signal: Signal; readonly listeners: NodeJS.SignalsListener[] }[] = []
  readonly #listeners = new Map<Signal, () => void>()
  readonly #open = new Map<ProjectRuns, Run>()
  #received: Signal | null = null
  #forced = false

  constructor(vitest: Vitest) {
    this.#vitest = vitest
  }

  /** The signal that ended the run, or null. */
  get received(): Signal | null {
    return this.#received
  }

  opened(runs: ProjectRuns, run: Run): void {
    if (this.#open.size === 0) this.#takeOver()
    this.#open.set(runs, run)
  }

  /** The run is finished and journalled: gives the signals back, and ends the process if one was received. */
  closed(runs: ProjectRuns): void {
    if (!this.#open.delete(runs) || this.#open.size > 0) return
    const displaced = this.#displaced
    this.#giveBack()
    if (this.#received === null) return
    process.exitCode = 128 + constants.signals[this.#received]
    for (const { signal, listeners } of displaced) {
      if (signal === this.#received) for (const listener of listeners) listener(signal)
    }
  }

  #takeOver(): void {
    for (const signal of SIGNALS) {
      const listeners = process.rawListeners(signal) as NodeJS.SignalsListener[]
      this.#displaced.push({ signal, listeners })
      for (const listener of listeners) process.removeListener(signal, listener)
      const own = (): void => this.#onSignal(signal)
      this.#listeners.set(signal, own)
      process.on(signal, own)
    }
  }

  #giveBack(): void {
    for (const [signal, listener] of this.#listeners) process.removeListener(signal, listener)
    this.#listeners.clear()
    for (const { signal, listeners } of this.#displaced) for (const listener of listeners) process.on(signal, listener)
    this.#displaced = []
  }

  #onSignal(signal: Signal): void {
    if (this.#received === null) {
      this.#received = signal
      process.exitCode = 128 + constants.signals[signal]
      this.#drain(signal).catch((error: unknown) => {
        process.stderr.write(`vitest-campaign: the drain failed: ${String(error)}\n`)
        process.exit()
      })
    } else if (!this.#forced) {
      this.#forced = true
      process.stderr.write(`\nvitest-campaign: second ${signal}: aborting the cells in flight now\n`)
      for (const [runs, run] of this.#open) {
        run.stop('interrupted')
        runs.abortAll(`second ${signal}`)
        void this.#endThreads(runs, run, signal).then(() => this.#endRest(runs, FORCED_REST_MS, signal))
      }
    }
  }

  async #drain(signal: Signal): Promise<void> {
    let inFlight = 0
    let grace = 0
    for (const [runs, run] of this.#open) {
      run.drain('interrupted')
      inFlight += run.inFlight()
      grace = Math.max(grace, runs.options.shutdownTimeoutMs)
    }
    process.stderr.write(
      `\nvitest-campaign: ${signal}: no new cells; ${inFlight} in flight get ${grace / 1000} s to finish (${signal} again aborts them)\n`,
    )
    await Promise.all([...this.#open].map(([runs, run]) => this.#settleRun(runs, run, signal)))
    // Vitest would show cells that are done as skipped: their results are still on their way.
    await Promise.all([...this.#open.keys()].map((runs) => runs.whenOver(ANSWER_MS)))
    // It waits for the threads that are left.
    const cancelled = this.#vitest.cancelCurrentRun('keyboard-input')
    await Promise.all([...this.#open.keys()].map((runs) => this.#endRest(runs, REST_MS, signal)))
    await cancelled
  }

  /** Vitest waits for a file that loads, and for hooks and tests beside the cells, for as long as they take. */
  async #endRest(runs: ProjectRuns, ms: number, signal: Signal): Promise<void> {
    await runs.whenOver(ms)
    runs.killRest(
      `${signal}, and its file did not end within ${ms / 1000} s (a file that loads, a hook or a test beside the cells)`,
    )
  }

  async #settleRun(runs: ProjectRuns, run: Run, signal: Signal): Promise<void> {
    if (await run.whenIdle(runs.options.shutdownTimeoutMs)) return
    run.stop('interrupted')
    runs.abortAll(`${signal}, and the cell did not finish within the shutdown timeout`)
    // The aborted cells journal their records, whether their subjects heed the signal or not.
    await this.#endThreads(runs, run, signal)
  }

  /**
   * Threads that hand in nothing within a moment are in a synchronous loop, and end only with a kill. Of those that do,
   * on a machine that is busy, nothing is thrown away.
   */
  async #endThreads(runs: ProjectRuns, run: Run, signal: Signal): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; run.inFlight() < before; ) {
      before = run.inFlight()
      if (await run.whenIdle(ANSWER_MS)) return
    }
    runs.killAll(`${signal}, and its cells did not answer for ${ANSWER_MS / 1000} s (a synchronous loop?)`)
    await run.whenIdle(ANSWER_MS)
  }
}
