import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from './child.mjs'
import { writeRecords } from './records.mjs'
import { SCRATCH } from './scratch.mjs'
import { count, megabytes, seconds, table, times } from './table.mjs'

const CHILD = fileURLToPath(new URL('report-child.mjs', import.meta.url))
const VARIANTS = 8
const SEEDS = 5

/**
 * From records.jsonl to the report, every line checked, against JSON.parse of the same file with its records kept; in
 * processes of their own, without their start-up. The sign-flip test draws 9,999 resamples and the frontier 2,000.
 */
export async function report({ records, repeats }) {
  // The package as a user has it is found from the scratch folder.
  const script = join(SCRATCH, 'report-child.mjs')
  copyFileSync(CHILD, script)
  const rows = []
  for (const size of [records / 4, records / 2, records]) {
    const folder = writeRecords(size, { variants: VARIANTS, seeds: SEEDS })
    const best = {}
    for (let i = 0; i < repeats; i++) {
      for (const what of ['parse', 'report']) {
        const { output } = await runChild([process.execPath, script, what, folder], { cwd: SCRATCH })
        const run = JSON.parse(output)
        process.stderr.write(`  ${what}, ${size} records: ${(run.cpuMs / 1000).toFixed(2)} s CPU\n`)
        if (best[what] === undefined || run.cpuMs < best[what].cpuMs) best[what] = run
      }
    }
    rows.push([
      count(size),
      seconds(best.parse.cpuMs),
      seconds(best.report.cpuMs),
      times(best.report.cpuMs, best.parse.cpuMs),
      times(best.report.wallMs, best.parse.wallMs),
      megabytes(best.report.rssMb),
    ])
  }
  return `### A report of ${count(records)} records, ${VARIANTS} variants, streamed from records.jsonl\n\n${table(
    ['records', 'JSON.parse, CPU', 'report, CPU', 'CPU', 'wall', 'peak memory'],
    rows,
  )}\n\nTarget: ≤ 4× of JSON.parse, memory linear.`
}
