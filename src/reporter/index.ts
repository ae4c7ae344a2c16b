import { mkdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node'
import { RunRecord } from '../core/record/record.ts'
import type { RunForecast } from '../core/report/run-forecast.ts'
import { type FinishedRun, RUN_OUTPUTS, type RunSource } from '../core/report/run-source.ts'
import { printable } from '../core/traffic/hostile.ts'
import type { BlobFile } from './blobs.ts'
import { toldBy } from './github/told.ts'
import { harmless } from './inline.ts'
import { createLiveLine, type LiveLine } from './live.ts'
import { plural } from './numbers.ts'
import { isSet, unicodeTerminal, wantsColor } from './terminal/abilities.ts'
import type { renderTerminal } from './terminal.ts'
import { vitestEvalsMeta } from './vitest-evals.ts'
import { writeDocument } from './write-document.ts'

export interface CampaignReporterOptions {
  /** The run to report, handed over by the plugin. Without it the cells are listed and nothing is decided. */
  readonly source?: RunSource
  /** Prints every line of a report; default at most 40. */
  readonly verbose?: boolean
}

type Stream = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  hasColors?(env?: object): boolean
}

const WIDTH = 80
/** Vitest's reporters whose standard output programs read: beside them everything of ours goes to standard error. */
const MACHINE_READ: ReadonlySet<unknown> = new Set(['json', 'junit', 'tap', 'tap-flat'])

/** Prints the verdict of every campaign after Vitest's own summary, and makes the process fail where one is red. */
export default class CampaignReporter implements Reporter {
  readonly #source: RunSource | null
  readonly #verbose: boolean
  #vitest: Vitest | null = null
  #line: LiveLine | null = null
  /** Of each project, what was said of the run before it bought anything. */
  readonly #told = new Map<string, Set<string>>()

  constructor(options: CampaignReporterOptions = {}) {
    this.#source = options.source ?? null
    this.#verbose = options.verbose ?? false
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
    this.#source?.onForecast((forecast) => this.#foretell(forecast))
  }

  onTestRunStart(): void {
    this.#told.clear()
    const source = this.#source
    if (source === null) return
    this.#line?.stop()
    const stream = this.#stream()
    this.#line = createLiveLine(
      {
        stream: stream as Stream & { write(chunk: string | Uint8Array): boolean },
        isTTY: stream.isTTY === true,
        ci: isSet(process.env.CI),
        unicode: this.#unicode(),
        now: () => performance.now(),
      },
      () => source.live(),
    )
    this.#line.start()
  }

  /** Beside the first cells, not before them. A failure shows where something is to be rendered. */
  onTestModuleCollected(): void {
    renderers().catch(() => {})
  }

  /** Gives a cell's record to every reporter, the blob one included; read only when one of them asks. */
  onTestCaseResult(test: TestCase): void {
    const source = this.#source
    const { campaign }: { readonly campaign?: { readonly cellId?: string; readonly campaignId?: string } } = test.meta()
    // Merged reports carry what the runs themselves put in.
    if (source === null || campaign === undefined || this.#merges()) return
    const { cellId, campaignId } = campaign
    if (campaignId !== undefined) lazily(campaign, 'carried', () => source.plan(campaignId))
    if (cellId === undefined) return
    lazily(campaign, 'record', () => source.record(cellId))
    if (source.taskMeta(test.project.name) !== 'vitest-evals') return
    for (const key of ['eval', 'harness'] as const) {
      lazily(test.meta(), key, () => {
        const record = source.record(cellId)
        return record === null ? undefined : vitestEvalsMeta(record)[key]
      })
    }
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    _unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ): Promise<void> {
    this.#line?.stop()
    this.#line = null
    const source = this.#source
    if (source === null) return this.#listCells(modules)
    try {
      const finished = this.#merges()
        ? await this.#merged()
        : await source.finish({ reason, modules: modules.map(moduleOf) })
      if (finished.red) fail()
      await this.#show(finished, modules)
    } catch (error) {
      // Whatever died here, the run has no verdict that could be shown, and must not look as if it had passed.
      fail()
      this.#print(`FAIL  the run could not be reported: ${printable(describe(error))}`)
    } finally {
      source.closed()
    }
  }

  /** `vitest --merge-reports`: nothing runs, the records are in the blobs. */
  #merges(): boolean {
    return typeof this.#vitest?.config.mergeReports === 'string'
  }

  async #merged(): Promise<FinishedRun> {
    const { runsOfBlobs } = await import('./blobs.ts')
    const { state, config } = this.#vitest ?? {}
    const finished = runsOfBlobs((state?.blobs?.files ?? []) as readonly BlobFile[], config?.root ?? process.cwd())
    for (const { runDir, reports, reportPath } of finished.runs) {
      await mkdir(join(runDir, 'reports'), { recursive: true, mode: 0o700 })
      for (const report of reports) {
        const path = reportPath(report.campaignId, 'json')
        const problem = await writeDocument(path, `${JSON.stringify(report, null, 2)}\n`)
        if (problem !== null) this.#print(`the JSON report was not written: ${printable(problem)}`)
      }
    }
    return finished
  }

  async #foretell(forecast: RunForecast): Promise<void> {
    const { renderForecast } = await import('./forecast.ts')
    const { width, unicode } = this.#page(forecast.project, null)
    const told = this.#told.get(forecast.project) ?? new Set()
    this.#told.set(forecast.project, told)
    const text = renderForecast(forecast, { width, unicode, told })
    if (text !== '') this.#print(text)
  }

  async #show({ runs, notes, forecasts = [] }: FinishedRun, modules: readonly TestModule[]): Promise<void> {
    for (const forecast of forecasts) await this.#foretell(forecast)
    const { renderTerminal, writeDocuments, writeIndex } = await renderers()
    for (const { project, runDir, reports, reportPath, material } of runs) {
      for (const report of reports) {
        const { campaignId } = report
        const paths = { md: reportPath(campaignId, 'md'), html: reportPath(campaignId, 'html') }
        const { path, problems } = await writeDocuments(report, material(campaignId), paths)
        this.#print(renderTerminal(report, this.#page(project, path)))
        for (const problem of problems) this.#print(printable(problem))
      }
      const problem = await writeIndex(dirname(runDir))
      if (problem !== null) this.#print(printable(problem))
    }
    const problems = await this.#publish({ runs, notes, modules })
    for (const note of [...notes, ...problems]) this.#print(`note: ${printable(note)}`)
  }

  /** Writes the renderings of whole runs, and shows them on GitHub Actions. Gives what could not be done. */
  async #publish({ runs, notes, modules }: Pick<FinishedRun, 'runs' | 'notes'> & { modules: readonly TestModule[] }) {
    const { outputsOf, publish } = await renderers()
    const failed: string[] = []
    const shown: Parameters<typeof publish>[0][number][] = []
    for (const run of runs) {
      const { project } = run
      const { summarized, documents } = outputsOf({
        project: nameOf(project),
        root: this.#root(),
        campaigns: run.reports.map((report) => ({
          report,
          records: run.records(report.campaignId),
          path: below(run.root, run.reportPath(report.campaignId, 'md')),
        })),
        problems: run.problems,
        notes,
      })
      for (const file of RUN_OUTPUTS) {
        const path = run.outputPath(file)
        const problem = path === null ? null : await writeDocument(path, documents[file])
        if (problem !== null) failed.push(`${file} was not written: ${problem}`)
      }
      if (run.github ?? process.env.GITHUB_ACTIONS === 'true') shown.push({ summarized, root: run.root })
    }
    if (shown.length === 0) return failed
    const { commands, problems } = await publish(
      shown,
      process.env,
      toldBy(modules, this.#vitest?.config.reporters ?? []),
    )
    // As they are: what is made harmless everywhere else is meant here.
    if (commands.length > 0) this.#stream().write(`\n${commands.join('\n')}\n`)
    return [...failed, ...problems]
  }

  #page(project: string, path: string | null): Parameters<typeof renderTerminal>[1] {
    const stream = this.#stream()
    return {
      width: Math.min(stream.isTTY === true ? stream.columns || WIDTH : WIDTH, WIDTH),
      color: wantsColor(stream, process.env),
      unicode: this.#unicode(),
      verbose: this.#verbose,
      project: nameOf(project),
      root: this.#root(),
      ...(path === null ? {} : { reportPath: shortest(path) }),
    }
  }

  async #listCells(modules: readonly TestModule[]): Promise<void> {
    const { renderCells } = await renderers()
    const records: RunRecord[] = []
    let unreadable = 0
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const meta: { readonly campaign?: unknown } = test.meta()
        if (meta.campaign === undefined) continue
        const read = RunRecord.safeParse((meta.campaign as { readonly record?: unknown } | null)?.record)
        if (read.success) records.push(read.data)
        else unreadable += 1
      }
    }
    if (records.length > 0) this.#print(renderCells(records, { width: WIDTH, unicode: this.#unicode() }))
    if (unreadable > 0) {
      fail()
      this.#print(`${plural(unreadable, 'record')} could not be read: was another version of vitest-campaign at work?`)
    }
    if (records.length + unreadable > 0) {
      this.#print(
        'note: no verdict is computed here; it needs the plugin of vitest-campaign in the Vitest configuration',
      )
    }
  }

  #print(text: string): void {
    const lines = text.split('\n').map(harmless).join('\n')
    this.#stream().write(`\n${lines}\n`)
  }

  #root(): string {
    return relative(process.cwd(), this.#vitest?.config.root ?? process.cwd())
      .split(sep)
      .join('/')
  }

  #stream(): Stream {
    if (this.#vitest === null) return process.stdout
    const { config, logger } = this.#vitest
    const read = config.reporters.some((entry) => Array.isArray(entry) && MACHINE_READ.has(entry[0]))
    return read ? logger.errorStream : logger.outputStream
  }

  #unicode(): boolean {
    return unicodeTerminal(process.platform, process.env)
  }
}

async function renderers() {
  const [{ renderCells }, { writeDocuments, writeIndex }, { renderTerminal }, { outputsOf }, { publish }] =
    await Promise.all([
      import('./cells.ts'),
      import('./documents.ts'),
      import('./terminal.ts'),
      import('./outputs.ts'),
      import('./github/actions.ts'),
    ])
  return { renderCells, renderTerminal, writeDocuments, writeIndex, outputsOf, publish }
}

/** A property that is computed when somebody reads it: most reporters never do. */
function lazily(target: object, key: string, get: () => unknown): void {
  Object.defineProperty(target, key, { enumerable: true, configurable: true, get })
}

function nameOf(project: string): string {
  return project === '' ? 'evals' : project
}

function moduleOf(module: TestModule): { file: string; project: string; errors: string[] } {
  const file = relative(module.project.config.root, module.moduleId).split(sep).join('/')
  return { file, project: module.project.name, errors: module.errors().map(({ message }) => message) }
}

/** Never lowers an exit code that somebody else has set. */
function fail(): void {
  if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function below(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/')
}

function shortest(path: string): string {
  const below = relative(process.cwd(), path)
  return below.length < path.length ? below : path
}
