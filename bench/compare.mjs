import { runChild } from './child.mjs'

/**
 * A side of a comparison: one whole child process per measurement.
 *
 * @typedef {{
 *   name: string, cells: number, command: string[], cwd: string, env?: Record<string, string>,
 *   prepare?: () => Promise<void>, check?: (output: string) => Promise<void>, mayFail?: boolean
 * }} Side
 * @typedef {{
 *   name: string, cells: number, wallMs: number, cpuMs: number | null, rssMb: number | null, failure: string | null
 * }} Best
 */

/**
 * Measures the sides in turn, so that what the machine does beside falls on all of them, and keeps the best of each. A
 * side of another tool that fails says so in its `failure` and is not run again.
 *
 * @param {readonly Side[]} sides
 * @returns {Promise<Best[]>}
 */
export async function measure(sides, repeats) {
  const runs = sides.map(() => [])
  const failures = sides.map(() => null)
  for (let i = 0; i < repeats; i++) {
    for (const [at, side] of sides.entries()) {
      if (failures[at] !== null) continue
      await side.prepare?.()
      let run
      try {
        run = await runChild(side.command, side)
        await side.check?.(run.output)
      } catch (error) {
        if (!side.mayFail) throw error
        failures[at] = error.message
        process.stderr.write(`  ${error.message}\n`)
        continue
      }
      runs[at].push(run)
      process.stderr.write(`  ${side.name}, ${side.cells} cells: ${(run.wallMs / 1000).toFixed(2)} s\n`)
    }
  }
  return sides.map(({ name, cells }, at) => ({
    name,
    cells,
    wallMs: least(runs[at].map((run) => run.wallMs)),
    cpuMs: least(runs[at].map((run) => run.cpuMs)),
    rssMb: least(runs[at].map((run) => run.rssMb)),
    failure: failures[at],
  }))
}

function least(values) {
  return values.includes(null) ? null : Math.min(...values)
}
