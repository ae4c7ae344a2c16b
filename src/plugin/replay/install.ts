import { AsyncLocalStorage } from 'node:async_hooks'
import { createRedactor } from '../../core/traffic/redact.ts'
import { isProviderHost } from '../../core/traffic/wire/hosts.ts'
import type { WorkerSettings } from '../control.ts'
import type { Call } from './call.ts'
import { Cell } from './cell.ts'
import { type Clock, systemClock } from './clock.ts'
import { directFetch } from './direct.ts'
import type { LookedFor } from './disk.ts'
import { guardSockets } from './guard.ts'
import { guardStarts } from './guard-starts.ts'
import { type Decision, intercept } from './interception.ts'
import { answerLoose } from './loose.ts'
import { type OpenedCell, openRecording } from './open.ts'
import { originsOf } from './origins.ts'
import type { RecorderParts } from './parts.ts'
import { passage } from './recorder.ts'
import { followRedirects } from './redirect.ts'
import { refusal } from './refusal.ts'
import type { CapturedScope, Scope } from './scope.ts'
import type { CellTraffic, CellTrafficOptions, Traffic, TrafficPort } from './traffic.ts'
import { captureUndici } from './undici.ts'
import { createUpstream } from './upstream.ts'

// Taken when this module loads: user code may put a generator of its own in its place.
const { random } = Math

/**
 * Takes over the HTTP of this thread, for its whole life. Call it before any module of the user is loaded: a client that
 * was built with the original `fetch` keeps it.
 *
 * Who answers a call:
 * - an origin of `passthrough`: nobody of ours; it is neither recorded nor reported
 * - a call of a cell: its campaign's `mocks`; else the recording where the cell replays; else the network
 * - a call to a host that is no known provider, and that no mock or recording answers: first the handlers of a server
 *   that user code opened with msw's `setupServer`, where there is one (such answers are not captured); what they leave
 *   is carried by us and captured, or is a miss where the cell replays
 * - a call outside every cell: reported; refused where this run replays, else carried and not recorded
 *
 * @throws TypeError for a `passthrough` entry that is no origin
 */
export function installTraffic(
  settings: WorkerSettings,
  port: TrafficPort,
  {
    clock = systemClock,
    scopes = new AsyncLocalStorage(),
  }: { readonly clock?: Clock; readonly scopes?: AsyncLocalStorage<Scope> } = {},
): Traffic {
  const redactor = createRedactor({ env: process.env, rules: settings.traffic.rules, pii: settings.traffic.pii })
  const passthrough = originsOf(settings.passthrough, 'passthrough')
  const upstream = createUpstream(process.env)
  // Live calls run outside every cell: a connection outlives the call that opened it, and would speak for its cell.
  const outside = AsyncLocalStorage.snapshot()
  const parts: RecorderParts = {
    settings,
    redactor,
    clock,
    random,
    upstream: { ...upstream, send: (request) => outside(() => upstream.send(request)) },
  }

  /** Whose call it is: read once, when the call is made. */
  function captured(): CapturedScope | undefined {
    const scope = scopes.getStore()
    return scope === undefined || scope.cell === null ? undefined : (scope as CapturedScope)
  }

  function decide(call: Call, scope: CapturedScope | undefined): Decision {
    const url = new URL(call.url)
    if (!/^https?:$/.test(url.protocol) || passthrough.allows(url)) return 'pass'
    if (call.headers.some(([name]) => name === 'upgrade')) return decideUpgrade(call, scope)
    if (scope === undefined) return decideLoose(call, url)
    const whole = rereadable(call)
    const first = passage(whole, scope, parts)
    return {
      yieldFirst: first.yieldFirst,
      dropped: first.dropped,
      answer: () => followRedirects(whole, first.answer(), (hop) => passage(hop, scope, parts).answer()),
    }
  }

  /** A WebSocket opens as a GET: it cannot be recorded, so it may not open where recordings are all there is. */
  function decideUpgrade(call: Call, scope: CapturedScope | undefined): Decision {
    if (settings.policy !== 'replay' && scope?.cell.mode !== 'replayed') return 'pass'
    const { method } = call
    const { url } = redactor.url(call.url)
    const message = `${method} ${url} asks for another protocol (a WebSocket), which is not captured, and this run replays (${settings.policyReason}). Use the HTTP API of the service, or list its origin in \`passthrough\` if it is local.`
    if (scope === undefined) port.unattributed({ method, url })
    else scope.cell.miss({ method, url, kind: 'unknown', message })
    return {
      yieldFirst: async () => false,
      dropped: () => {},
      answer: async () => refusal(call.url, 'replay_miss', `vitest-campaign: ${message}`),
    }
  }

  function decideLoose(call: Call, url: URL): Decision {
    port.unattributed({ method: call.method, url: redactor.url(call.url).url })
    const foreign = !isProviderHost(url)
    if (foreign && settings.policy !== 'replay') return 'pass'
    const whole = rereadable(call)
    return {
      yieldFirst: async () => foreign,
      dropped: () => {},
      answer: () => followRedirects(whole, answerLoose(whole, parts), (hop) => answerLoose(hop, parts)),
    }
  }

  const interception = intercept(
    (call) => {
      const via = call.client === 'fetch' ? undici.via() : {}
      return decide({ ...call, ...via }, captured())
    },
    () => undici.redirected(),
  )
  const undici = captureUndici(
    (call) => decide(call, captured()),
    upstream.dispatcher,
    ({ method, url }) => {
      // Where nothing may go out, its connection is stopped, and told of.
      if (forbidden() === null && !passthrough.allows(url))
        port.unattributed({ method, url: redactor.url(url.href).url })
    },
  )
  function forbidden(): string | null {
    if (settings.policy === 'replay') return `this run replays (${settings.policyReason})`
    return captured()?.cell.mode === 'replayed' ? 'its cell replays its recording' : null
  }
  function blocked(call: { readonly method: string; readonly url: string }, message: string): void {
    const cell = captured()?.cell
    if (cell === undefined) port.unattributed(call)
    else cell.miss({ ...call, kind: 'unknown', message: redactor.text(message).text })
  }
  const unguard = [
    guardSockets({
      passthrough,
      forbidden,
      onBlocked: ({ host, port: at, message }) => blocked({ method: 'CONNECT', url: `tcp://${host}:${at}` }, message),
    }),
    guardStarts({
      allow: settings.traffic.allow,
      // Outside every cell a worker is Vitest's, or of the user's own set-up: only a cell is answered for.
      forbidden: () => (captured() === undefined ? null : forbidden()),
      onBlocked: ({ what, message }) => blocked({ method: 'START', url: `node:${what}` }, message),
    }),
  ]

  const interceptedFetch = globalThis.fetch
  /** `ctx.fetch`: the cell is known, whatever became of the async context on the way. */
  function fetchOf(cell: Cell): typeof globalThis.fetch {
    const scope = (): CapturedScope => {
      const current = captured()
      return current?.cell === cell ? current : { cellId: cell.cellId, role: 'subject', scorer: null, cell }
    }
    return directFetch(
      (call) => {
        if (interception.shared() && !isProviderHost(call.url)) return null
        const decision = decide(call, scope())
        return decision === 'pass' ? null : decision.answer()
      },
      (input, init) => scopes.run(scope(), () => interceptedFetch(input, init)),
    )
  }

  const lookedFor: LookedFor = new Map()
  return {
    openCell(options: CellTrafficOptions): CellTraffic | Promise<CellTraffic> {
      const open = (opened: OpenedCell): Cell =>
        new Cell({
          ...opened,
          options,
          replaces: settings.policy === 'record',
          runDir: settings.runDir,
          port,
          redactor,
          clock,
          volatile: settings.traffic.volatile,
          fetch: fetchOf,
        })
      try {
        const opened = openRecording(options, settings, lookedFor)
        return opened instanceof Promise ? opened.then(open) : open(opened)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    run(cell, role, body, scorer = null) {
      if (!(cell instanceof Cell)) throw new TypeError('run() takes a cell of openCell()')
      return scopes.run({ cellId: cell.cellId, role, scorer, cell }, body)
    },
    currentCell: () => captured()?.cell ?? null,
    dispose() {
      undici.release()
      interception.dispose()
      for (const takeOff of unguard) takeOff()
      upstream.dispose()
    },
  }
}

/** The same call with a body that can be read for every hop of a redirect. */
function rereadable(call: Call): Call {
  let bytes: ReturnType<Call['body']> | null = null
  return {
    ...call,
    body: () => {
      bytes ??= call.body()
      return bytes
    },
  }
}
