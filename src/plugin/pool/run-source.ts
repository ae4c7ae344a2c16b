import { join } from 'node:path'
import type { Vitest } from 'vitest/node'
import { inFileOrder } from '../../core/campaign/order.ts'
import { unusedLanes } from '../../core/capacity/options.ts'
import { type LaneWait, laneWaits } from '../../core/capacity/waiting.ts'
import type { RunRecord } from '../../core/record/record.ts'
import { runBudgetText } from '../../core/report/budget.ts'
import { leavesOut } from '../../core/report/exit.ts'
import type { CampaignMaterial } from '../../core/report/material.ts'
import type { RunForecast } from '../../core/report/run-forecast.ts'
import type { FinishedRun, FinishInput, LiveState, RunSource, TaskMetaShape } from '../../core/report/run-source.ts'
import { recordFile } from '../record-command.ts'
import { cellTraffic } from './cell-traffic.ts'
import type { ProjectRuns } from './project-runs.ts'
import type { Run } from './run.ts'
import type { Shutdown } from './shutdown.ts'
import { etaMs } from './tally.ts'

/** What the reporter reads: the runs of all eval projects of this Vitest. */
export class VitestRuns implements RunSource {
  readonly #vitest: Vitest
  readonly #shutdown: Shutdown
  readonly #projects: ProjectRuns[] = []
  readonly #open: Run[] = []
  /** The runs in progress, or the last ones: other reporters read their records after they are closed. */
  readonly #known: Run[] = []
  #startedAt = 0
  #show: (forecast: RunForecast) => Promise<void> = async () => {}

  constructor(vitest: Vitest, shutdown: Shutdown) {
    this.#vitest = vitest
    this.#shutdown = shutdown
  }

  add(runs: ProjectRuns): void {
    this.#projects.push(runs)
  }

  opened(run: Run): void {
    if (this.#open.length === 0) {
      this.#startedAt = performance.now()
      this.#known.length = 0
    }
    this.#known.push(run)
    this.#open.push(run)
  }

  onForecast(show: (forecast: RunForecast) => Promise<void>): void {
    this.#show = show
  }

  /** A run is about to buy something. */
  foretold(forecast: RunForecast): Promise<void> {
    return this.#show(forecast)
  }

  taskMeta(project: string): TaskMetaShape | null {
    return this.#projects.find((runs) => runs.project.name === project)?.options.taskMeta ?? null
  }

  record(cellId: string): RunRecord | null {
    for (const run of this.#known) {
      const record = run.record(cellId)
      if (record !== null) return record
    }
    return null
  }

  plan(campaignId: string): ReturnType<RunSource['plan']> {
    for (const { campaigns } of this.#known) {
      const state = campaigns.get(campaignId)
      if (state !== undefined) return { plan: state.plan, fingerprint: state.fingerprint }
    }
    return null
  }

  live(): LiveState | null {
    if (this.#open.length === 0) return null
    let done = 0
    let planned = 0
    let replayed = 0
    let live = 0
    let failed = 0
    let waiting = 0
    let spent = 0
    let unknownCharges = 0
    const waits: LaneWait[] = []
    const now = performance.now()
    const lanes: { lane: string; requests: number; cells: number }[] = []
    for (const { tally, admission } of this.#open) {
      const snapshot = admission.snapshot()
      done += tally.done
      planned += tally.planned
      replayed += tally.replayed
      live += tally.live
      failed += tally.failed
      spent += tally.spent
      unknownCharges += tally.unknownCharges
      waiting += snapshot.cells.waiting
      waits.push(...laneWaits(snapshot, now))
      for (const lane of snapshot.lanes) {
        if (lane.requests + lane.cells > 0) lanes.push({ lane: lane.lane, requests: lane.requests, cells: lane.cells })
      }
    }
    return {
      done,
      planned,
      inFlight: lanes,
      waiting,
      waits,
      replayed,
      live,
      failed,
      spentUsd: spent / 1_000_000,
      unknownCharges,
      etaMs: etaMs({ done, planned }, now - this.#startedAt),
    }
  }

  async finish({ reason, modules }: FinishInput): Promise<FinishedRun> {
    // Vitest has them in the order in which it ran them.
    const input = { reason, modules: inFileOrder(modules, ({ file }) => file) }
    const notes: string[] = []
    const finished: FinishedRun['runs'][number][] = []
    const forecasts: RunForecast[] = []
    let red = false
    for (const runs of this.#projects) {
      const opening = runs.opened
      const missing = input.modules.filter(({ errors, project }) => errors.length > 0 && project === runs.project.name)
      const texts = missing.map(
        ({ file }) => `${file} did not load: its campaigns are not in this run, and the run is red`,
      )
      red ||= missing.length > 0
      if (opening === null) {
        notes.push(...texts)
        const { planned } = runs
        if (planned !== null) forecasts.push(planned)
        red ||= planned !== null && planned.problems.length > 0
        if (planned !== null) runs.ended()
        continue
      }
      const run = await opening
      // In the journal too: whoever reads the run later must not take it for all of them.
      if (run.failure === null) for (const text of texts) run.problem(null, 'file_not_loaded', text)
      else notes.push(...texts)
      const interrupted = this.#shutdown.received !== null ? 'interrupted' : input.reason
      const reports = await run.finish(interrupted === 'interrupted')
      notes.push(...run.problems.map(({ text }) => text), ...campaignNotes(run), ...recordingNotes(run, runs))
      notes.push(...budgetNotes(run))
      if (input.modules.length > 0 && missing.length === 0 && isWhole(run, this.#vitest)) {
        const seen = run.admission.snapshot().lanes.map(({ lane }) => lane)
        notes.push(...unusedLanes(runs.options.capacity, seen))
      }
      if (interrupted === 'interrupted') notes.push(...unstarted(run, runs.project.name, input))
      if (run.failure !== null) {
        notes.push(journalLost(run.failure, run))
      }
      red ||= run.failure !== null || run.draining !== null || reports.some((report) => report.verdict.red)
      finished.push({
        project: runs.project.name,
        runDir: run.folder.dir,
        policy: run.context.policy,
        reports,
        root: runs.root,
        reportPath: (id, ext) => run.folder.report(id, ext),
        outputPath: (file) => (run.lost ? null : run.folder.output(file)),
        records: (id) => run.campaigns.get(id)?.records() ?? [],
        problems: problemsOf(run, missing.length > 0 && run.failure !== null ? texts : []),
        github: runs.options.github,
        material: (id) => materialOf(run, id),
      })
      runs.ended()
    }
    if (input.modules.length === 0) notes.push(...this.#projects.map((runs) => noFiles(runs.project)))
    this.#open.length = 0
    return { runs: finished, red, notes, ...(forecasts.length === 0 ? {} : { forecasts }) }
  }

  /** The reporter has printed: gives the signals back. */
  closed(): void {
    for (const { campaigns } of this.#known) for (const state of campaigns.values()) state.forgetParsed()
    for (const runs of this.#projects) this.#shutdown.closed(runs)
  }

  get vitest(): Vitest {
    return this.#vitest
  }
}

/** Why a run is red whatever its reports say. */
function problemsOf(run: Run, unrecorded: readonly string[]): string[] {
  return [
    ...unrecorded,
    ...run.problems.filter(leavesOut).map(({ text }) => text),
    ...(run.draining === null ? [] : [`the run did not reach its end (${run.draining})`]),
    ...(run.failure === null ? [] : [journalLost(run.failure, run)]),
  ]
}

function journalLost({ message }: Error, { lost, folder }: Run): string {
  const left = lost
    ? 'It has no record'
    : `What was acknowledged before is safe in ${folder.dir}, and the next run goes on from there`
  return `the run was stopped, because it could not be recorded: ${message}. ${left}`
}

function materialOf({ campaigns, folder, context }: Run, campaignId: string): CampaignMaterial | null {
  const state = campaigns.get(campaignId)
  if (state === undefined) return null
  const { plan, accepted } = state
  return {
    runId: folder.runId,
    plan,
    accepted,
    records: () => state.records(),
    traffic: (record) => cellTraffic(folder.dir, context.root, plan, record),
  }
}

/** Vitest says which patterns it tried; what to do about it is ours to say. */
function noFiles({ name, config }: ProjectRuns['project']): string {
  const include = config.include.map((pattern) => JSON.stringify(pattern)).join(', ')
  return (
    `project ${JSON.stringify(name)} found no eval file: nothing below ${config.dir ?? config.root} matches ${include}. ` +
    `Name the files *.eval.ts, or set \`test: { include: [\u2026] }\` in evals()`
  )
}

/** Files an interruption kept from being loaded: how many cells they hold is not known. */
function* unstarted(run: Run, project: string, { modules }: FinishInput): Generator<string> {
  const planned = new Set([...run.campaigns.values()].map(({ plan }) => plan.file))
  const files = modules
    .filter((module) => module.project === project && module.errors.length === 0 && !planned.has(module.file))
    .map(({ file }) => file)
  if (files.length === 0) return
  const more = files.length > 5 ? `, … and ${files.length - 5} more` : ''
  yield `interrupted before these eval files were loaded: ${files.slice(0, 5).join(', ')}${more}`
}

function* campaignNotes(run: Run): Generator<string> {
  for (const state of run.campaigns.values()) {
    if (state.skipped) yield `campaign ${state.plan.campaignId}: skipped (.skip or another campaign's .only)`
    else if (state.partial !== null) yield `campaign ${state.plan.campaignId}: ${state.partial}${shardHint(run)}`
    else if (state.interrupted > 0)
      yield `campaign ${state.plan.campaignId}: interrupted, ${state.interrupted} of ${state.cells.size} cells have no result; those that have one are in ${run.folder.dir}`
  }
}

/** Whether every cell of the project was run here: what was served, carried over or left out shows no lane. */
function isWhole({ campaigns, context, tally }: Run, vitest: Vitest): boolean {
  if ((vitest as { filenamePattern?: readonly string[] }).filenamePattern !== undefined) return false
  if (context.shard !== null || tally.live < tally.planned) return false
  return [...campaigns.values()].every(({ skipped, selected }) => !skipped && selected === null)
}

function* budgetNotes({ admission }: Run): Generator<string> {
  for (const budget of admission.snapshot().budgets) if (budget.campaignId === null) yield runBudgetText(budget)
}

function shardHint({ context: { shard } }: Run): string {
  if (shard === null) return ''
  return ` (shard ${shard.index} of ${shard.count}: \`npx vitest-campaign merge <run folders>\` puts them together)`
}

/** What a replay lacks, with the one command that mends it, and what a recording run left out. */
function* recordingNotes(run: Run, runs: ProjectRuns): Generator<string> {
  for (const { plan, settled, cells } of run.campaigns.values()) {
    let missing = 0
    let left = 0
    for (const { recording } of settled.values()) {
      if (recording === 'missing') missing++
      else if (recording === 'left') left++
    }
    const of = (count: number): string => `campaign ${plan.campaignId}: ${count} of ${plural(cells.size, 'cell')}`
    if (missing > 0 && runs.replaysRun) {
      yield `${of(missing)} ${missing === 1 ? 'was' : 'were'} not live in the run that this one replays (${run.context.policy.reason}), which captured nothing of ${missing === 1 ? 'it' : 'them'}. Without EVALS_REPLAY recordings are served`
    } else if (missing > 0) {
      const where = process.env.CI === undefined ? '' : ' on your machine'
      const command = recordFile(runs.recordCommand(), join(runs.root, plan.file))
      yield `${of(missing)} ${missing === 1 ? 'has' : 'have'} no recording, and this run replays (${run.context.policy.reason}). To record ${missing === 1 ? 'it' : 'them'}${where}:\n  ${command}`
    }
    if (left > 0) {
      yield `${of(left)} went live and ${left === 1 ? 'was' : 'were'} not recorded for want of a clean end (a provider fault, a deadline, an error). Recordings made before stay as they are; the same command tries again`
    }
  }
}

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`
