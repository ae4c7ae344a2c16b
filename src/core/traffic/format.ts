import { z } from 'zod'
import { type Body, type BodyEnd, CALL_ROLES, type Exchange } from './exchange.ts'
import { isSentLine } from './sent.ts'
import { type BodyShare, type OpenShared, SHARED_NAME, sharedBody } from './shared.ts'

const NAME = 'vitest-campaign/recording@'
const VERSION = 1
export const RECORDING_SCHEMA = `${NAME}${VERSION}` as const

/** What one cell asked and was answered. */
export interface Recording {
  readonly campaignId: string
  readonly variantId: string
  readonly scenarioId: string
  readonly seed: number
  /** ISO instant. */
  readonly recordedAt: string
  readonly exchanges: readonly Exchange[]
}

/** A recording that cannot be read; says where and what to do. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
  readonly file: string
  readonly line: number
  constructor(file: string, line: number, what: string) {
    super(`${file}:${line}: ${what}`)
    this.file = file
    this.line = line
  }
}

const count = z.number().int().nonnegative()
const milliseconds = z.number().nonnegative()
const instant = z.iso.datetime()

const header = z.strictObject({
  schema: z.literal(RECORDING_SCHEMA),
  campaignId: z.string(),
  variantId: z.string(),
  scenarioId: z.string(),
  seed: z.number().int(),
  recordedAt: instant,
})

const headers = z.array(z.tuple([z.string(), z.string()]))

const body = z.union([
  z.null(),
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.base64() }),
  z.strictObject({ shared: z.string().regex(SHARED_NAME, 'is no name of a shared body') }),
  // What JSON.parse gave: nothing to validate, only to be there.
  z.strictObject({ json: z.custom<unknown>((value) => value !== undefined, 'has no value') }),
])

const request = z.strictObject({ method: z.string(), url: z.string(), headers, body })

const response = z.strictObject({
  kind: z.literal('response'),
  status: z.number().int(),
  statusText: z.string(),
  headers,
  body,
  cuts: z.array(z.tuple([count, milliseconds])),
  end: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('complete') }),
    z.strictObject({ kind: z.literal('client-abort') }),
    z.strictObject({ kind: z.literal('broken'), code: z.string(), message: z.string() }),
    z.strictObject({ kind: z.literal('cut'), bytes: count }),
  ]),
})

const fault = z.strictObject({
  kind: z.literal('fault'),
  phase: z.enum(['connect', 'headers', 'aborted']),
  code: z.string(),
  message: z.string(),
})

const exchange = z.strictObject({
  role: z.enum(CALL_ROLES),
  key: z.string(),
  ordinal: count,
  request,
  outcome: z.discriminatedUnion('kind', [response, fault]),
  source: z.enum(['live', 'replayed', 'mocked']),
  startedAt: instant,
  ttfbMs: milliseconds.nullable(),
  totalMs: milliseconds.nullable(),
  redactions: z.array(z.strictObject({ rule: z.string(), count })),
  retried: count,
})

type StoredBody = z.infer<typeof body>

/**
 * The text of a recording file: a header line, then one exchange per line, keys in a fixed order so that two
 * recordings of the same differ where they differ. JSON bodies stand as JSON where that gives their text back.
 *
 * @param share collects large bodies, which then have files of their own; without it they stand in their lines
 */
export function encodeRecording(recording: Recording, share?: BodyShare): string {
  const { campaignId, variantId, scenarioId, seed, recordedAt, exchanges } = recording
  const first = JSON.stringify({ schema: RECORDING_SCHEMA, campaignId, variantId, scenarioId, seed, recordedAt })
  return `${[first, ...exchanges.map((exchange) => encodeExchange(exchange, share))].join('\n')}\n`
}

/** What a call line begins with: `encodeExchange` writes it so, whatever the call says. */
const OWN_KEY = /^(\{"role":"\w+","key":")[0-9a-f]{32}"/gm

/**
 * The text of a recording without the digests that are ours: some run of their digits is, now and then, a valid card
 * number, and would keep the cell from being recorded.
 *
 * @param files names of the bodies that it shares
 */
export function withoutDigests(text: string, files: Iterable<string>): string {
  let bare = text.replace(OWN_KEY, '$1"')
  for (const name of files) bare = bare.replaceAll(`{"shared":"${name}"}`, '{"shared":""}')
  return bare
}

/** One line of a recording or of a raw capture, without its line end. */
export function encodeExchange(exchange: Exchange, share?: BodyShare): string {
  const { request, outcome } = exchange
  return JSON.stringify({
    role: exchange.role,
    key: exchange.key,
    ordinal: exchange.ordinal,
    request: {
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: storedBody(request.body, share),
    },
    outcome:
      outcome.kind === 'fault'
        ? { kind: outcome.kind, phase: outcome.phase, code: outcome.code, message: outcome.message }
        : {
            kind: outcome.kind,
            status: outcome.status,
            statusText: outcome.statusText,
            headers: outcome.headers,
            body: storedBody(outcome.body, share),
            cuts: outcome.cuts,
            end: storedEnd(outcome.end),
          },
    source: exchange.source,
    startedAt: exchange.startedAt,
    ttfbMs: exchange.ttfbMs,
    totalMs: exchange.totalMs,
    redactions: exchange.redactions.map(({ rule, count }) => ({ rule, count })),
    retried: exchange.retried,
  })
}

function storedEnd(end: BodyEnd): BodyEnd {
  if (end.kind === 'broken') return { kind: end.kind, code: end.code, message: end.message }
  return end.kind === 'cut' ? { kind: end.kind, bytes: end.bytes } : { kind: end.kind }
}

function storedBody(body: Body, share: BodyShare | undefined): StoredBody {
  if (body === null) return null
  const shared = share?.keep(body) ?? null
  if (shared !== null) return { shared }
  if (!('text' in body)) return { base64: body.base64 }
  const { text } = body
  if (/^[{[]/.test(text)) {
    try {
      const json: unknown = JSON.parse(text)
      if (JSON.stringify(json) === text) return { json }
    } catch {
      // Not JSON: text.
    }
  }
  return { text }
}

function bodyOf(stored: StoredBody, place: Place): Body {
  if (stored === null) return null
  if ('json' in stored) return { text: JSON.stringify(stored.json) }
  if (!('shared' in stored)) return stored
  const body = sharedBody(stored.shared, place.open)
  if ('wrong' in body)
    throw new RecordingError(place.file, place.line, `${body.wrong}, or record the cell again with -u`)
  return body
}

interface Place {
  readonly file: string
  readonly line: number
  readonly open: OpenShared | undefined
}

/** `note` says what was left out: a last line that a crash tore; null when nothing was. */
export interface Decoded<T> {
  readonly value: T
  readonly note: string | null
}

/**
 * @param file name for messages
 * @param open gives the bytes of a shared body
 * @throws RecordingError for a bad line (but a torn last one), an unknown or newer schema, a shared body that is missing
 *   or was changed
 */
export function decodeRecording(text: string, file: string, open?: OpenShared): Decoded<Recording> {
  const lines = linesOf(text)
  const first = lines[0]
  if (first === undefined) throw new RecordingError(file, 1, 'the recording is empty; record the cell again with -u')
  const { schema: _, ...about } = parse(header, refuseOtherSchema(parseLine(first.text, file, 1), file), file, 1)
  const { value, note } = decodeLines(lines.slice(1), file, open)
  return { value: { ...about, exchanges: value }, note }
}

/**
 * The exchanges of a raw capture, which has no header line. Its marks of requests that were about to leave are skipped.
 *
 * @throws RecordingError for a bad line, but a torn last one
 */
export function decodeCapture(text: string, file: string): Decoded<Exchange[]> {
  return decodeLines(
    linesOf(text).filter((line) => !isSentLine(line.text)),
    file,
  )
}

interface Line {
  readonly number: number
  readonly text: string
  /** False for a last line without its line end. */
  readonly ended: boolean
}

function linesOf(text: string): Line[] {
  // Some editors on Windows put a mark before the first character.
  const pieces = text.replace(/^\ufeff/, '').split('\n')
  const rest = pieces.pop() ?? ''
  const lines = pieces.map((piece, index) => ({
    number: index + 1,
    // A checkout on Windows may have turned line ends into CRLF.
    text: piece.endsWith('\r') ? piece.slice(0, -1) : piece,
    ended: true,
  }))
  return rest === '' ? lines : [...lines, { number: lines.length + 1, text: rest, ended: false }]
}

function decodeLines(lines: readonly Line[], file: string, open?: OpenShared): Decoded<Exchange[]> {
  const value: Exchange[] = []
  for (const line of lines) {
    if (!line.ended && !isJson(line.text)) {
      return { value, note: `${file}:${line.number}: the last line is torn and was left out` }
    }
    value.push(decodeExchange(line.text, { file, line: line.number, open }))
  }
  return { value, note: null }
}

function decodeExchange(text: string, place: Place): Exchange {
  const { file, line } = place
  const read = parse(exchange, parseLine(text, file, line), file, line)
  const { outcome } = read
  return {
    ...read,
    request: { ...read.request, body: bodyOf(read.request.body, place) },
    outcome: outcome.kind === 'fault' ? outcome : { ...outcome, body: bodyOf(outcome.body, place) },
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parseLine(text: string, file: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const what = /^(?:<{7}|={7}|>{7})/.test(text)
      ? 'an unresolved merge conflict; take one side, or record the cell again with -u'
      : text.trim() === ''
        ? 'an empty line; remove it'
        : 'not a JSON line; restore the file, or record the cell again with -u'
    throw new RecordingError(file, number, what)
  }
}

function refuseOtherSchema(value: unknown, file: string): unknown {
  const schema = typeof value === 'object' && value !== null ? Reflect.get(value, 'schema') : undefined
  if (typeof schema !== 'string' || !schema.startsWith(NAME)) {
    throw new RecordingError(file, 1, `no recording: the first line must say "schema":"${RECORDING_SCHEMA}"`)
  }
  const version = Number(schema.slice(NAME.length))
  if (version > VERSION) {
    throw new RecordingError(
      file,
      1,
      `written by a newer vitest-campaign (${schema}; this one reads up to ${RECORDING_SCHEMA}): update vitest-campaign`,
    )
  }
  return value
}

function parse<T>(schema: z.ZodType<T>, value: unknown, file: string, number: number): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue === undefined || issue.path.length === 0 ? 'the line' : issue.path.join('.')
  throw new RecordingError(file, number, `${path}: ${issue?.message ?? 'not valid'}; record the cell again with -u`)
}
