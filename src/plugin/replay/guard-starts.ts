import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'
import type { Guarded } from '../traffic-options.ts'
import { callerOf } from './caller.ts'

/** Something that was stopped from being started. */
export interface BlockedStart {
  readonly what: Guarded
  /** What happened, who did it and what to do: one paragraph. */
  readonly message: string
}

export interface StartGuardOptions {
  readonly allow: readonly Guarded[]
  /** Why the caller may start nothing that has sockets of its own, or null when it may. Asked in its async context. */
  readonly forbidden: () => string | null
  readonly onBlocked: (start: BlockedStart) => void
}

const DONE: { readonly [what in Guarded]: string } = {
  child_process: 'started a child process',
  worker_threads: 'started a worker thread',
  dgram: 'sent a datagram',
}

const SYNC = ['spawnSync', 'execSync', 'execFileSync'] as const

/**
 * Stops child processes, nested workers and datagrams: their traffic cannot be seen from this thread, so that a replay
 * could buy without anybody noticing.
 *
 * @returns takes the guard off
 */
export function guardStarts({ allow, forbidden, onBlocked }: StartGuardOptions): () => void {
  const undo: (() => void)[] = []
  function check(what: Guarded): void {
    const reason = forbidden()
    if (reason === null) return
    const message =
      `${callerOf(new Error().stack ?? '')} ${DONE[what]}, whose calls cannot be watched, and ${reason}. Make the ` +
      `provider call in this thread, or set \`replay: { allow: ['${what}'] }\` if it calls no provider.`
    onBlocked({ what, message })
    throw Object.assign(new Error(message), { code: 'ERR_CAMPAIGN_OFFLINE' })
  }
  function replace<Owner extends object, Name extends keyof Owner>(
    owner: Owner,
    name: Name,
    by: (original: Owner[Name]) => Owner[Name],
  ): void {
    const original = owner[name]
    const own = by(original)
    owner[name] = own
    undo.push(() => {
      if (owner[name] === own) owner[name] = original
    })
  }
  const checked =
    <F extends (...args: never[]) => unknown>(what: Guarded) =>
    (original: F): F =>
      function guarded(this: unknown, ...args: never[]): unknown {
        check(what)
        return Reflect.apply(original, this, args)
      } as F

  if (!allow.includes('child_process')) {
    // Under spawn, exec, execFile and fork.
    replace(
      childProcess.ChildProcess.prototype as unknown as { spawn: (...args: never[]) => unknown },
      'spawn',
      checked('child_process'),
    )
    for (const name of SYNC) replace(childProcess as never, name as never, checked('child_process') as never)
  }
  if (!allow.includes('worker_threads')) {
    replace(
      workerThreads,
      'Worker',
      (original) =>
        new Proxy(original, {
          construct(target, args, newTarget) {
            check('worker_threads')
            return Reflect.construct(target, args, newTarget)
          },
        }),
    )
  }
  if (!allow.includes('dgram')) replace(dgram.Socket.prototype, 'send', checked('dgram'))
  syncBuiltinESMExports()
  return () => {
    for (const restore of undo) restore()
    syncBuiltinESMExports()
  }
}
