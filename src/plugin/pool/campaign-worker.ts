import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { PoolWorker, WorkerRequest } from 'vitest/node'
import type { WorkerSettings } from '../control.ts'
import type { LostCells } from './cells.ts'
import type { ControlServer } from './control-server.ts'
import type { Host } from './host.ts'
import type { Run } from './run.ts'
import { Watchdog } from './watchdog.ts'

export interface CampaignWorkerOptions {
  readonly name: string
  readonly host: Host
  /** Opens the run, where there is to be one, and says who answers the thread (null: nobody) and how it is to be started. */
  open(): Promise<{
    readonly run: Run | null
    readonly serve: ((port: MessagePort, workerId: number) => ControlServer) | null
    readonly settings: WorkerSettings
  }>
  readonly workerId: number
  /** Whether a thread that answers nothing is ended: under a debugger it may rightly stand still. */
  readonly watched: boolean
  /** Makes the words of a thread safe to print and to keep: without secrets and control characters. */
  say(text: string): string
  /** The thread was started, or is over. */
  onThread(worker: CampaignWorker, open: boolean): void
}

/** How long the error of a thread may come after the close of its port. */
const LAST_WORDS_MS = 30_000

type State =
  | { readonly at: 'idle' }
  | {
      readonly at: 'running'
      readonly port: MessagePort
      readonly thread: AbortController
      readonly control: ControlServer | null
      readonly run: Run | null
    }
  | { readonly at: 'stopping' }
  | { readonly at: 'dead' }

/** One eval file's worker as Vitest's pool sees it; the thread behind it is Tinypool's. */
export class CampaignWorker implements PoolWorker {
  readonly name: string
  readonly #options: CampaignWorkerOptions
  readonly #events = new EventEmitter()
  #state: State = { at: 'idle' }
  #ended: Promise<void> = Promise.resolve()
  #gone: () => Promise<void> | null = () => null
  #lastError: unknown = null
  #started = false
  /** Vitest has told the thread to stop. From here on nobody of Vitest listens for its errors: one would end the process. */
  #stopAsked = false
  #closing = false
  #watchdog: Watchdog | null = null

  constructor(options: CampaignWorkerOptions) {
    this.name = options.name
    this.#options = options
  }

  on(event: string, callback: (arg: unknown) => void): void {
    this.#events.on(event, callback)
  }

  off(event: string, callback: (arg: unknown) => void): void {
    this.#events.off(event, callback)
  }

  deserialize(data: unknown): unknown {
    return data
  }

  send(message: WorkerRequest): void {
    if (message.type === 'stop') this.#stopAsked = true
    if (this.#state.at === 'running') this.#state.port.postMessage(message)
  }

  async start(): Promise<void> {
    const { run, serve, settings } = await this.#options.open()
    const vitest = new MessageChannel()
    const control = serve === null ? null : new MessageChannel()
    const thread = new AbortController()
    const server = control === null || serve === null ? null : serve(control.port1, this.#options.workerId)
    this.#state = { at: 'running', port: vitest.port1, thread, control: server, run }
    this.#options.onThread(this, true)
    if (server !== null && run !== null && this.#options.watched) this.#watch(server, run)
    vitest.port1.on('message', (message: { readonly type?: unknown } | null) => {
      if (message?.type === 'started') this.#started = true
      this.#events.emit('message', message)
    })
    // The port closes when its thread ends, however it ends; Tinypool's promise does not settle on a plain exit.
    vitest.port1.on('close', () => void this.#onPortClosed())
    const task = this.#options.host.run(
      { vitest: vitest.port2, control: control?.port2 ?? null, settings },
      thread.signal,
    )
    this.#gone = task.gone
    this.#ended = task.done
      .catch((error: unknown) => {
        if (!thread.signal.aborted) this.#lastError = error
      })
      .finally(() => vitest.port1.close())
  }

  #watch({ worker }: ControlServer, run: Run): void {
    this.#watchdog = new Watchdog({
      ping: async () => worker.ping(),
      limitMs: () => run.longestDeadline(this.#options.workerId),
      stuck: (silentMs) =>
        this.kill(
          `its thread did not answer for ${silentMs / 1000} s, longer than the deadline of its cells (a synchronous loop?)`,
        ),
    })
  }

  /** Aborts the signals of the cells in flight. */
  abortCells(reason: string): void {
    if (this.#state.at === 'running') this.#state.control?.worker.abort.asEvent('all', reason).catch(() => {})
  }

  /** Ends the thread of cells that do not answer any more: a synchronous loop ends no other way. */
  kill(why: string): void {
    if (this.#state.at !== 'running' || this.#state.thread.signal.aborted) return
    this.#lastError = new Error(why)
    this.#state.thread.abort()
  }

  /** Resolves when the thread is over or the time is. */
  async whenOver(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([this.#ended, late])
    clearTimeout(timer)
  }

  /** Vitest closes: resolves when a thread that was told to stop has done so, or the time is over. */
  async close(ms: number): Promise<void> {
    this.#closing = true
    // Vitest stops its workers in the same turn of the loop.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#stopAsked) await this.whenOver(ms)
  }

  get inFlight(): number {
    return this.#state.at === 'running' ? (this.#state.run?.inFlight(this.#options.workerId) ?? 0) : 0
  }

  async stop(): Promise<void> {
    if (this.#state.at !== 'running') return
    const { thread, control, port } = this.#state
    this.#state = { at: 'stopping' }
    thread.abort()
    await this.#ended
    this.#close(control)
    port.close()
  }

  async #onPortClosed(): Promise<void> {
    if (this.#state.at !== 'running') return
    const { run, control, thread } = this.#state
    this.#state = { at: 'dead' }
    // The thread's own error, if it had one, arrives after its port has closed and before the thread is gone; a plain
    // exit never settles the task.
    const late = new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())
    await Promise.race([this.#ended, this.#gone() ?? late, late])
    // Tinypool does not see a plain exit: the thread's place is free again only when its task is given up.
    thread.abort()
    const why =
      this.#lastError === null ? 'its thread ended without an error' : this.#options.say(describe(this.#lastError))
    this.#close(control)
    try {
      const lost = run === null ? null : await run.workerLost(this.#options.workerId, why)
      const ended = this.#closing && this.#stopAsked && (lost === null || lost.names.length === 0)
      if (ended) this.#emitStopped(undefined)
      else this.#emitError(lostMessage(why, lost))
    } catch (error) {
      this.#emitError(`A campaign worker was lost: ${why}; and its cells could not be journalled: ${describe(error)}`)
    }
  }

  #emitError(message: string): void {
    // A plain Error: Vitest's printing of Tinypool's own error classes fails on some of them. Without a stack, and not
    // out of a function of ours: where in this package it was noticed helps nobody.
    const error = new Error(message)
    error.stack = `Error: ${message}`
    if (this.#started && this.#stopAsked) {
      this.#emitStopped(error)
      return
    }
    // Until the thread has started Vitest looks for nothing but that word, and waits a minute for it.
    const said: readonly [event: string, data: unknown] = this.#started
      ? ['error', error]
      : ['message', { __vitest_worker_response__: true, type: 'started', error }]
    setImmediate(this.#events.emit.bind(this.#events, ...said))
  }

  /** The answer to a stop that the thread cannot give any more: Vitest waits a minute for it, and for no error. */
  #emitStopped(error: Error | undefined): void {
    setImmediate(() => this.#events.emit('message', { __vitest_worker_response__: true, type: 'stopped', error }))
  }

  #close(control: ControlServer | null): void {
    this.#watchdog?.stop()
    this.#options.onThread(this, false)
    control?.close()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function lostMessage(why: string, lost: LostCells | null): string {
  const names = lost?.names ?? []
  if (lost === null || names.length === 0) return `A campaign worker was lost: ${why}`
  const cells = names.length === 1 ? '1 cell ends' : `${names.length} cells end`
  return [
    `A campaign worker was lost: ${why}. ${cells} as infra_error (${lost.reason}):`,
    ...names.slice(0, 5).map((name) => `  ${name}`),
    ...(names.length > 5 ? [`  … and ${names.length - 5} more`] : []),
  ].join('\n')
}
