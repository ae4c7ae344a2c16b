// npm run simulate -- [--scale=0.1] [--seed=1] [--only=null,power] [--alpha=0.1]
//   --scale   a share of the campaigns: to see that it works
//   --alpha   the level the gates use, while the bounds stay at .025: to see that a gate that is wrong is found
// A full run writes docs/simulation.md. Ends with 1 when a bound is broken.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { severalCandidates } from './tables/candidates.mjs'
import { missingCells } from './tables/missing.mjs'
import { mustPass } from './tables/must-pass.mjs'
import { atTheMargin, identicalArms } from './tables/null.mjs'
import { plannedPower } from './tables/power.mjs'
import { rareLosses } from './tables/rare-loss.mjs'
import { small } from './tables/small.mjs'
import { atTheThreshold } from './tables/threshold.mjs'
import { Bounds } from './tally.mjs'

const TABLES = {
  null: identicalArms,
  margin: atTheMargin,
  missing: missingCells,
  candidates: severalCandidates,
  threshold: atTheThreshold,
  'must-pass': mustPass,
  'rare-loss': rareLosses,
  power: plannedPower,
}
/** Not part of a full run: the tests play it. */
const ALL = { ...TABLES, small }
const SEED = 20261129

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(SEED) },
    only: { type: 'string', default: Object.keys(TABLES).join() },
    alpha: { type: 'string', default: '0.025' },
  },
})
const number = (name) => {
  const value = Number(values[name])
  if (!(value > 0)) throw new Error(`--${name} must be a positive number, not ${values[name]}`)
  return value
}
const names = values.only.split(',')
for (const name of names) {
  if (!Object.hasOwn(ALL, name)) throw new Error(`--only: ${name} is none of ${Object.keys(ALL).join(', ')}`)
}
const bounds = new Bounds()
let campaigns = 0
const context = {
  seed: number('seed'),
  scale: number('scale'),
  alpha: number('alpha'),
  bounds,
  progress: (played) => {
    campaigns += played
  },
}
const parts = names.map((name) => {
  const start = process.cpuUsage()
  const text = ALL[name](context)
  const { user } = process.cpuUsage(start)
  process.stderr.write(`${name}: ${campaigns} campaigns so far, ${(user / 1e6).toFixed(0)} s\n`)
  return text
})
const verdict =
  bounds.broken.length === 0
    ? 'No bound is broken.'
    : `${bounds.broken.length} broken:\n\n${bounds.broken.map((text) => `- ${text}`).join('\n')}`
const text = `# Simulated campaigns

Written by \`npm run simulate\`, seed ${context.seed}: ${campaigns.toLocaleString('en-US')} campaigns whose truth is known, each judged by the report
builder that judges real ones. Numbers are percent unless a head says otherwise; SE is the standard error of a simulated
rate. Bold: a bound is broken, and the command ends with 1.

Scores lie in [0, 1]; each scenario has 3 seeds unless a row says otherwise. ICC is the correlation of two seeds of one
scenario, within each arm and so in their differences. Coverage counts the campaigns that have an interval.

${verdict}

${parts.join('\n\n')}
`
process.stdout.write(text)
const full = context.scale === 1 && context.seed === SEED && context.alpha === 0.025
if (full && names.length === Object.keys(TABLES).length) {
  writeFileSync(fileURLToPath(new URL('../docs/simulation.md', import.meta.url)), text)
}
process.exitCode = bounds.broken.length === 0 ? 0 : 1
