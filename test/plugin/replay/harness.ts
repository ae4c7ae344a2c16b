import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PermitOutcome } from '../../../src/core/capacity/events.ts'
import type { PermitAsk, TrafficPolicy, WorkerSettings } from '../../../src/plugin/control.ts'
import { installTraffic } from '../../../src/plugin/replay/install.ts'
import type { CellTraffic, CellTrafficOptions, Traffic, TrafficPort } from '../../../src/plugin/replay/traffic.ts'

/** What the main process was told. */
export interface PortLog {
  readonly admitted: [cellId: string, attempt: number, lane: string | null][]
  readonly permits: [cellId: string, lane: string][]
  /** What each ask for a permit said, beside its lane. */
  readonly asked: PermitAsk[]
  /** Numbers of permits given back. */
  readonly done: number[]
  readonly outcomes: PermitOutcome[]
  readonly unattributed: string[]
  readonly late: string[]
}

export interface Project {
  readonly root: string
  readonly evalFile: string
  /** Takes the thread's traffic over until `end`, or the end of the test. */
  start(policy: TrafficPolicy, options?: Partial<WorkerSettings> & { readonly port?: Partial<TrafficPort> }): Running
}

export interface Running {
  readonly traffic: Traffic
  readonly log: PortLog
  open(options?: Partial<CellTrafficOptions>): Promise<CellTraffic>
  /** Runs `body` as the subject of a fresh cell and closes it; `save` writes its recording. */
  cell<T>(
    body: (cell: CellTraffic) => Promise<T>,
    options?: Partial<CellTrafficOptions> & { readonly save?: boolean },
  ): Promise<{
    readonly value: T
    readonly result: Awaited<ReturnType<CellTraffic['close']>>
    readonly cell: CellTraffic
  }>
  end(): void
}

export function project(): Project {
  const root = mkdtempSync(join(tmpdir(), 'campaign-replay-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const evalFile = join(root, 'triage.eval.ts')
  return {
    root,
    evalFile,
    start(policy, { port, ...overrides } = {}) {
      const log: PortLog = { admitted: [], permits: [], asked: [], done: [], outcomes: [], unattributed: [], late: [] }
      let permits = 0
      const settings: WorkerSettings = {
        root,
        runDir: join(root, '.evals', 'run'),
        policy,
        policyReason: 'the test says so',
        prices: [],
        retry: { infra: 0 },
        replayRun: null,
        timeoutMs: 10_000,
        stallTimeoutMs: null,
        passthrough: [],
        projectName: 'evals',
        planOnly: false,
        placeholderKeys: [],
        shard: null,
        traffic: { timing: 'instant', recut: 'recorded', allow: [], volatile: [], rules: [], pii: false },
        record: { cwd: root, start: 'npx vitest run --project evals', end: '-u' },
        ...overrides,
      }
      // As the main process does: the recorder makes no run folder anew.
      mkdirSync(join(root, '.evals', 'run'), { recursive: true })
      const traffic = installTraffic(settings, {
        async admitted(cellId, attempt, lane) {
          log.admitted.push([cellId, attempt, lane])
        },
        // Granted at once, whatever delay was asked for.
        permit(cellId, ask) {
          log.permits.push([cellId, ask.lane])
          log.asked.push(ask)
          const number = permits++
          return {
            reply: Promise.resolve({ granted: true, waitedMs: 0 }),
            done(outcome) {
              log.done.push(number)
              log.outcomes.push(outcome)
            },
          }
        },
        unattributed: ({ method, url }) => log.unattributed.push(`${method} ${url}`),
        late: ({ scenarioId }, { method, url }) => log.late.push(`${scenarioId}: ${method} ${url}`),
        ...port,
      })
      let ended = false
      const end = () => {
        if (!ended) traffic.dispose()
        ended = true
      }
      onTestFinished(end)
      const open = async (options: Partial<CellTrafficOptions> = {}) =>
        traffic.openCell({
          cellId: 'c0ffee0000000000',
          coordinates: { campaignId: 'triage', variantId: 'current', scenarioId: 'refund', seed: 0 },
          attempt: 1,
          evalFile,
          declaredLane: null,
          signal: new AbortController().signal,
          timeoutMs: 600_000,
          leftMs: () => 10_000,
          routes: null,
          mocks: [],
          canaries: [],
          ...options,
        })
      return {
        traffic,
        log,
        open,
        async cell(body, { save = false, ...options } = {}) {
          const cell = await open(options)
          const value = await traffic.run(cell, 'subject', () => body(cell))
          const result = await cell.close(1000)
          if (save) {
            const secrets = await cell.save()
            if (secrets.length > 0) throw new Error(`secrets left: ${secrets}`)
          }
          return { value, result, cell }
        },
        end,
      }
    },
  }
}

/** A server on this machine for the length of the test. */
export async function serve(listener: RequestListener): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** The body of a chat completion that says `text`. */
export function completion(text: string, model = 'gpt-5-mini') {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  }
}
