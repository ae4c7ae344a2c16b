import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { callerOf } from './caller.ts'
import type { Origins } from './origins.ts'

/** A connection that was stopped. */
export interface BlockedConnection {
  readonly host: string
  readonly port: number
  /** What happened, who did it and what to do: one paragraph. */
  readonly message: string
}

export interface GuardOptions {
  /** Origins that may be connected to. */
  readonly passthrough: Origins
  /** Why the caller may open no connection, or null when it may. Asked in the caller's async context. */
  readonly forbidden: () => string | null
  readonly onBlocked: (connection: BlockedConnection) => void
}

/**
 * Stops network connections of this thread at `net.Socket.prototype.connect`, under every client there is: tls, http2,
 * undici's own fetch and request, database drivers, WebSockets. Intercepted calls never get that far. Pipes and unix
 * sockets are left alone; child processes, nested workers and datagrams have sockets of their own.
 *
 * @returns takes the guard off
 */
export function guardSockets({ passthrough, forbidden, onBlocked }: GuardOptions): () => void {
  const prototype = net.Socket.prototype
  const connect = prototype.connect
  function guarded(this: net.Socket, ...args: unknown[]): net.Socket {
    const target = targetOf(args)
    const reason = target === null || passthrough.allowsSocket(target.host, target.port) ? null : forbidden()
    if (target === null || reason === null) return Reflect.apply(connect, this, args)
    const message = explain(target, reason)
    onBlocked({ ...target, message })
    const error = Object.assign(new Error(message), {
      code: 'ERR_CAMPAIGN_OFFLINE',
      errno: -1,
      syscall: 'connect',
      address: target.host,
      port: target.port,
    })
    // Later, as a refused connection would: the caller attaches its error listener after connect() returned.
    process.nextTick(() => this.destroy(error))
    return this
  }
  prototype.connect = guarded as typeof connect
  syncBuiltinESMExports()
  return () => {
    if (prototype.connect === (guarded as typeof connect)) prototype.connect = connect
    syncBuiltinESMExports()
  }
}

function explain({ host, port }: { host: string; port: number }, reason: string): string {
  const stack = new Error().stack ?? ''
  const caller = callerOf(stack)
  const hint = /bedrock|amazonaws/i.test(host)
    ? 'The AWS SDK speaks HTTP/2 by default: give its client `requestHandler: new NodeHttpHandler()` of @smithy/node-http-handler.'
    : /node:internal\/http2|node:http2/.test(stack)
      ? 'HTTP/2 is not captured: use an HTTP/1.1 client.'
      : /[\\/]undici[\\/]/.test(stack)
        ? 'A dispatcher of a copy of undici that is not the one vitest-campaign resolves is not captured: install one version of undici 7, leave the dispatcher out, or pass `ctx.fetch` to the SDK.'
        : 'Only the global fetch, node:http(s) and `ctx.fetch` are captured.'
  return (
    `${caller} opened a connection to ${host}:${port}, and ${reason}. ${hint} ` +
    `A local service of the subject may be reached when its origin is listed in \`passthrough\`.`
  )
}

/** Where a call of connect() goes; null for pipes, unix sockets and arguments that node itself will refuse. */
function targetOf(args: readonly unknown[]): { host: string; port: number } | null {
  // node normalises arguments into one array before it calls connect() itself.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  if (typeof first === 'object' && first !== null) {
    // As node itself decides: a path means a pipe, whatever else is given.
    if (Reflect.get(first, 'path')) return null
    const port = Number(Reflect.get(first, 'port'))
    if (!Number.isInteger(port)) return null
    return { host: hostName(Reflect.get(first, 'host') ?? Reflect.get(first, 'hostname')), port }
  }
  const port = Number(first)
  return Number.isInteger(port) && first !== '' ? { host: hostName(second), port } : null
}

function hostName(host: unknown): string {
  return typeof host === 'string' && host !== '' ? host.replace(/^\[|\]$/g, '') : 'localhost'
}
