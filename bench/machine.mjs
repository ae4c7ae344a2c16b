import { open, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

/** One line about the machine: times mean nothing without it. */
export async function describeMachine(folder) {
  const model = cpus()[0]?.model ?? 'unknown CPU'
  const memory = Math.round(totalmem() / 2 ** 30)
  const sync = await medianSyncMs(folder)
  const load = loadavg()[0]?.toFixed(1)
  return (
    `${model}, ${availableParallelism()} cores, ${memory} GiB, ${process.platform}, Node ${process.version}; ` +
    `append of 4 KB + fdatasync: ${sync.toFixed(2)} ms (median of 200); load at the start: ${load}`
  )
}

/** What a durable append costs on the disk the journals are written to. */
async function medianSyncMs(folder) {
  const path = join(folder, 'sync-probe')
  const file = await open(path, 'a')
  const block = Buffer.alloc(4096, 'x')
  const times = []
  for (let i = 0; i < 200; i++) {
    const start = performance.now()
    await file.write(block)
    await file.datasync()
    times.push(performance.now() - start)
  }
  await file.close()
  await rm(path)
  return times.sort((a, b) => a - b)[100]
}
