// npm run bench -- [--quick] [--only=cell-cost,peers,scale,report,journal,resume,traffic,capacity] [--repeats=3]
//   --quick   fewer cells, each measured once: to see that it works
import { parseArgs } from 'node:util'
import { capacity } from './capacity.mjs'
import { cellCost } from './cell-cost.mjs'
import { journal } from './journal.mjs'
import { describeMachine } from './machine.mjs'
import { peers } from './peers.mjs'
import { report } from './report.mjs'
import { resume } from './resume.mjs'
import { scale } from './scale.mjs'
import { installPackage, SCRATCH } from './scratch.mjs'
import { traffic } from './traffic.mjs'

const BENCHES = { 'cell-cost': cellCost, peers, scale, report, journal, resume, traffic, capacity }
const FULL = {
  'cell-cost': { cells: 20_000 },
  peers: { cells: 2_000 },
  scale: { cells: 100_000 },
  report: { records: 100_000 },
  journal: { records: 100_000 },
  resume: { cells: 20_000 },
  traffic: { calls: 5_000 },
  capacity: {},
}
const QUICK = {
  'cell-cost': { cells: 2_000 },
  peers: { cells: 500 },
  scale: { cells: 10_000 },
  report: { records: 8_000 },
  journal: { records: 8_000 },
  resume: { cells: 2_000 },
  traffic: { calls: 1_000 },
  capacity: {},
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(BENCHES).join() },
    repeats: { type: 'string' },
  },
})
const sizes = values.quick ? QUICK : FULL
const repeats = Number(values.repeats ?? (values.quick ? 1 : 3))

await installPackage()
const best = repeats === 1 ? 'each measured once' : `the best of ${repeats}, the sides in turn`
const parts = [`${await describeMachine(SCRATCH)}. Whole processes, start-up included; ${best}.`]
for (const name of values.only.split(',')) {
  const bench = BENCHES[name]
  if (bench === undefined) throw new Error(`--only: ${name} is none of ${Object.keys(BENCHES).join(', ')}`)
  process.stderr.write(`${name}\n`)
  parts.push(await bench({ ...sizes[name], repeats }))
}
process.stdout.write(`\n${parts.join('\n\n')}\n`)
