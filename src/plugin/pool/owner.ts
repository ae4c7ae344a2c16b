import { randomBytes } from 'node:crypto'
import { constants, lstatSync } from 'node:fs'
import { link, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  type Liveness,
  livenessOf,
  type Processes,
  type ProcessIdentity,
  systemProcesses,
} from '../process-identity.ts'
import { writeAtomic } from './atomic-file.ts'

const OWNER_SCHEMA = 'vitest-campaign/owner@1'

const Owner = z.strictObject({
  schema: z.literal(OWNER_SCHEMA),
  /** From 1, one more with every owner of the folder. */
  fence: z.number().int().positive(),
  pid: z.number().int().positive(),
  startToken: z.string().nullable(),
  host: z.string(),
  bootId: z.string().nullable(),
  pidNamespace: z.string().nullable(),
  /** Tells this claim from every other one. */
  nonce: z.string(),
  claimedAt: z.iso.datetime(),
  /** Null while it owns the folder, or where it died owning it. */
  releasedAt: z.iso.datetime().nullable(),
})
export type Owner = z.infer<typeof Owner>

/** What is known of the owner of a run folder. */
export interface OwnerState {
  /** The fence of the last owner; 0 where there was none. */
  readonly fence: number
  /** Null where there was none, or what it left cannot be read. */
  readonly owner: Owner | null
  /** `free`: there was none, it gave the folder back, or it is dead. */
  readonly held: 'free' | Exclude<Liveness, 'dead'>
}

/** The folder belongs to a run that goes on, or may go on. */
export class FolderBusyError extends Error {
  override readonly name = 'FolderBusyError'
  readonly state: OwnerState
  constructor(dir: string, state: OwnerState) {
    super(`${dir} ${ownerWords(state)}`)
    this.state = state
  }
}

/** Somebody else has taken the folder, or it is gone: nothing may be written there any more. */
export class OwnershipLostError extends Error {
  override readonly name = 'OwnershipLostError'
}

/** The right to write into a run folder. */
export interface Ownership {
  readonly fence: number
  /** Call it before every write. @throws OwnershipLostError */
  assert(): void
  /** Gives the folder back; one that somebody else has taken is left as it is. */
  release(): Promise<void>
}

export interface ClaimOptions {
  readonly dir: string
  readonly here: ProcessIdentity
  readonly now: () => Date
  readonly processes?: Processes
}

const FILE = /^owner\.([1-9]\d{0,8})\.json$/
const fileOf = (dir: string, fence: number): string => join(dir, `owner.${fence}.json`)
/** Somebody else who takes the folder in the same moment costs one round. */
const ROUNDS = 20

/**
 * Takes a run folder. Every owner has a number and a file of that number, created where none is: of any number of
 * processes that try at once exactly one has the next number. A dead owner's file stays as it is, so that nobody can
 * take away what another has just taken.
 *
 * @throws FolderBusyError when its owner is alive, or on another machine
 */
export async function claimFolder(options: ClaimOptions): Promise<Ownership> {
  const { dir, here, now } = options
  const nonce = randomBytes(12).toString('hex')
  for (let round = 0; ; round++) {
    const state = await ownerState(options)
    if (state.held !== 'free' || round === ROUNDS) throw new FolderBusyError(dir, state)
    const fence = state.fence + 1
    const owner: Owner = {
      schema: OWNER_SCHEMA,
      fence,
      ...here,
      nonce,
      claimedAt: now().toISOString(),
      releasedAt: null,
    }
    if (await publish(fileOf(dir, fence), `${JSON.stringify(owner)}\n`)) return ownership(dir, owner, now)
  }
}

/** Who owns a run folder. A folder without an owner file is free: it was never run in, or by an older version. */
export async function ownerState({ dir, here, processes = systemProcesses }: ClaimOptions): Promise<OwnerState> {
  let fence = 0
  for (const name of await readdir(dir)) {
    const number = Number(FILE.exec(name)?.[1] ?? 0)
    if (number > fence) fence = number
  }
  const owner = fence === 0 ? null : await readOwner(fileOf(dir, fence))
  if (owner === null || owner.releasedAt !== null) return { fence, owner, held: 'free' }
  const liveness = livenessOf(owner, here, processes)
  return { fence, owner, held: liveness === 'dead' ? 'free' : liveness }
}

/** The run whose folder it is; null where an older version wrote none. */
export function firstOwner(dir: string): Promise<Owner | null> {
  return readOwner(fileOf(dir, 1))
}

/** Why a folder cannot be taken. */
export function ownerWords({ owner, held }: OwnerState): string {
  if (owner === null) return 'is taken by others again and again'
  if (held === 'elsewhere') {
    return (
      `belongs to process ${owner.pid} on ${owner.host}, of which nothing can be said from here: where it is over, ` +
      `delete owner.${owner.fence}.json in the folder`
    )
  }
  return `belongs to process ${owner.pid}, which is running`
}

function ownership(dir: string, owner: Owner, now: () => Date): Ownership {
  const own = fileOf(dir, owner.fence)
  const next = fileOf(dir, owner.fence + 1)
  // The time too: the number of a file that was deleted is given to the next one.
  const { ino, mtimeNs } = lstatSync(own, { bigint: true })
  let released = false
  return {
    fence: owner.fence,
    assert() {
      if (released) throw new OwnershipLostError(`${dir} was given back already`)
      if (lstatSync(next, { throwIfNoEntry: false }) !== undefined) {
        throw new OwnershipLostError(`${dir} was taken over by another run (see owner.${owner.fence + 1}.json there)`)
      }
      const there = lstatSync(own, { bigint: true, throwIfNoEntry: false })
      if (there === undefined) throw new OwnershipLostError(`${dir} is gone: it was deleted while the run went on`)
      if (there.ino !== ino || there.mtimeNs !== mtimeNs)
        throw new OwnershipLostError(`${own} is not the file that this run wrote`)
    },
    async release() {
      if (released) return
      released = true
      const there = await readOwner(own)
      if (there?.nonce !== owner.nonce) return
      await writeAtomic(own, `${JSON.stringify({ ...owner, releasedAt: now().toISOString() })}\n`)
    },
  }
}

/** What was read where the next number is sought: a file that is no owner's says nothing, and is nobody's. */
async function readOwner(path: string): Promise<Owner | null> {
  for (let tries = 0; ; tries++) {
    const text = await readText(path)
    const parsed = text === null ? null : Owner.safeParse(jsonOf(text))
    if (parsed?.success === true) return parsed.data
    // Where the system has no hard links, a file may be seen before it is written.
    if (text === null || tries === 3) return null
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function readText(path: string): Promise<string | null> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ELOOP') return null
    throw error
  }
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Creates a file with all of its content at once, durable; false where it is there already. */
async function publish(path: string, text: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  await writeAtomic(temporary, text)
  try {
    await link(temporary, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!NO_LINKS.has(code)) throw error
    return await createWhole(path, text)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function createWhole(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
