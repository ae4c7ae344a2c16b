import type { PoolRunnerInitializer } from 'vitest/node'
import { CampaignWorker } from './campaign-worker.ts'
import type { ProjectRuns } from './project-runs.ts'

export const POOL_NAME = 'vitest-campaign'

/** Vitest's way to a worker of an eval project. */
export function createCampaignPool(runs: ProjectRuns): PoolRunnerInitializer {
  let workers = 0
  return {
    name: POOL_NAME,
    createPoolWorker({ method, env, execArgv }) {
      const { host, placeholders } = runs.host(env, execArgv)
      return new CampaignWorker({
        name: POOL_NAME,
        host,
        workerId: ++workers,
        async open() {
          const run = method === 'collect' ? null : await runs.current()
          return { run, settings: runs.settings(run, placeholders) }
        },
        watched: !runs.debugged,
        say: (text) => runs.say(text),
        onThread: (worker, open) => runs.track(worker, open),
      })
    },
  }
}
