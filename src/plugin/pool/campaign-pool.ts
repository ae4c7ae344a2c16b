import type { MessagePort } from 'node:worker_threads'
import type { PoolRunnerInitializer } from 'vitest/node'
import { servePlanner } from '../forecast/planner.ts'
import { CampaignWorker } from './campaign-worker.ts'
import { serveControl } from './control-server.ts'
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
          if (method !== 'collect' && runs.planOnly) {
            const serve = (port: MessagePort, workerId: number) => servePlanner(port, runs.planner(), workerId)
            return { run: null, serve, settings: runs.settings(null, placeholders) }
          }
          const run = method === 'collect' ? null : await runs.current()
          const serve = run === null ? null : (port: MessagePort, workerId: number) => serveControl(port, run, workerId)
          return { run, serve, settings: runs.settings(run, placeholders) }
        },
        watched: !runs.debugged,
        say: (text) => runs.say(text),
        onThread: (worker, open) => runs.track(worker, open),
      })
    },
  }
}
