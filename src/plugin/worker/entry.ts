import { AsyncLocalStorage } from 'node:async_hooks'
import { threadId } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { init, runBaseTests, setupEnvironment } from 'vitest/worker'
import { createRedactor } from '../../core/traffic/redact.ts'
import { callMain } from '../cell-calls.ts'
import { batchedChannel } from '../channel.ts'
import type { MainFunctions, WorkerFunctions } from '../control.ts'
import type { HostedTask } from '../pool/host.ts'
import { systemClock } from '../replay/clock.ts'
import { installTraffic } from '../replay/install.ts'
import type { Scope } from '../replay/scope.ts'
import { setBridge, type WorkerBridge } from './bridge.ts'
import { judgeLine } from './judge-lease.ts'

/**
 * The Tinypool task of one worker: runs Vitest's own worker over a port and resolves when Vitest stops it. Interception
 * is applied here, before any module of the user is loaded.
 */
export default async function worker(task: HostedTask): Promise<void> {
  const { vitest, control: controlPort, settings } = task
  Atomics.store(task.threadId, 0, threadId)
  let stop = (): void => {}
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const inFlight: WorkerBridge['inFlight'] = new Map()
  const scopes = new AsyncLocalStorage<Scope>()
  const channel = controlPort === null ? null : batchedChannel(controlPort)
  const calls = channel === null ? null : callMain(channel)
  const control =
    channel === null
      ? null
      : createBirpc<MainFunctions, WorkerFunctions>(
          {
            ping() {},
            abort(cellIds, reason) {
              for (const cellId of cellIds === 'all' ? [...inFlight.keys()] : cellIds)
                inFlight.get(cellId)?.abort(reason)
            },
          },
          { ...channel, eventNames: ['permitDone', 'judgeDone', 'problem'], timeout: -1 },
        )
  let tickets = 0
  const traffic =
    control === null
      ? null
      : installTraffic(
          settings,
          {
            admitted: (cellId, attempt, lane) => control.admitted(cellId, attempt, lane),
            permit(cellId, ask) {
              const ticket = tickets++
              return {
                reply: control.permit(ticket, cellId, ask),
                // A message that cannot be sent any more means the run is over; the main process accounts for it.
                done: (outcome) => void control.permitDone(ticket, outcome).catch(() => {}),
              }
            },
            unattributed: ({ method, url }) =>
              void control
                .problem(null, 'unattributed_call', `${method} ${url} was called outside every cell`)
                .catch(() => {}),
            late: ({ campaignId, variantId, scenarioId, seed }, { method, url }) =>
              void control
                .problem(
                  campaignId,
                  'late_call',
                  `${method} ${url} was called after its cell (${variantId} > ${scenarioId} > seed ${seed}) was over, and was not sent: await every call`,
                )
                .catch(() => {}),
          },
          { scopes },
        )
  setBridge({
    settings,
    control,
    calls,
    traffic,
    judges: control === null ? null : judgeLine(control),
    campaigns: [],
    broken: [],
    bindings: new Map(),
    file: null,
    cancelled: false,
    inFlight,
    scopes,
    clock: systemClock,
    redactor: createRedactor({ env: process.env, rules: settings.traffic.rules, pii: settings.traffic.pii }),
  })
  init({
    post: (response) => vitest.postMessage(response),
    on: (callback) => vitest.on('message', callback),
    off: (callback) => vitest.off('message', callback),
    setup: setupEnvironment,
    runTests: (state, traces) => runBaseTests('run', state, traces),
    collectTests: (state, traces) => runBaseTests('collect', state, traces),
    teardown: () => stop(),
  })
  await stopped
  traffic?.dispose()
  control?.$close()
  calls?.close()
  channel?.close()
  vitest.close()
}
