import { setTimeout as sleep } from 'node:timers/promises'
import { namesModel } from '../../core/campaign/lane.ts'
import type { PlannedVariant } from '../../core/campaign/plan.ts'
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
  | { readonly kind: 'dead'; readonly of: string; readonly detail: string }
  | { readonly kind: 'unknown'; readonly why: string }

/** The faults that no wait mends, and that say something of the lane. */
const DEAD: ReadonlySet<string> = new Set(['unknown_model', 'auth', 'permission'])

/** A lane whose model is asked for. */
export interface Sought {
  /** `provider/model`. */
  readonly model: string
  /** The lane is a name that somebody chose: it need be no model's. */
  readonly chosen: boolean
}

/** What is to be asked of the lanes that a campaign declares: the models of their variants, where these are known. */
export function soughtIn(variants: readonly PlannedVariant[], judges: Iterable<string | null>): readonly Sought[] {
  const sought = new Map<string, Sought>()
  const seek = (name: string, chosen: boolean): void => {
    if (chosen && sought.has(name)) return
    sought.set(name, { model: name, chosen })
  }
  for (const { lane, model } of variants) {
    if (typeof model === 'string') seek(model, false)
    else if (lane !== null) seek(lane, model === null && !namesModel(lane))
  }
  for (const lane of judges) if (lane !== null) seek(lane, !namesModel(lane))
  return [...sought.values()]
}

/** The lanes that are dead: those of dead models, and those all whose variants ask for such. */
export function deadLanes(
  variants: readonly PlannedVariant[],
  found: readonly { readonly lane: string; readonly checked: Checked }[],
): ReadonlyMap<string, string> {
  const dead = new Map<string, string>()
  for (const { lane, checked } of found) if (checked.kind === 'dead') dead.set(lane, checked.detail)
  for (const { lane, model } of variants) {
    if (lane === null || typeof model !== 'string') continue
    const details = variants.filter((other) => other.lane === lane).map((other) => dead.get(other.model ?? lane))
    const [first] = details
    if (first !== undefined && details.every((detail) => detail !== undefined)) dead.set(lane, first)
  }
  return dead
}

/** Asks for each model once, before any cell of it runs. Nothing is bought: providers tell of a model for nothing. */
export class Preflight {
  readonly #env: { readonly [name: string]: string | undefined }
  readonly #redactor: Redactor
  readonly #asked = new Set<string>()
  /** Everything that was found so far. */
  readonly found: { readonly lane: string; readonly checked: Checked }[] = []

  /**
   * @param env holds keys, addresses and proxies, as the workers see them
   * @param redactor takes them out of what providers say: some repeat the key that they refuse
   */
  constructor(env: { readonly [name: string]: string | undefined }, redactor: Redactor) {
    this.#env = env
    this.#redactor = redactor
  }

  /** What is to be said of the lanes that were not asked for before, and which of them are dead. */
  async check(sought: readonly Sought[]): Promise<readonly { readonly lane: string; readonly checked: Checked }[]> {
    const keyOf = ({ model, chosen }: Sought): string => (chosen ? `${model} ?` : model)
    const fresh = sought.filter((one) => !this.#asked.has(keyOf(one)))
    for (const one of fresh) this.#asked.add(keyOf(one))
    // Few runs ask, and an HTTP client is a tenth of a second of every start.
    const { createUpstream } = await import('../replay/upstream.ts')
    const upstream = createUpstream(this.#env)
    try {
      const found = await Promise.all(
        fresh.map(async ({ model, chosen }) => {
          const checked = this.#clean(await this.#ask(model, upstream))
          return { lane: model, checked: chosen ? leftOpen(checked) : checked }
        }),
      )
      this.found.push(...found)
      return found
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

/** That nobody knows a model of a name that somebody chose for a lane says nothing of its models. */
function leftOpen(checked: Checked): Checked {
  if (checked.kind !== 'dead' || checked.of !== 'unknown_model') return checked
  return {
    kind: 'unknown',
    why: `its provider has no model of that name, which may be one of yours (${checked.detail})`,
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
    return { kind: 'dead', of: kind, detail: `${kind} (HTTP ${status}): ${message}` }
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
