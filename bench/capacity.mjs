import { fork } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attainableMs, MAX_OUTPUT, SHAPES } from './capacity-shapes.mjs'
import { runChild } from './child.mjs'
import { pLimit } from './peers/p-limit.mjs'
import { folderOf, install } from './peers.mjs'
import { ROOT, SCRATCH, VITEST, writeFiles } from './scratch.mjs'
import { count, table } from './table.mjs'

const PROVIDER = fileURLToPath(new URL('./capacity-provider.mjs', import.meta.url))
/** The best of these is what a fixed number can do. */
const FIXED = [8, 12, 16, 24, 32]

const FILES = {
  'vitest.config.mjs': `
import { defineConfig } from 'vitest/config'
import { evals } from 'vitest-campaign/plugin'
const lanes = JSON.parse(process.env.LANES).map(({ model, calls, dips, ...limit }) => ({ match: 'openai/' + model, ...limit }))
export default defineConfig({ test: { projects: [evals({ mode: 'live', capacity: { cells: 512, lanes } })] } })`,
  'capacity.eval.ts': `
import { evalCampaign } from 'vitest-campaign'
const { PROVIDER, MAX_OUTPUT } = process.env
const lanes = JSON.parse(process.env.LANES)
evalCampaign('capacity', {
  variants: Object.fromEntries(lanes.map(({ model }) => [model, { model, provider: 'openai' }])),
  scenarios: Array.from({ length: lanes[0].calls }, (_, i) => ({ id: 's' + i, seed: i })),
  async run({ variant: { model }, scenario: { seed }, signal }) {
    const content = 'x'.repeat(30)
    const body = JSON.stringify({ model, seed, max_completion_tokens: Number(MAX_OUTPUT), messages: [{ role: 'user', content }] })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal }
    const response = await fetch(PROVIDER + '/v1/chat/completions', init)
    if (!response.ok) throw new Error('HTTP ' + response.status)
    return (await response.json()).choices[0].message.content
  },
  scorers: { ok: ({ output }) => output === 'yes' },
})`,
}

/**
 * Whole campaigns over real HTTP against providers that enforce their limits, beside p-limit at its best fixed number of
 * calls at once. The provider measures, from the first request to its last answer: the start of a process is not in it.
 */
export async function capacity() {
  const cwd = join(SCRATCH, 'capacity')
  await writeFiles(cwd, FILES)
  const missing = await install(pLimit)
  const rows = []
  for (const [at, shape] of SHAPES.entries()) {
    process.stderr.write(`  ${shape.name}\n`)
    const least = attainableMs(shape)
    const env = { LANES: JSON.stringify(shape.lanes), MAX_OUTPUT: String(MAX_OUTPUT) }
    const calls = shape.lanes.reduce((sum, lane) => sum + lane.calls, 0)
    await rm(join(cwd, '.evals'), { recursive: true, force: true })
    const own = await against(at, calls, (url) =>
      runChild([process.execPath, VITEST, 'run', '--project', 'evals'], { cwd, env: { ...env, PROVIDER: url } }),
    )
    const best = missing === null ? await bestFixed(at, calls, env) : undefined
    rows.push([
      ...[shape.name, count(calls), `${(least / 1000).toFixed(1)} s`],
      ...[share(least, own.ms), count(own.over)],
      ...(best === undefined ? ['–', '–', '–'] : [share(least, best.ms), String(best.fixed), count(best.over)]),
    ])
  }
  const head = ['bound by', 'calls', 'at best', 'campaign', 'refused', 'p-limit', 'at once', 'refused']
  return [
    `### Against providers that enforce their limits, of what is attainable, each measured once\n\n${table(head, rows)}`,
    ...(missing === null ? [] : [`p-limit was left out, it could not be installed: ${missing}`]),
    `### On the simulator's virtual clock, 6,000 to 12,000 cells\n\n${await simulated()}`,
  ].join('\n\n')
}

/** What the best fixed number did: found by all of them at once, each with a provider of its own, then alone. */
async function bestFixed(shape, calls, env) {
  const runOf = (fixed) => (url) =>
    runChild([process.execPath, 'run.mjs'], {
      cwd: folderOf(pLimit),
      env: { ...env, PROVIDER: url, CONCURRENCY: String(fixed) },
    })
  const tried = await Promise.all(
    FIXED.map(async (fixed) => ({ fixed, ...(await against(shape, calls, runOf(fixed))) })),
  )
  const [best] = tried.toSorted((a, b) => a.ms - b.ms)
  const alone = { fixed: best.fixed, ...(await against(shape, calls, runOf(best.fixed))) }
  return alone.ms < best.ms ? alone : best
}

const share = (least, ms) => `${((100 * least) / ms).toFixed(1)} %`

/** What the provider counted while somebody ran against it. */
async function against(shape, calls, run) {
  const provider = fork(PROVIDER, [String(shape)])
  const heard = () => new Promise((resolve) => provider.once('message', resolve))
  try {
    await run(await heard())
    const told = heard()
    provider.send('what did you count?')
    const counted = await told
    if (counted.answered !== calls) throw new Error(`${counted.answered} of ${calls} calls were answered`)
    return counted
  } finally {
    provider.kill()
  }
}

/** The scheduler alone: the test of its throughput, whose shapes take hours of virtual time. */
async function simulated() {
  const report = join(SCRATCH, 'throughput.json')
  const file = 'test/core/capacity/throughput.test.ts'
  await runChild([process.execPath, VITEST, 'run', file, '--reporter=json', `--outputFile=${report}`], { cwd: ROOT })
  const { testResults } = JSON.parse(await readFile(report, 'utf8'))
  const rows = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ title, meta }) => [title.split(':')[0], `${(100 * meta.attained).toFixed(1)} %`, '≥ 97 %', '0'])
  return table(['bound by', 'campaign', 'target', 'over the limit'], rows)
}
