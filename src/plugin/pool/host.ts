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

/** V8 heap flags abort a thread's start when they stand in execArgv; as resource limits they bound that thread alone. */
const HEAP_FLAGS: readonly (readonly [RegExp, 'maxOldGenerationSizeMb' | 'maxYoungGenerationSizeMb'])[] = [
  [/^--max[-_]old[-_]space[-_]size=(\d+)$/, 'maxOldGenerationSizeMb'],
  [/^--max[-_]semi[-_]space[-_]size=(\d+)$/, 'maxYoungGenerationSizeMb'],
]

export function createHost(options: HostOptions): Host {
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
  return {
    run(task, signal) {
      const transferList = task.control === null ? [task.vitest] : [task.vitest, task.control]
      const threadId = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      const hosted: HostedTask = { ...task, threadId }
      const done: Promise<void> = pool.run(hosted, { transferList, signal })
      for (const thread of pool.threads) {
        if (exits.has(thread.threadId)) continue
        exits.set(thread.threadId, new Promise((resolve) => thread.once('exit', () => setImmediate(resolve))))
      }
      return { done, gone: () => exits.get(Atomics.load(threadId, 0)) ?? null }
    },
    destroy: () => pool.destroy(),
  }
}
