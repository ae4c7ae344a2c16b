import type { HeaderList } from '../traffic/exchange.ts'
import { peekList, peekText } from '../traffic/wire/peek.ts'
import { MAX_HOLD_MS } from './outcome.ts'

/** When a provider says that it may be asked again. */
export interface Reset {
  /** Milliseconds from now, > 0 and at most `MAX_HOLD_MS`. */
  readonly ms: number
  /** Where it says so: a header's name, or `RetryInfo`. */
  readonly source: string
}

export interface ResetReading {
  readonly reset: Reset | null
  /** What was said and cannot be used, for the message of a lane that closes. */
  readonly unusable: readonly string[]
}

/**
 * When the provider says that it may be asked again, most exact word first: `retry-after-ms` and `retry-after`, Google's
 * `RetryInfo` in the body, then the reset headers of OpenAI and Groq (durations), Anthropic (instants) and others
 * (`ratelimit-reset`, `x-ratelimit-reset`: seconds, or an epoch). Of several reset headers the used-up ones count,
 * and of these the latest.
 *
 * A past, an unreadable and a far-off time are said to be unusable, never obeyed. Instants are compared with the
 * response's own `date` where it has one: the provider's clock is not ours.
 *
 * @param body the parsed body, if it is JSON
 * @param now epoch milliseconds
 */
export function readReset(headers: HeaderList, body: unknown, now: number): ResetReading {
  const said = new Map<string, string>()
  for (const [name, value] of headers) if (!said.has(name)) said.set(name, value.trim())
  const clock = dateOf(said.get('date') ?? '') ?? now
  const unusable: string[] = []
  function usable(source: string, ms: number | null): Reset | null {
    if (ms !== null && ms > 0 && ms <= MAX_HOLD_MS) return { ms, source }
    const text = JSON.stringify(said.get(source) ?? source)
    if (ms === null) unusable.push(`${source} ${text} is no time`)
    else if (ms <= 0) unusable.push(`${source} ${text} is not in the future`)
    else unusable.push(`${source} ${text} is more than ${MAX_HOLD_MS / 60_000} minutes away`)
    return null
  }

  for (const [name, read] of EXACT) {
    const value = said.get(name)
    const reset = value === undefined ? null : usable(name, read(value, clock))
    if (reset !== null) return { reset, unusable }
  }
  const delay = retryInfoOf(body)
  const told = delay === null ? null : usable('RetryInfo', durationOf(delay))
  if (told !== null) return { reset: told, unusable }

  let best: Reset | null = null
  const windows = WINDOWS.filter(({ reset }) => said.has(reset))
  const used = windows.filter(({ remaining }) => Number(said.get(remaining) ?? Number.NaN) === 0)
  for (const { reset: name, read } of used.length > 0 ? used : windows) {
    const reset = usable(name, read(said.get(name) ?? '', clock))
    if (reset !== null && (best === null || reset.ms > best.ms)) best = reset
  }
  return { reset: best, unusable }
}

type Read = (value: string, now: number) => number | null

const EXACT: readonly (readonly [name: string, read: Read])[] = [
  ['retry-after-ms', (value) => numberOf(value)],
  ['retry-after', (value, now) => scaled(numberOf(value), 1000) ?? until(dateOf(value), now)],
]

/** A limit's window: how much is left of it, and when it begins anew. */
const WINDOWS: readonly { readonly remaining: string; readonly reset: string; readonly read: Read }[] = [
  ...['requests', 'tokens'].map((of) => ({
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
    read: (value: string) => durationOf(value),
  })),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((of) => ({
    remaining: `anthropic-ratelimit-${of}-remaining`,
    reset: `anthropic-ratelimit-${of}-reset`,
    read: (value: string, now: number) => until(instantOf(value), now),
  })),
  { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', read: (value, now) => epochOrSeconds(value, now) },
  { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset', read: (value, now) => epochOrSeconds(value, now) },
]

/** `34.07s` in a `google.rpc.RetryInfo` detail of the error. */
function retryInfoOf(body: unknown): string | null {
  const outer = Array.isArray(body) ? body[0] : body
  for (const detail of peekList(outer, 'error', 'details')) {
    if (peekText(detail, '@type')?.endsWith('google.rpc.RetryInfo')) return peekText(detail, 'retryDelay')
  }
  return null
}

function numberOf(text: string): number | null {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : null
}

/** The three forms of HTTP dates all begin with the day's name and name the time; anything looser is not one. */
function dateOf(text: string): number | null {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/.test(text) ? parsed(text) : null
}

/** RFC 3339. */
function instantOf(text: string): number | null {
  return /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}/.test(text) ? parsed(text) : null
}

function parsed(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `6m0s`, `1h2m3.5s`, `20ms`; a bare number is seconds. */
function durationOf(text: string): number | null {
  const bare = scaled(numberOf(text), 1000)
  if (bare !== null) return bare
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null
  let ms = 0
  for (const [, value, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    ms += Number(value) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
  }
  return ms
}

/** Seconds from now, an epoch in seconds or one in milliseconds: told apart by size. */
function epochOrSeconds(text: string, now: number): number | null {
  const value = numberOf(text)
  if (value === null) return null
  if (value > 1e11) return value - now
  return value > 1e9 ? value * 1000 - now : value * 1000
}

const scaled = (value: number | null, by: number) => (value === null ? null : value * by)
const until = (at: number | null, now: number) => (at === null ? null : at - now)
