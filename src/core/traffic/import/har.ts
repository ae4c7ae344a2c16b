import { z } from 'zod'
import type { HeaderList } from '../exchange.ts'
import {
  base64Bytes,
  decodedBody,
  httpUrl,
  ImportError,
  type Imported,
  type ImportedFile,
  placeOf,
  reasonOf,
} from './imported.ts'

const headers = z.array(z.object({ name: z.string().min(1), value: z.string() }))
const milliseconds = z.number().nullish()

const entry = z.object({
  startedDateTime: z.string().nullish(),
  time: milliseconds,
  request: z.object({
    method: z.string().regex(/^[A-Za-z]+$/, 'is no HTTP method'),
    url: z.string(),
    headers,
    postData: z
      .object({
        mimeType: z.string().nullish(),
        text: z.string().nullish(),
        encoding: z.string().nullish(),
        params: z.array(z.object({ name: z.string(), value: z.string().nullish() })).nullish(),
      })
      .nullish(),
  }),
  response: z.object({
    status: z.number().int(),
    statusText: z.string().nullish(),
    headers,
    content: z
      .object({
        size: z.number().nullish(),
        mimeType: z.string().nullish(),
        text: z.string().nullish(),
        encoding: z.string().nullish(),
      })
      .nullish(),
    _error: z.string().nullish(),
  }),
  timings: z
    .object({
      blocked: milliseconds,
      dns: milliseconds,
      connect: milliseconds,
      send: milliseconds,
      wait: milliseconds,
    })
    .nullish(),
})
type Entry = z.infer<typeof entry>

const archive = z.object({ log: z.object({ version: z.string().optional(), entries: z.array(z.unknown()) }) })

/**
 * The calls of an HTTP archive (HAR 1.2), as browsers and proxies export it.
 *
 * @param keep says which addresses are wanted: a browser exports the whole page
 * @throws ImportError naming the entry by its number, from 0, and the member
 */
export function readHar(text: string, keep: (url: string) => boolean = () => true): ImportedFile {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new ImportError(`no HAR file: ${reasonOf(error)}`)
  }
  const parsed = archive.safeParse(json)
  if (!parsed.success) throw new ImportError('no HAR file: it has no log.entries')
  const { version, entries } = parsed.data.log
  if (version !== undefined && !/^1\.[12]$/.test(version)) {
    throw new ImportError(`HAR version ${JSON.stringify(version)} is not known; 1.1 and 1.2 are`)
  }
  const calls: Imported[] = []
  const skipped: string[] = []
  for (const [index, raw] of entries.entries()) {
    const where = `entry ${index}`
    const url: unknown = Reflect.get(Object(Reflect.get(Object(raw), 'request')), 'url')
    if (typeof url === 'string') {
      if (!keep(url)) continue
      // A page's own business, and sockets: nothing that a recording can answer.
      if (/^(?:wss?|data|blob|file|about|chrome(?:-extension)?|moz-extension):/i.test(url)) {
        skipped.push(`${where}: ${url.slice(0, 80)} is no HTTP call`)
        continue
      }
    }
    const checked = entry.safeParse(raw)
    if (!checked.success) {
      const issue = checked.error.issues[0]
      throw new ImportError(`${placeOf(where, issue?.path ?? [])}: ${issue?.message ?? 'not valid'}`)
    }
    const call = readEntry(checked.data, where)
    if (typeof call === 'string') skipped.push(`${where}: ${call}`)
    else calls.push(call)
  }
  return { calls, skipped }
}

/** The call, or why it is left out. */
function readEntry({ startedDateTime, time, request, response, timings }: Entry, where: string): Imported | string {
  const requestHeaders = listOf(request.headers)
  const preflight = requestHeaders.some(([name]) => name.toLowerCase() === 'access-control-request-method')
  if (request.method === 'OPTIONS' && preflight) return 'a preflight of a browser, which no program repeats'
  if (response.status === 101) return 'a WebSocket'
  const url = httpUrl(request.url, `${where}.request.url`)
  const waits = timings == null ? [] : [timings.blocked, timings.dns, timings.connect, timings.send, timings.wait]
  // -1 stands for what does not apply.
  const ttfb = timings?.wait == null || timings.wait < 0 ? null : sum(waits)
  return {
    method: request.method.toUpperCase(),
    url,
    requestHeaders,
    requestBody: requestBody(request, `${where}.request.postData`),
    outcome: outcomeOf(response, request.method, where),
    startedAt: instantOf(startedDateTime, `${where}.startedDateTime`),
    ttfbMs: ttfb === null ? null : Math.round(ttfb),
    totalMs: time == null || time < 0 ? null : Math.round(time),
  }
}

const sum = (values: readonly (number | null | undefined)[]) =>
  values.reduce((total: number, value) => total + (value != null && value > 0 ? value : 0), 0)

function requestBody({ postData }: Entry['request'], where: string): Uint8Array | null {
  if (postData == null) return null
  const { text, encoding, params, mimeType } = postData
  if (text != null && (text !== '' || params == null || params.length === 0)) {
    return encoding === 'base64' ? base64Bytes(text, `${where}.text`) : Buffer.from(text, 'utf8')
  }
  if (params == null || params.length === 0) return null
  if (/^multipart\//i.test(mimeType ?? '')) {
    throw new ImportError(`${where}: the upload was exported without its bytes, and cannot be matched`)
  }
  return Buffer.from(
    new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value ?? ''])).toString(),
  )
}

function outcomeOf(response: Entry['response'], method: string, where: string): Imported['outcome'] {
  const { status, statusText, content, _error } = response
  if (status === 0 || status === -1) {
    return { kind: 'fault', phase: 'connect', code: faultCode(_error ?? ''), message: _error || 'no response' }
  }
  if (status < 100 || status > 599) throw new ImportError(`${where}.response.status: ${status} is no HTTP status`)
  const { text, encoding, size } = content ?? {}
  if (text == null && (size ?? 0) > 0 && method !== 'HEAD') {
    throw new ImportError(
      `${where}.response.content: ${size} bytes were exported without their text; export the archive with content`,
    )
  }
  const headers = listOf(response.headers)
  const bytes =
    text == null || text === ''
      ? null
      : encoding === 'base64'
        ? base64Bytes(text, `${where}.response.content.text`)
        : Buffer.from(text, 'utf8')
  const body = decodedBody(bytes, headers, `${where}.response.content`)
  return { kind: 'response', status, statusText: statusText ?? '', headers, body }
}

/** Chrome's words for what node's sockets would have said. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/REFUSED/, 'ECONNREFUSED'],
  [/NAME_NOT_RESOLVED|NOTFOUND/, 'ENOTFOUND'],
  [/TIMED?_?OUT/, 'ETIMEDOUT'],
  [/RESET|CLOSED|EMPTY_RESPONSE|ABORTED/, 'ECONNRESET'],
]

const faultCode = (error: string) => CODES.find(([pattern]) => pattern.test(error.toUpperCase()))?.[1] ?? 'ERR_IMPORTED'

function listOf(headers: Entry['request']['headers']): HeaderList {
  return headers.flatMap(({ name, value }) =>
    // Chrome joins repeats by line ends, which no header value may hold.
    value.split(/\r?\n/).map((one): readonly [string, string] => [name, one]),
  )
}

function instantOf(text: string | null | undefined, where: string): string | null {
  if (text == null) return null
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new ImportError(`${where}: ${JSON.stringify(text.slice(0, 80))} is no date`)
  return new Date(time).toISOString()
}
