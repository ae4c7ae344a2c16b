import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../../core/campaign/canonical-json.ts'
import { sha256Hex } from '../../core/campaign/identity.ts'
import { writeAtomic } from '../pool/atomic-file.ts'

/** An output whose JSON is longer, in UTF-16 code units, does not go through the control port and the journal. */
const LONGEST = 64 * 1024

/** An output as a journal line says it. */
export type JournalledOutput = { readonly output: Json } | { readonly file: string }

export async function journalledOutput(runDir: string, output: Json): Promise<JournalledOutput> {
  const text = JSON.stringify(output)
  if (text.length <= LONGEST) return { output }
  const folder = join(runDir, 'outputs')
  // Not recursive: a run folder that somebody deleted stays deleted.
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const file = `${sha256Hex(text)}.json`
  await writeAtomic(join(folder, file), text)
  return { file }
}

/** @throws Error naming the file when it is not what was written */
export async function readOutputFile(runDir: string, name: string): Promise<Json> {
  const path = join(runDir, 'outputs', name)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const text = await file.readFile('utf8')
    if (`${sha256Hex(text)}.json` !== name) throw new Error(`${path} is not what the run wrote: it was changed since`)
    return JSON.parse(text) as Json
  } finally {
    await file.close()
  }
}
