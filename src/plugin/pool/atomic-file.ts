import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/** Writes a whole file so that a reader sees the old content or the new one, never a part. Mode 0600. */
export async function writeAtomic(path: string, data: string | Uint8Array | Iterable<string>): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  try {
    if (typeof data === 'string' || data instanceof Uint8Array) await file.writeFile(data)
    else await writeChunks(file, data)
    await file.sync()
  } catch (error) {
    await file.close()
    await rm(temporary, { force: true })
    throw error
  }
  await file.close()
  await rename(temporary, path)
}

async function writeChunks(file: Awaited<ReturnType<typeof open>>, lines: Iterable<string>): Promise<void> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length > 1 << 20) {
      await file.write(chunk)
      chunk = ''
    }
  }
  if (chunk !== '') await file.write(chunk)
}
