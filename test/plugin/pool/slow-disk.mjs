// Preloaded into Vitest: a disk that takes half a second for every sync of a journal. What it has synced stands in a
// file, as a number of bytes, when the sync is over.
import { fstatSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const handle = await open(fileURLToPath(import.meta.url))
const { prototype } = handle.constructor
await handle.close()
const { datasync } = prototype

prototype.datasync = async function () {
  const { size } = fstatSync(this.fd)
  await new Promise((resolve) => setTimeout(resolve, 500))
  await datasync.call(this)
  writeFileSync(process.env.SYNCED, String(size))
}
