import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Body, Exchange } from '../../core/traffic/exchange.ts'
import { decodeRecording, type Recording } from '../../core/traffic/format.ts'
import type { Redactor } from '../../core/traffic/redact.ts'
import { readShared } from '../../plugin/replay/disk.ts'
import { BODIES, recordingPlace } from '../../plugin/replay/path.ts'

/** What one recording file holds. */
export interface Inspected {
  readonly path: string
  readonly bytes: number
  /** Null where it cannot be read; `problems` says why. */
  readonly recording: Recording | null
  readonly problems: readonly string[]
  /** File names of the shared bodies it names, readable or not. */
  readonly shared: readonly string[]
  readonly largest: LargeBody | null
}

export interface LargeBody {
  readonly bytes: number
  /** `request` or `answer`, method and address. */
  readonly of: string
}

/** Reads one recording: its schema, where it lies, and whether a secret is left in it. */
export async function inspect(folder: string, path: string, redactor: Redactor): Promise<Inspected> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const text = await file.readFile('utf8').finally(() => file.close())
  const shared = new Set<string>()
  for (const [, name] of text.matchAll(/\{"shared":"([0-9a-f]{64}\.(?:txt|bin))"\}/g)) shared.add(name ?? '')
  const problems: string[] = []
  const rules = new Set(redactor.scan(text))
  for (const name of shared) {
    const bytes = readShared(folder, name)
    if (bytes !== null) for (const rule of redactor.scan(Buffer.from(bytes).toString('latin1'))) rules.add(rule)
  }
  if (rules.size > 0)
    problems.push(`a secret is left, found by ${[...rules].join(', ')}: record it again, and change the key`)
  let recording: Recording | null = null
  try {
    const { value, note } = decodeRecording(text, basename(path), (name) => readShared(folder, name))
    if (note !== null) problems.push(note)
    recording = value
    const { folders, file: named } = recordingPlace(join(dirname(folder), 'x'), value)
    const here = [...relative(dirname(folder), dirname(path)).split(sep), basename(path)].join('/')
    const there = [...folders, named].join('/')
    if (here !== there) problems.push(`its first line says that it belongs at ${there}`)
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  const largest = recording?.exchanges.flatMap(bodiesOf).sort((a, b) => b.bytes - a.bytes)[0] ?? null
  return { path, bytes: Buffer.byteLength(text), recording, problems, shared: [...shared], largest }
}

function bodiesOf({ request, outcome }: Exchange): LargeBody[] {
  const call = `${request.method} ${request.url}`
  const answer = outcome.kind === 'response' ? outcome.body : null
  return [
    { bytes: size(request.body), of: `request of ${call}` },
    { bytes: size(answer), of: `answer to ${call}` },
  ]
}

function size(body: Body): number {
  if (body === null) return 0
  return 'text' in body ? Buffer.byteLength(body.text) : Math.floor((body.base64.length * 3) / 4)
}

/** Path of a shared body. */
export const bodyPath = (folder: string, name: string) => join(folder, BODIES, name)
