import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../../core/campaign/identity.ts'
import {
  CHECKPOINT_BYTES,
  decodeCheckpoint,
  encodeCheckpoint,
  type FinishedCommand,
} from '../../../core/command/checkpoint.ts'
import { writeAtomic } from '../../pool/atomic-file.ts'

/** Folder of a run's finished commands, one file each, named by its identity. */
export const COMMANDS = 'commands'

const fileOf = (runDir: string, identity: Digest): string => join(runDir, COMMANDS, `${identity.slice(-64)}.json`)

/** The result of a finished command of these runs, or null. A damaged file is none, and never fatal. */
export async function findCheckpoint(runDirs: readonly string[], identity: Digest): Promise<FinishedCommand | null> {
  for (const runDir of runDirs) {
    const text = await readSmall(fileOf(runDir, identity))
    const found = text === null ? null : decodeCheckpoint(text, identity)
    if (found !== null) return found
  }
  return null
}

export async function keepCheckpoint(runDir: string, identity: Digest, finished: FinishedCommand): Promise<void> {
  await mkdir(join(runDir, COMMANDS), { recursive: true, mode: 0o700 })
  await writeAtomic(fileOf(runDir, identity), encodeCheckpoint(identity, finished))
}

/** A file that is no link and not too large; null for everything else. */
async function readSmall(path: string): Promise<string | null> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch {
    return null
  }
  try {
    const { size } = await file.stat()
    return size > CHECKPOINT_BYTES ? null : await file.readFile('utf8')
  } catch {
    return null
  } finally {
    await file.close()
  }
}
