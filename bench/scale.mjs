import { campaign } from './campaign.mjs'
import { measure } from './compare.mjs'
import { count, megabytes, micros, seconds, table, times } from './table.mjs'

/** How many cells are in flight where nobody says. */
const IN_FLIGHT = 32

/** Is time linear in cells, and what does a large run hold in memory (the whole process, threads included)? */
export async function scale({ cells, repeats }) {
  const rows = []
  for (const capture of ['on', 'off']) {
    const [small, large] = await measure(
      [
        await campaign({ cells: cells / 5, inFlight: IN_FLIGHT, capture }),
        await campaign({ cells, inFlight: IN_FLIGHT, capture }),
      ],
      repeats,
    )
    for (const run of [small, large]) {
      rows.push([
        count(run.cells),
        capture,
        seconds(run.wallMs),
        micros(run.wallMs, run.cells),
        run === large ? times(large.wallMs / large.cells, small.wallMs / small.cells) : '',
        megabytes(run.rssMb),
        run === large ? '≤ 2 GB' : '',
      ])
    }
  }
  return `### One run of ${count(cells)} cells, ${IN_FLIGHT} in flight\n\n${table(
    ['cells', 'capture', 'wall', 'per cell', 'per cell against the smaller run', 'peak memory', 'target'],
    rows,
  )}`
}
