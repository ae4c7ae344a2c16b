import { setTimeout as sleep } from 'node:timers/promises'
import { cut } from '../../core/record/output.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import { classifyError } from '../../core/traffic/wire/errors.ts'
import { parseJson } from '../../core/traffic/wire/peek.ts'
import type { Upstream } from '../replay/upstream.ts'
import { modelAddress } from './model-address.ts'

/** How long one provider may take to answer, milliseconds. */
const ANSWER_MS = 15_000
/** Most that is told of an answer, UTF-16 code units. */
const SAID_LENGTH = 300

/** What a lane's provider says of its model. */
export type Checked =
  | { readonly kind: 'served' }
  | { readonly kind: 'dead'; readonly detail: string }
  | { readonly kind: 'unknown'; readonly why: string }

/** The faults that no wait mends, and that say something of the lane. */
const DEAD: ReadonlySet<string> = new Set(['unknown_model', 'auth', 'permission'])

/** Asks for each model once, before any cell of it runs. Nothing is bought: providers tell of a model for nothing. */
export class Preflight {
  readonly #env: { readonly [name: string]: string | undefined }
  readonly #redactor: Redactor
  readonly #asked = new Set<string>()

  /**
   * @param env holds keys, addresses and proxies, as the workers see them
   * @param redactor takes them out of what providers say: some repeat the key that they refuse
   */
  constructor(env: { readonly [name: string]: string | undefined }, redactor: Redactor) {
    this.#env = env
    this.#redactor = redactor
  }

  /** What is to be said of the lanes that were not asked for before, and which of them are dead. */
  async check(lanes: Iterable<string>): Promise<readonly { readonly lane: string; readonly checked: Checked }[]> {
    const fresh = [...new Set(lanes)].filter((lane) => !this.#asked.has(lane))
    for (const lane of fresh) this.#asked.add(lane)
    // Few runs ask, and an HTTP client is a tenth of a second of every start.
    const { createUpstream } = await import('../replay/upstream.ts')
    const upstream = createUpstream(this.#env)
    try {
      return await Promise.all(
        fresh.map(async (lane) => ({ lane, checked: this.#clean(await this.#ask(lane, upstream)) })),
      )
    } finally {
      upstream.dispose()
    }
  }

  #clean(checked: Checked): Checked {
    const said = (text: string): string => cut(this.#redactor.text(text).text, SAID_LENGTH)
    if (checked.kind === 'dead') return { ...checked, detail: said(checked.detail) }
    return checked.kind === 'unknown' ? { ...checked, why: said(checked.why) } : checked
  }

  async #ask(lane: string, upstream: Upstream): Promise<Checked> {
    const address = modelAddress(lane, this.#env)
    if ('unasked' in address) return { kind: 'unknown', why: address.unasked }
    const answered = new AbortController()
    const late = sleep(ANSWER_MS, null, { signal: answered.signal, ref: false }).then(
      (): Checked => ({ kind: 'unknown', why: `no answer within ${ANSWER_MS / 1000} s` }),
      (): Checked => ({ kind: 'unknown', why: 'not asked' }),
    )
    const end = new AbortController()
    try {
      return await Promise.race([answerOf(upstream, address, end.signal), late])
    } finally {
      answered.abort()
      end.abort()
    }
  }
}

async function answerOf(
  upstream: Upstream,
  { url, headers }: { readonly url: string; readonly headers: readonly (readonly [string, string])[] },
  signal: AbortSignal,
): Promise<Checked> {
  try {
    const sent = [...headers, ['accept', 'application/json'] as const]
    const { status, body } = await upstream.send({ method: 'GET', url, headers: sent, body: null, signal })
    const parts: Buffer[] = []
    for await (const part of body ?? []) parts.push(Buffer.from(part))
    if (status < 300) return { kind: 'served' }
    const text = Buffer.concat(parts).toString('utf8')
    const { kind, message } = classifyError(status, parseJson(text), text)
    if (!DEAD.has(kind)) return { kind: 'unknown', why: `HTTP ${status}: ${message}` }
    return { kind: 'dead', detail: `${kind} (HTTP ${status}): ${message}` }
  } catch (error) {
    return { kind: 'unknown', why: error instanceof Error ? error.message : String(error) }
  }
}

/** What preflight found, in a line for each model that is not simply served; null where all are. */
export function preflightText(found: readonly { readonly lane: string; readonly checked: Checked }[]): string | null {
  const said = found.flatMap(({ lane, checked }) => {
    if (checked.kind === 'served') return []
    return [checked.kind === 'dead' ? `${lane} is dead: ${checked.detail}` : `${lane} was not checked: ${checked.why}`]
  })
  return said.length === 0 ? null : `preflight: ${said.join('; ')}`
}
