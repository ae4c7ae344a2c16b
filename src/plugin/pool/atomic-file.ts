import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'

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

const PIECE_BYTES = 1 << 20

/** Each line is made bytes in its place: to join the strings first takes several times as long. */
async function writeChunks(file: FileHandle, lines: Iterable<string>): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  let filled = 0
  for (const line of lines) {
    const bytes = Buffer.byteLength(line)
    if (filled + bytes > PIECE_BYTES) {
      await file.writeFile(piece.subarray(0, filled))
      filled = 0
    }
    if (bytes > PIECE_BYTES) await file.writeFile(line)
    else filled += piece.write(line, filled)
  }
  await file.writeFile(piece.subarray(0, filled))
}
