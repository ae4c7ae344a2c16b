import type { MessagePort } from 'node:worker_threads'
import { Tinypool } from 'tinypool'
import type { WorkerSettings } from '../control.ts'

/** What a thread is started with. */
export interface WorkerTask {
  readonly vitest: MessagePort
  /** Null when the worker only collects (`vitest list`). */
  readonly control: MessagePort | null
  readonly settings: WorkerSettings
}

/** The task as its thread gets it. */
export interface HostedTask extends WorkerTask {
  /** Where the thread writes its id: Tinypool gives a task to whichever new thread is ready first. */
  readonly threadId: Int32Array
}

export interface RunningTask {
  /** Rejects with the thread's error; does not settle when the thread just ends. */
  readonly done: Promise<void>
  /** Resolves when the thread is gone: its error, if it had one, came before. Null while the task waits for a thread. */
  gone(): Promise<void> | null
}

/** The threads of one project: a fresh one per eval file. */
export interface Host {
  /** Runs a worker until it is told to stop over its Vitest port, or until the signal ends its thread. */
  run(task: WorkerTask, signal: AbortSignal): RunningTask
  destroy(): Promise<void>
}

export interface HostOptions {
  readonly env: Readonly<Record<string, string>>
  readonly execArgv: readonly string[]
  /** Vitest's own limit for the project. */
  readonly maxWorkers: number
}

/** A task that no thread has taken. */
interface Waiting {
  readonly threadId: Int32Array
  fail(error: unknown): void
}

/** V8 heap flags abort a thread's start when they stand in execArgv; as resource limits they bound that thread alone. */
const HEAP_FLAGS: readonly (readonly [RegExp, 'maxOldGenerationSizeMb' | 'maxYoungGenerationSizeMb'])[] = [
  [/^--max[-_]old[-_]space[-_]size=(\d+)$/, 'maxOldGenerationSizeMb'],
  [/^--max[-_]semi[-_]space[-_]size=(\d+)$/, 'maxYoungGenerationSizeMb'],
]

/** The threads of one project: a fresh one per eval file. */
export function createHost(options: HostOptions): Host {
  const pools = [startPool(options)]
  return {
    run(task, signal) {
      let pool = pools.at(-1)
      if (pool === undefined || pool.stuck) {
        pool = startPool(options)
        pools.push(pool)
      }
      return pool.run(task, signal)
    },
    async destroy() {
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

interface Pool extends Host {
  /** A thread of it is gone and Tinypool does not know: new tasks would wait for it. */
  readonly stuck: boolean
}

function startPool(options: HostOptions): Pool {
  // Everything of the cells in flight survives: with V8's default young generation it would be copied dozens of times.
  const resourceLimits: { maxOldGenerationSizeMb?: number; maxYoungGenerationSizeMb: number } = {
    maxYoungGenerationSizeMb: 192,
  }
  const execArgv = options.execArgv.filter((argument) => {
    for (const [flag, limit] of HEAP_FLAGS) {
      const match = flag.exec(argument)
      if (match === null) continue
      resourceLimits[limit] = Number(match[1])
      return false
    }
    return true
  })
  const pool = new Tinypool({
    filename: new URL('../worker/entry.js', import.meta.url).href,
    runtime: 'worker_threads',
    // A reused thread keeps stubbed globals and the interception of the file before.
    isolateWorkers: true,
    minThreads: 0,
    // Vitest does not await terminations, and the wait of a queued start counts against its own start timeout.
    maxThreads: options.maxWorkers * 2 + 2,
    concurrentTasksPerWorker: 1,
    idleTimeout: 0,
    execArgv,
    env: { ...options.env },
    resourceLimits,
  })
  const exits = new Map<number, Promise<void>>()
  const waiting = new Set<Waiting>()
  const used = new Set<number>()
  const exited = new WeakSet<object>()
  let lastError: unknown = null
  let stuck = false
  // A thread that fails before it has a task: without a listener this would end the process.
  pool.on('error', (error) => {
    lastError = error
  })
  /** Tinypool starts no other thread for the task of one that ended before it took it: nobody would run it. */
  function onExit(): void {
    for (const one of waiting) {
      const id = Atomics.load(one.threadId, 0)
      if (id === 0) continue
      used.add(id)
      waiting.delete(one)
    }
    const starting = pool.threads.filter((thread) => !exited.has(thread) && !used.has(thread.threadId)).length
    for (const one of [...waiting].slice(0, Math.max(0, waiting.size - starting))) {
      waiting.delete(one)
      stuck = true
      one.fail(lastError ?? new Error('its thread ended without an error'))
    }
  }
  return {
    get stuck() {
      return stuck
    },
    run(task, signal) {
      const transferList = task.control === null ? [task.vitest] : [task.vitest, task.control]
      const threadId = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      const hosted: HostedTask = { ...task, threadId }
      const dead = new AbortController()
      const ran: Promise<void> = pool.run(hosted, { transferList, signal: AbortSignal.any([signal, dead.signal]) })
      const done = new Promise<void>((resolve, reject) => {
        const one: Waiting = {
          threadId,
          fail(error) {
            reject(error)
            dead.abort()
          },
        }
        waiting.add(one)
        ran.then(resolve, reject).finally(() => waiting.delete(one))
      })
      for (const thread of pool.threads) {
        if (exits.has(thread.threadId)) continue
        const exit = new Promise<void>((resolve) => thread.once('exit', () => setImmediate(resolve)))
        exits.set(thread.threadId, exit)
        exit.then(() => {
          exited.add(thread)
          onExit()
        })
      }
      return { done, gone: () => exits.get(Atomics.load(threadId, 0)) ?? null }
    },
    destroy: () => pool.destroy(),
  }
}
