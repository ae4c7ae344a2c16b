import { parseDocument } from 'yaml'
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

/** Aliases that a cassette may use: serialisers write a handful, a bomb needs more. */
const MAX_ALIASES = 100

const bytes = z.instanceof(Uint8Array)
const text = z.union([z.string(), bytes])
const value = z.union([z.string(), z.number(), z.bigint(), z.boolean()]).transform(String)
/** Integers are read as bigint, so that a seed beyond 2^53 keeps its digits. */
const code = z
  .union([z.bigint(), z.number().int()])
  .transform(Number)
  .refine((status) => status >= 100 && status <= 599, 'is no HTTP status')
const headers = z.record(z.string(), z.union([value, z.array(value)])).nullish()
const body = z
  .union([
    text,
    z.object({ string: text.nullish(), encoding: z.string().nullish(), base64_string: z.string().nullish() }),
  ])
  .nullish()
/** pydantic-ai's extension: what a JSON body says. */
const parsed = z.unknown().optional()

const interaction = z.object({
  request: z.object({
    method: z.string().regex(/^[A-Za-z]+$/, 'is no HTTP method'),
    uri: z.string(),
    headers,
    body,
    parsed_body: parsed,
  }),
  response: z.object({
    status: z.union([z.object({ code, message: z.string().nullish() }), code]),
    headers,
    body,
    parsed_body: parsed,
  }),
})
type Message = Pick<z.infer<typeof interaction>['request'], 'headers' | 'body' | 'parsed_body'>

/**
 * The calls of a vcrpy cassette (YAML or JSON, version 1). Bodies may be `body.string`, `!!binary`, `base64_string`, or
 * the `parsed_body` of pydantic-ai.
 *
 * @param keep says which addresses are wanted
 * @throws ImportError naming the interaction by its number, from 0, and the member
 */
export function readVcr(source: string, keep: (url: string) => boolean = () => true): ImportedFile {
  const document = parseDocument(source, { schema: 'core', customTags: ['binary'], intAsBigInt: true })
  const [problem] = document.errors
  if (problem !== undefined) throw new ImportError(`no YAML: ${problem.message.split('\n', 1)[0]}`)
  const strange = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED')
  if (strange !== undefined && !/python\/(?:unicode|str)\b/.test(strange.message)) {
    throw new ImportError(`a tag that is not of YAML's core schema: ${strange.message.split('\n', 1)[0]}`)
  }
  let cassette: unknown
  try {
    cassette = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw new ImportError(`no cassette: ${reasonOf(error)}`)
  }
  const { interactions, version } = Object(cassette) as { interactions?: unknown; version?: unknown }
  if (!Array.isArray(interactions)) {
    const ruby = Reflect.has(Object(cassette), 'http_interactions') ? ' (of Ruby’s VCR, which is not read)' : ''
    throw new ImportError(`no vcrpy cassette: it has no interactions${ruby}`)
  }
  if (version !== undefined && version !== 1n) {
    throw new ImportError(`cassette version ${JSON.stringify(String(version))} is not known; 1 is`)
  }
  const calls: Imported[] = []
  for (const [index, raw] of interactions.entries()) {
    const where = `interaction ${index}`
    const uri: unknown = Reflect.get(Object(Reflect.get(Object(raw), 'request')), 'uri')
    if (typeof uri === 'string' && !keep(uri)) continue
    const checked = interaction.safeParse(raw)
    if (!checked.success) {
      const issue = checked.error.issues[0]
      throw new ImportError(`${placeOf(where, issue?.path ?? [])}: ${issue?.message ?? 'not valid'}`)
    }
    const { request, response } = checked.data
    const { status } = response
    const responseHeaders = listOf(response.headers)
    calls.push({
      method: request.method.toUpperCase(),
      url: httpUrl(request.uri, `${where}.request.uri`),
      requestHeaders: listOf(request.headers),
      requestBody: bytesOf(request, `${where}.request`),
      outcome: {
        kind: 'response',
        status: typeof status === 'number' ? status : status.code,
        statusText: typeof status === 'number' ? '' : (status.message ?? ''),
        headers: responseHeaders,
        body: decodedBody(bytesOf(response, `${where}.response`), responseHeaders, `${where}.response.body`),
      },
      startedAt: null,
      ttfbMs: null,
      totalMs: null,
    })
  }
  return { calls, skipped: [] }
}

function bytesOf({ body, parsed_body }: Message, where: string): Uint8Array | null {
  const given = body == null || typeof body === 'string' || body instanceof Uint8Array ? { string: body } : body
  const { string } = given
  if ('base64_string' in given && given.base64_string != null) {
    return base64Bytes(given.base64_string, `${where}.body.base64_string`)
  }
  if (string != null) {
    if (typeof string !== 'string') return string
    const base64 = 'encoding' in given && given.encoding === 'base64'
    return base64 ? base64Bytes(string, `${where}.body.string`) : Buffer.from(string, 'utf8')
  }
  if (parsed_body === undefined || parsed_body === null) return null
  return Buffer.from(typeof parsed_body === 'string' ? parsed_body : jsonOf(parsed_body), 'utf8')
}

function listOf(headers: Message['headers']): HeaderList {
  return Object.entries(headers ?? {}).flatMap(([name, given]) =>
    [given].flat().map((one): readonly [string, string] => [name, one]),
  )
}

function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
