import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import type { Reporter, TestProject, Vitest } from 'vitest/node'
import type { Shard } from '../core/campaign/shard.ts'
import { shadowedLanes } from '../core/capacity/options.ts'
import { capacityOfShard } from '../core/capacity/shard.ts'
import type { RunSource } from '../core/report/run-source.ts'
import { type CampaignsOptions, plainError, resolveOptions } from './options.ts'
import { createCampaignPool, POOL_NAME } from './pool/campaign-pool.ts'
import { listByCollecting } from './pool/listing.ts'
import { ProjectRuns } from './pool/project-runs.ts'
import { VitestRuns } from './pool/run-source.ts'
import { keepEvalFiles } from './pool/sharding.ts'
import { Shutdown } from './pool/shutdown.ts'

export type { CampaignsOptions, Mode } from './options.ts'

const RUNNER = fileURLToPath(new URL('./worker/runner.js', import.meta.url))
const REPORTER = new URL('../reporter/index.js', import.meta.url).href
/** What it exports; imported by its path, because the plugin knows the reporter by nothing else. */
interface ReporterModule {
  readonly default: new (options: { readonly source: RunSource }) => Reporter
}
/** This package as built, where it is linked too: Vite knows only what lies below `node_modules` for a library. */
const OURS = new RegExp(
  `^${fileURLToPath(new URL('../', import.meta.url))
    .replaceAll('\\', '/')
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
)

/** Default include of `evals()`. */
export const EVAL_FILES = ['**/*.eval.{ts,mts,js,mjs}']

type ProjectTest = NonNullable<TestProjectInlineConfiguration['test']>

/** Options of `evals()`: those of `campaigns()` plus any project configuration. */
export interface EvalsOptions extends CampaignsOptions {
  /** Any `test` options of a Vitest project; they win over the defaults of this one. */
  readonly test?: ProjectTest
  readonly extends?: TestProjectInlineConfiguration['extends']
  readonly resolve?: TestProjectInlineConfiguration['resolve']
  readonly plugins?: TestProjectInlineConfiguration['plugins']
}

/**
 * The project entry for `test.projects`: named `evals`, so that `--project evals` selects it, with the campaign pool,
 * runner and reporter.
 *
 * @throws TypeError when an option cannot be used, naming it
 */
export function evals(options: EvalsOptions = {}): TestProjectInlineConfiguration {
  const { test, extends: base, resolve, plugins, ...own } = options
  resolveOptions(own, 'evals()', ['test', 'extends', 'resolve', 'plugins'])
  return {
    ...(base === undefined ? {} : { extends: base }),
    ...(resolve === undefined ? {} : { resolve }),
    plugins: [...(plugins ?? []), campaigns(own)],
    test: {
      name: 'evals',
      include: EVAL_FILES,
      // A worker per eval file waits on providers, not on the CPU; the governor bounds what they do together.
      maxWorkers: 4,
      ...test,
      // Projects with different maxWorkers need different group orders, or Vitest 4 refuses them.
      sequence: { groupOrder: 1, ...test?.sequence },
    },
  }
}

interface Shared {
  readonly runs: VitestRuns
  readonly shutdown: Shutdown
}
const shared = new WeakMap<Vitest, Shared>()

/**
 * The bare plugin, for people who write the project entry themselves. It sets the pool, the runner and the reporter,
 * opens `maxConcurrency`, takes `bail` and the timeouts over, and refuses Vitest's `retry`.
 *
 * @throws TypeError when an option cannot be used, naming it
 */
export function campaigns(options: CampaignsOptions = {}): Plugin {
  const resolved = resolveOptions(options, 'campaigns()')
  const configured = new WeakSet<TestProject>()
  return {
    name: 'vitest-campaign',
    // Imported by Node: transformed module by module it would be there twice, and every start would pay for it.
    config: () => ({ test: { server: { deps: { external: [OURS] } } } }),
    async configureVitest({ project, vitest }) {
      // Inline projects may share one Vite server, and then one hook: once per project is what counts.
      if (configured.has(project)) return
      configured.add(project)
      await configure(project, vitest, resolved)
    },
  }
}

async function configure(
  project: TestProject,
  vitest: Vitest,
  options: ReturnType<typeof resolveOptions>,
): Promise<void> {
  const { config } = project
  const retry = typeof config.retry === 'number' ? config.retry : (config.retry?.count ?? 0)
  if (retry > 0) {
    throw plainError(
      `project ${JSON.stringify(project.name)}: Vitest's retry is ${retry}, and a campaign cannot be retried: ` +
        'repeating only the failed cells turns a true pass rate of .70 into .91. Set retry: 0 for this project.',
    )
  }
  let share = shared.get(vitest)
  const first = share === undefined
  if (share === undefined) {
    const shutdown = new Shutdown(vitest)
    share = { shutdown, runs: new VitestRuns(vitest, shutdown) }
    shared.set(vitest, share)
    // Appended: the user's reporters stay, and so does this one under --reporter. An instance: by its path Vitest would
    // have Vite transform every module of it.
    const { default: CampaignReporter }: ReporterModule = await import(REPORTER)
    vitest.config.reporters.push(new CampaignReporter({ source: share.runs }))
  }
  const { runs, shutdown } = share
  const projectRuns: ProjectRuns = new ProjectRuns(
    project,
    options,
    config.bail || 0,
    (run) => {
      runs.opened(run)
      shutdown.opened(projectRuns, run)
    },
    (forecast) => runs.foretold(forecast),
  )
  for (const text of shadowedLanes(options.capacity)) vitest.logger.warn(`vitest-campaign: ${text}`)
  // A mode, a budget or a shard that is none, or leaves a lane nothing, is said now, not by every worker that starts.
  if (first) for (const text of projectRuns.strayVariables()) vitest.logger.warn(`vitest-campaign: ${text}`)
  projectRuns.policy()
  projectRuns.budget()
  const shard = projectRuns.shard()
  if (shard !== null) checkShard(options, shard)
  keepEvalFiles(vitest, (candidate) => candidate.config.poolRunner?.name === POOL_NAME)
  runs.add(projectRuns)
  listByCollecting(vitest, project)
  const initializer = createCampaignPool(projectRuns)
  config.poolRunner = initializer
  config.pool = POOL_NAME
  config.runner = RUNNER
  // Vitest bounds running tests around the hook in which a cell waits for its lease: any bound here would let a full
  // lane block every other one.
  config.maxConcurrency = Number.MAX_SAFE_INTEGER
  config.testTimeout = 0
  config.bail = 0
  config.isolate = true
  vitest.onClose(() => projectRuns.close())
}

function checkShard({ capacity }: ReturnType<typeof resolveOptions>, shard: Shard): void {
  try {
    capacityOfShard(capacity, shard)
  } catch (error) {
    throw plainError((error as Error).message)
  }
}
