import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from './child.mjs'
import { writeRecords } from './records.mjs'
import { SCRATCH } from './scratch.mjs'
import { count, seconds, table, times } from './table.mjs'

const CHILD = fileURLToPath(new URL('journal-child.mjs', import.meta.url))
const IN_FLIGHT = [32, 1_000]

/** Durable appends against the disk's syncs alone, and opening a journal against JSON.parse of its lines. */
export async function journal({ records, repeats }) {
  const script = join(SCRATCH, 'journal-child.mjs')
  copyFileSync(CHILD, script)
  const folder = writeRecords(records, { variants: 8, seeds: 5 })
  const runs = new Map()
  const run = async (what, inFlight) => {
    const { output } = await runChild([process.execPath, script, what, folder, String(inFlight)], { cwd: SCRATCH })
    const measured = JSON.parse(output)
    const key = `${what} ${inFlight}`
    const before = runs.get(key)
    const better = before === undefined || measured.perSecond > before.perSecond || measured.cpuMs < before.cpuMs
    if (better) runs.set(key, measured)
    process.stderr.write(`  ${key}: ${output.trim()}\n`)
  }
  for (let i = 0; i < repeats; i++) {
    for (const inFlight of IN_FLIGHT) {
      await run('append', inFlight)
    }
    await run('parse', 0)
    await run('open', 0)
  }
  const appends = IN_FLIGHT.map((inFlight) => {
    const { batch, attainable, perSecond } = runs.get(`append ${inFlight}`)
    const rates = [attainable, perSecond].map((rate) => `${count(Math.round(rate))}/s`)
    return [count(inFlight), count(Math.round(batch)), ...rates, times(perSecond, attainable)]
  })
  const [parse, opened] = [runs.get('parse 0').cpuMs, runs.get('open 0').cpuMs]
  return [
    '### The journal',
    table(
      ['cells waiting', 'records per batch', 'batch × fdatasync rate', 'durable appends', 'ratio (target ≥ 0.8×)'],
      appends,
    ),
    table(
      ['records', 'JSON.parse of the lines, CPU', 'open, every line checked, CPU', 'ratio (target ≤ 2×)'],
      [[count(records), seconds(parse), seconds(opened), times(opened, parse)]],
    ),
  ].join('\n\n')
}
