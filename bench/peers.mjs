import { execFile } from 'node:child_process'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { campaign } from './campaign.mjs'
import { measure } from './compare.mjs'
import { evalite } from './peers/evalite.mjs'
import { promptfoo } from './peers/promptfoo.mjs'
import { vitestEvals } from './peers/vitest-evals.mjs'
import { writeFiles } from './scratch.mjs'
import { count, micros, seconds, table, times } from './table.mjs'

const exec = promisify(execFile)
const PEERS = [
  { peer: vitestEvals, target: '≥ 10×' },
  { peer: promptfoo, target: '≥ 10×' },
  { peer: evalite, target: '≥ 30×' },
]

/**
 * The same no-op cells in other tools: as many, each with one subject and one scorer, all in flight where the tool lets
 * them. Beside the whole wall time stands what a cell adds to the start-up, which is the run of 2 cells.
 */
export async function peers({ cells, repeats }) {
  const present = []
  const missing = []
  for (const { peer, target } of PEERS) {
    const problem = await install(peer)
    if (problem === null) present.push({ peer, target })
    else missing.push(`${peer.name} was left out, it could not be installed: ${problem}`)
  }
  const sides = async (of) => [
    ...present.map(({ peer }) => sideOf(peer, of)),
    await campaign({ cells: of, capture: 'on' }),
    await campaign({ cells: of, capture: 'off' }),
  ]
  const allIdle = await measure(await sides(2), repeats)
  const allFull = await measure(await sides(cells), repeats)
  const works = (_, at) => allIdle[at].failure === null && allFull[at].failure === null
  for (const [at, { name, failure }] of allFull.entries()) {
    const why = allIdle[at].failure ?? failure
    if (why !== null) missing.push(`${name} did not do its ${count(cells)} cells: ${why.trim().split('\n').at(-1)}`)
  }
  const [idle, full, peersThere] = [allIdle.filter(works), allFull.filter(works), present.filter(works)]
  const added = full.map((run, at) => (run.wallMs - idle[at].wallMs) / (cells - 2))
  const [on, off] = full.slice(-2)
  const [addedOn, addedOff] = added.slice(-2)
  const rows = full.map((run, at) => [
    run.name,
    seconds(idle[at].wallMs),
    seconds(run.wallMs),
    micros(run.wallMs, cells),
    micros(added[at], 1),
    ...(at < peersThere.length
      ? [
          times(run.wallMs, on.wallMs),
          times(run.wallMs, off.wallMs),
          times(added[at], addedOn),
          times(added[at], addedOff),
          times(run.cpuMs, on.cpuMs),
          peersThere[at].target,
        ]
      : ['', '', '', '', '', '']),
  ])
  const head = ['', '2 cells', 'wall', 'per cell', 'per cell beyond start-up']
  const ratios = ['wall, to on', 'to off', 'beyond start-up, to on', 'to off', 'CPU, to on', 'target']
  return [`### The same ${count(cells)} cells in other tools`, table([...head, ...ratios], rows), ...missing].join(
    '\n\n',
  )
}

function sideOf(peer, cells) {
  const cwd = folderOf(peer)
  return {
    name: peer.packages[0],
    cells,
    cwd,
    command: [process.execPath, ...peer.command],
    env: { ...peer.env, CELLS: String(cells) },
    mayFail: true,
    async prepare() {
      for (const path of peer.leftovers ?? []) await rm(join(cwd, path), { recursive: true, force: true })
    },
    async check(output) {
      if (!output.includes(peer.passed(cells)))
        throw new Error(`${peer.name}: not all cells passed:\n${output.slice(-2000)}`)
    },
  }
}

/** Outside the repository and kept for the next time: an install takes minutes. */
export function folderOf(peer) {
  return join(tmpdir(), 'vitest-campaign-bench', peer.packages.join('+').replaceAll(/[^\w.@+-]/g, '_'))
}

/** @returns null, or why it cannot be had */
export async function install(peer) {
  const folder = folderOf(peer)
  await writeFiles(folder, { 'package.json': '{ "name": "peer", "private": true }', ...peer.files })
  const done = join(folder, 'installed')
  if (await exists(done)) return null
  process.stderr.write(`  installing ${peer.packages.join(' ')}\n`)
  const npm = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...peer.packages]
  try {
    await exec('npm', npm, { cwd: folder, timeout: 20 * 60_000 })
  } catch (error) {
    const lines = String(error.stderr || error.message)
      .trim()
      .split('\n')
    return lines.slice(0, 2).join('; ')
  }
  await writeFiles(folder, { installed: '' })
  return null
}

function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  )
}
