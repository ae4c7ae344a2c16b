import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'

/** Writes a document whole or not at all, readable by its owner. Null, or why it was not written. */
export async function writeDocument(path: string, document: string): Promise<string | null> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeFile(temporary, document, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
    return null
  } catch (error) {
    await rm(temporary, { force: true })
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
