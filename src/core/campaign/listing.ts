import { canonicalJson, childPath, type Json, NotJsonError } from './canonical-json.ts'
import type { Refuse } from './definition-error.ts'
import { type Digest, foldId, idProblem, sha256Hex } from './identity.ts'
import { isObject, nameOf } from './options.ts'

/** One variant or scenario as `run` sees it: the user's own fields and the id. Frozen, deeply. */
export type Payload = { readonly [key: string]: Json } & { readonly id: string }

export interface Member {
  readonly id: string
  readonly path: string
  readonly payload: Payload
  /** Digest of the payload without the id: the same contents under two names have one digest. */
  readonly digest: Digest
}

/** Whether the work settles within so many milliseconds. */
export type SettlesWithin = (work: Promise<unknown>, ms: number) => Promise<boolean>

/** What a function that loads variants or scenarios may take: until then nobody is told what the run waits for. */
export const LOADING_MS = 600_000

/**
 * Resolves a source (record, array, or function giving either) into its members, in the order written.
 *
 * Members are copied and frozen: every cell of a scenario shares one object, and a subject that changed it would change
 * what the next cell measures.
 */
export async function resolveListing(
  kind: 'variants' | 'scenarios',
  source: unknown,
  refuse: Refuse,
  settlesWithin: SettlesWithin,
): Promise<Member[]> {
  const entries = entriesOf(kind, await resolveSource(kind, source, refuse, settlesWithin), refuse)
  if (entries.length === 0) refuse(kind, `are empty: a campaign needs at least one ${kind.slice(0, -1)}`)
  const seen = new Map<string, string>()
  return entries.map(({ id, path, value }) => {
    const twin = seen.get(foldId(id))
    if (twin !== undefined) {
      const how = twin === id ? 'is there twice' : `differs from ${JSON.stringify(twin)} in case or Unicode form alone`
      refuse(path, `has an id that ${how}: ${JSON.stringify(id)}; ids share file names and must be unique`)
    }
    seen.set(foldId(id), id)
    return memberOf(id, path, value, refuse)
  })
}

async function resolveSource(
  kind: string,
  source: unknown,
  refuse: Refuse,
  settlesWithin: SettlesWithin,
): Promise<unknown> {
  if (typeof source !== 'function') return source
  const loading = (async () => source())()
  if (!(await settlesWithin(loading, LOADING_MS))) {
    return refuse(
      kind,
      `were not loaded within ${LOADING_MS / 60_000} minutes: the function that gives them did not settle`,
    )
  }
  try {
    return await loading
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refuse(kind, `could not be loaded: ${message}`, { cause: error })
  }
}

interface Entry {
  readonly id: string
  readonly path: string
  readonly value: Readonly<Record<string, unknown>>
}

function entriesOf(kind: string, listing: unknown, refuse: Refuse): Entry[] {
  const pairs: [path: string, key: string | null, value: unknown][] = []
  if (Array.isArray(listing)) for (const [i, value] of listing.entries()) pairs.push([`${kind}[${i}]`, null, value])
  else if (isObject(listing)) {
    for (const [key, value] of Object.entries(listing)) pairs.push([childPath(kind, key), key, value])
  } else refuse(kind, `must be a record, an array or a function giving either, not ${nameOf(listing)}`)
  return pairs.map(([path, key, value]) => {
    if (!isObject(value)) return refuse(path, `must be an object, not ${nameOf(value)}`)
    const own = Object.hasOwn(value, 'id') ? value.id : undefined
    if (key === null && own === undefined) refuse(path, 'has no id: members of an array carry their own `id`')
    if (key !== null && own !== undefined && own !== key) {
      refuse(path, `carries the id ${nameOf(own)} under the key ${JSON.stringify(key)}: drop one of the two`)
    }
    const id = key ?? own
    const problem = idProblem(id)
    if (problem !== null) refuse(path, `has an id that ${problem}`)
    // idProblem() refuses everything that is no string.
    return { id: id as string, path, value }
  })
}

function memberOf(id: string, path: string, value: Readonly<Record<string, unknown>>, refuse: Refuse): Member {
  const { id: _, ...contents } = value
  try {
    if (Object.getPrototypeOf(value) !== null && Object.getPrototypeOf(Object.getPrototypeOf(value)) !== null) {
      canonicalJson(value, path)
    }
    const text = canonicalJson(contents, path)
    // The copy keeps the user's key order, which may be what a prompt is made of.
    const payload = deepFreeze({ id, ...structuredClone(contents) }) as Payload
    return { id, path, payload, digest: `sha256-jcs:${sha256Hex(text)}` }
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    const message = error.message.slice(error.path.length + 1)
    return refuse(error.path, `${message}: what a cell is made of is hashed and compared, so it must be JSON`, {
      cause: error,
    })
  }
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}
