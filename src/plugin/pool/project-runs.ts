import { createRequire } from 'node:module'
import { loadEnv } from 'vite'
import type { TestProject } from 'vitest/node'
import type { Shard } from '../../core/campaign/shard.ts'
import { runBudget } from '../../core/capacity/budget.ts'
import type { MicroUsd } from '../../core/record/usage.ts'
import type { RunForecast } from '../../core/report/run-forecast.ts'
import { printable } from '../../core/traffic/hostile.ts'
import { createRedactor, PLACEHOLDER_KEY } from '../../core/traffic/redact.ts'
import type { WorkerSettings } from '../control.ts'
import { ENV_SWITCHES, envSwitch, evalsVariable, strayVariables } from '../env.ts'
import { Foreteller } from '../forecast/foreteller.ts'
import { Planner, type PlannerContext } from '../forecast/planner.ts'
import { plainError, type ResolvedOptions } from '../options.ts'
import { commandOf, type RecordCommand } from '../record-command.ts'
import { placeholderKeys } from '../replay/keys.ts'
import type { CampaignWorker } from './campaign-worker.ts'
import { viteModules } from './code-digest.ts'
import { createHost, type Host } from './host.ts'
import { followsSnapshots, type Policy, trafficPolicy } from './policy.ts'
import { replayedRun } from './replayed-run.ts'
import { Run } from './run.ts'
import type { RunContext } from './run-context.ts'
import { shardOf } from './sharding.ts'

const { version: packageVersion } = createRequire(import.meta.url)('../../../package.json') as { version: string }

/** How long Vitest's close waits for a thread that was told to stop; Vitest itself waits 10 s for all of it. */
const CLOSE_MS = 5000

/** The runs of one eval project: one at a time, opened by its first worker, closed when Vitest's run ends. */
export class ProjectRuns {
  readonly project: TestProject
  readonly options: ResolvedOptions
  #host: Host | null = null
  #run: Promise<Run> | null = null
  readonly #workers = new Set<CampaignWorker>()
  /** Vitest exits 0 without a summary when a lost worker was the last thing alive. */
  #alive: NodeJS.Timeout | null = null
  /** A run was opened before: what Vitest runs again in one process is to be run. */
  #again = false
  #replayRun: string | null = null
  #planner: Planner | null = null
  readonly #bail: number
  readonly #onOpen: (run: Run) => void
  readonly #onForecast: (forecast: RunForecast) => Promise<void>

  /** @param bail failing tests after which nothing new starts; 0: never */
  constructor(
    project: TestProject,
    options: ResolvedOptions,
    bail: number,
    onOpen: (run: Run) => void,
    onForecast: (forecast: RunForecast) => Promise<void>,
  ) {
    this.project = project
    this.options = options
    this.#bail = bail
    this.#onOpen = onOpen
    this.#onForecast = onForecast
  }

  /** The run in progress, opened by the first call. */
  current(): Promise<Run> {
    this.#run ??= this.#open()
    return this.#run
  }

  /** The run in progress, or null when none was opened. */
  get opened(): Promise<Run> | null {
    return this.#run
  }

  /** The run in progress serves what an earlier one captured, and no recordings. */
  get replaysRun(): boolean {
    return this.#replayRun !== null
  }

  /** EVALS_PLAN=1: says what a run would do and take, and runs nothing. */
  get planOnly(): boolean {
    return envSwitch('EVALS_PLAN') === true
  }

  /** Takes the plans of a run that is not made. */
  planner(): Planner {
    this.#planner ??= new Planner(this.#context(this.policy()))
    return this.#planner
  }

  /** Variables that look like ours and that nothing reads; one sentence each. */
  strayVariables(): string[] {
    const { mode = 'test' } = this.project.config
    return strayVariables(process.env, this.options.dotenv ? loadEnv(mode, this.root, 'EVALS_') : {})
  }

  /** What was planned, or null where nothing was. */
  get planned(): RunForecast | null {
    return this.#planner?.forecast() ?? null
  }

  get root(): string {
    return this.project.config.root
  }

  /** Whether somebody may hold a thread with a debugger. */
  get debugged(): boolean {
    const { inspect, inspectBrk } = this.project.vitest.config
    return Boolean(inspect) || Boolean(inspectBrk) || process.execArgv.some((flag) => flag.startsWith('--inspect'))
  }

  policy(): Policy {
    // Said where Vitest is configured, not by every worker that starts.
    for (const name of ENV_SWITCHES) envSwitch(name)
    if (replayedRun(this.root, process.env) !== null)
      return { traffic: 'replay', reason: `EVALS_REPLAY=${evalsVariable('EVALS_REPLAY')}` }
    const { vitest } = this.project
    const { config } = vitest
    return trafficPolicy({
      mode: this.options.mode,
      envMode: evalsVariable('EVALS_MODE'),
      snapshots: this.project.config.snapshotOptions.updateSnapshot,
      named:
        config.project.length > 0 || (vitest as { filenamePattern?: readonly string[] }).filenamePattern !== undefined,
      ui: config.ui === true,
    })
  }

  /**
   * What a run of this project may spend; null: no limit.
   *
   * @throws TypeError when EVALS_BUDGET_USD is no amount
   */
  budget(): MicroUsd | null {
    try {
      return runBudget(this.options.budget ?? undefined, evalsVariable('EVALS_BUDGET_USD'))
    } catch (error) {
      throw plainError((error as Error).message)
    }
  }

  /** Threads for this project's files. Environment and flags are the pool's, so one host serves all of them. */
  host(env: Partial<NodeJS.ProcessEnv>, execArgv: readonly string[]): { host: Host; placeholders: readonly string[] } {
    const merged = this.#environment(env)
    const placeholders = placeholderKeys(merged)
    this.#host ??= createHost({
      env: { ...merged, ...Object.fromEntries(placeholders.map((name) => [name, PLACEHOLDER_KEY])) },
      execArgv,
      maxWorkers: Number(this.project.config.maxWorkers) || 1,
    })
    return { host: this.#host, placeholders }
  }

  settings(run: Run | null, placeholders: readonly string[]): WorkerSettings {
    const reason = this.planOnly ? 'EVALS_PLAN=1: nothing runs' : 'listing tests'
    const policy = run?.context.policy ?? { traffic: 'replay', reason }
    return {
      root: this.root,
      runDir: run?.folder.dir ?? '',
      policy: policy.traffic,
      policyReason: policy.reason,
      replayRun: run === null ? null : this.#replayRun,
      timeoutMs: this.options.timeoutMs,
      stallTimeoutMs: this.options.stallTimeoutMs,
      passthrough: this.options.passthrough,
      retry: this.options.retry,
      prices: this.options.capacity.lanes ?? [],
      traffic: this.options.traffic,
      placeholderKeys: placeholders,
      projectName: this.project.name,
      record: this.recordCommand(),
      shard: this.shard(),
      planOnly: run === null && this.planOnly,
    }
  }

  /** The part of the cells that this run executes. */
  shard(): Shard | null {
    return shardOf(this.project.vitest, process.env)
  }

  /** How cells of this project are recorded. */
  recordCommand(): RecordCommand {
    const { vitest, name } = this.project
    return commandOf({
      cwd: process.cwd(),
      root: vitest.config.root,
      configFile: vitest.vite.config.configFile,
      projectName: name,
      followsSnapshots: followsSnapshots(this.options.mode, evalsVariable('EVALS_MODE')),
    })
  }

  /** Text of a worker's thread, without secrets and safe to print. */
  say(text: string): string {
    const { rules, pii } = this.options.traffic
    const redactor = createRedactor({ env: this.#environment(this.project.config.env), rules, pii })
    return printable(redactor.text(text).text)
  }

  track(worker: CampaignWorker, open: boolean): void {
    if (open) this.#workers.add(worker)
    else this.#workers.delete(worker)
  }

  /** Aborts every cell in flight. */
  abortAll(reason: string): void {
    for (const worker of this.#workers) worker.abortCells(reason)
  }

  /** Resolves when the threads that run now are over, or the time is. */
  async whenOver(ms: number): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.whenOver(ms)))
  }

  /** Ends the threads that still have cells in flight. */
  killAll(why: string): void {
    for (const worker of this.#workers) if (worker.inFlight > 0) worker.kill(why)
  }

  /** Ends the threads that are there yet, with cells in flight or without: one may wait for ever for its file to load. */
  killRest(why: string): void {
    for (const worker of this.#workers) worker.kill(why)
  }

  /** The run is over: the next worker opens a new one. */
  ended(): void {
    this.#run = null
    this.#planner = null
    if (this.#alive !== null) clearInterval(this.#alive)
    this.#alive = null
  }

  async close(): Promise<void> {
    this.ended()
    await Promise.all([...this.#workers].map((worker) => worker.close(CLOSE_MS)))
    await this.#host?.destroy()
    this.#host = null
  }

  async #open(): Promise<Run> {
    this.#alive = setInterval(() => {}, 60_000)
    const policy = this.policy()
    // Before this run is the latest.
    this.#replayRun = replayedRun(this.root, process.env)
    const context = this.#context(policy)
    const run = await Run.open({
      ...context,
      bail: this.#bail,
      env: this.#environment(this.project.config.env),
      // What is served costs nothing: there is nothing to be told before.
      foretell: policy.traffic === 'replay' ? null : this.#foretelling(context),
      versions: { node: process.version, vitest: this.project.vitest.version, package: packageVersion },
    })
    this.#onOpen(run)
    return run
  }

  #context(policy: Policy): PlannerContext {
    return {
      root: this.root,
      projectName: this.project.name,
      options: this.options,
      policy,
      budget: this.budget(),
      modules: viteModules(this.project),
      shard: this.shard(),
      resume: this.#resume(policy),
    }
  }

  #foretelling(context: PlannerContext): RunContext['foretell'] {
    const foreteller = new Foreteller({ ...context, project: context.projectName })
    let told = 0
    let telling = Promise.resolve()
    return async (states, runId) => {
      try {
        let buys = false
        for (const state of states) {
          const left = { carried: state.settled, rescored: state.rescores, held: state.held }
          const { cells } = await foreteller.add(state, left, runId)
          buys ||= cells.live + cells.rescored > 0
        }
        const forecast = foreteller.forecast()
        // Files that come at the same moment are told of together, once.
        if (buys && forecast.campaigns.length > told) {
          told = forecast.campaigns.length
          telling = this.#onForecast(forecast)
        }
        await telling
      } catch (error) {
        // Nothing of the run depends on it.
        const why = error instanceof Error ? error.message : String(error)
        process.stderr.write(`\nvitest-campaign: what this run will take cannot be said: ${printable(why)}\n`)
      }
    }
  }

  /** A replay costs nothing and is done again; a watched run that starts again is meant to run. */
  #resume({ traffic }: Policy): RunContext['resume'] {
    const wanted = envSwitch('EVALS_RESUME') !== false && traffic !== 'replay' && !this.#again
    this.#again = true
    if (!wanted) return null
    return {
      reconciled: envSwitch('EVALS_RECONCILE') === true,
      say: (line) => process.stderr.write(`vitest-campaign: ${printable(line)}\n`),
    }
  }

  #environment(env: Partial<NodeJS.ProcessEnv>): Record<string, string> {
    const files = this.options.dotenv ? loadEnv(this.project.config.mode ?? 'test', this.root, '') : {}
    const merged: Record<string, string> = {}
    for (const [name, value] of Object.entries({ ...files, ...process.env, ...env })) {
      if (value !== undefined) merged[name] = value
    }
    return merged
  }
}
