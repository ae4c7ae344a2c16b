import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'

/** How a client speaks to a forward proxy: the whole address where a path belongs (RFC 9112, 3.2.2). */
const ABSOLUTE = /^https?:\/\//i

/**
 * Turns requests that a client addresses to a forward proxy (axios under HTTP_PROXY, for http:// targets) into requests to
 * their target: the engine would glue the proxy's address and the target's together and fail with "Invalid URL". The way
 * to the network is the upstream's, and it honours the proxy variables. Call it after the engine has patched node:http,
 * and undo it before.
 */
export function addressTargets(): () => void {
  const undo = (['request', 'get'] as const).map((name) => {
    const patched = http[name]
    const direct = (...args: unknown[]): ClientRequest => {
      const [options, ...rest] = args
      const target = targetOf(options)
      if (target === null) return Reflect.apply(patched, http, args)
      const secure = target.protocol === 'https:'
      return Reflect.apply(secure ? https[name] : patched, secure ? https : http, [target, ...rest])
    }
    http[name] = direct as typeof patched
    return () => {
      if (http[name] === direct) http[name] = patched
    }
  })
  return () => {
    for (const restore of undo) restore()
  }
}

function targetOf(options: unknown): RequestOptions | null {
  if (typeof options !== 'object' || options === null || options instanceof URL) return null
  const { path, host: _proxy, hostname: _name, port: _port, agent: _agent, ...kept } = options as RequestOptions
  if (typeof path !== 'string' || !ABSOLUTE.test(path) || !URL.canParse(path)) return null
  const target = new URL(path)
  return {
    ...kept,
    headers: withoutProxyHeaders(kept.headers),
    protocol: target.protocol,
    hostname: target.hostname,
    port: target.port === '' ? undefined : target.port,
    path: `${target.pathname}${target.search}`,
  }
}

/** What was meant for the proxy alone must reach neither the target nor a recording. */
function withoutProxyHeaders(headers: RequestOptions['headers']): RequestOptions['headers'] {
  if (headers === undefined || Array.isArray(headers)) return headers
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^proxy-/i.test(name)))
}
