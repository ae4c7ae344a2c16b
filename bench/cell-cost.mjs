import { campaign } from './campaign.mjs'
import { measure } from './compare.mjs'
import { plain } from './plain.mjs'
import { count, micros, seconds, table, times } from './table.mjs'

/** What a cell costs beside an empty test: lease, context, scorer, durable record, no provider call. */
export async function cellCost({ cells, repeats }) {
  const rows = []
  for (const { title, inFlight, target, of } of [
    { title: 'start-up: 2 cells', inFlight: 2, target: '', of: 2 },
    { title: `${count(cells)} cells, all in flight`, inFlight: cells, target: '≤ 1.5×', of: cells },
    { title: `${count(cells)} cells, 32 in flight`, inFlight: 32, target: '≤ 2.5×', of: cells },
  ]) {
    const [bare, ...ours] = await measure(
      [
        await plain({ cells: of, inFlight }),
        await campaign({ cells: of, inFlight, capture: 'on' }),
        await campaign({ cells: of, inFlight, capture: 'off' }),
      ],
      repeats,
    )
    for (const [at, capture] of ['on', 'off'].entries()) {
      const own = ours[at]
      rows.push([
        title,
        capture,
        seconds(bare.wallMs),
        seconds(own.wallMs),
        times(own.wallMs, bare.wallMs),
        target,
        times(own.cpuMs, bare.cpuMs),
        micros(own.wallMs, of),
      ])
    }
  }
  return `### A cell against a plain \`test.concurrent\`\n\n${table(
    ['', 'capture', '`test.concurrent`', 'campaign', 'wall', 'target', 'CPU', 'wall per cell'],
    rows,
  )}`
}
