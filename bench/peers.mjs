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
 * The same no-op cells in other tools, per cell of the whole wall time. The slow ones run fewer cells, which is in their
 * favour where their time grows faster than their cells, and against them by their start-up, shown beside.
 */
export async function peers({ cells, repeats }) {
  const present = []
  const missing = []
  for (const { peer, target } of PEERS) {
    const problem = await install(peer)
    if (problem === null) present.push({ peer, target, of: Math.max(2, cells * peer.share) })
    else missing.push(`${peer.name} was left out, it could not be installed: ${problem}`)
  }
  const ours = (of) => Promise.all(['on', 'off'].map((capture) => campaign({ cells: of, capture })))
  const idle = await measure([...present.map(({ peer }) => sideOf(peer, 2)), ...(await ours(2))], repeats)
  const full = await measure([...present.map(({ peer, of }) => sideOf(peer, of)), ...(await ours(cells))], repeats)
  const [on, off] = full.slice(-2)
  const faster = (ms, run, own, ownMs) => (ms === null ? '–' : times(ms / run.cells, ownMs / own.cells))
  const rows = full.map((run, at) => [
    run.name,
    count(run.cells),
    seconds(idle[at].wallMs),
    seconds(run.wallMs),
    micros(run.wallMs, run.cells),
    ...(at < present.length
      ? [
          faster(run.wallMs, run, on, on.wallMs),
          faster(run.wallMs, run, off, off.wallMs),
          present[at].target,
          faster(run.cpuMs, run, on, on.cpuMs),
        ]
      : ['', '', '', '']),
  ])
  const head = ['', 'cells', '2 cells', 'wall', 'per cell', 'to capture on', 'to capture off', 'target', 'CPU, to on']
  return ['### The same cells in other tools', table(head, rows), ...missing].join('\n\n')
}

function sideOf(peer, cells) {
  const cwd = folderOf(peer)
  return {
    name: peer.packages[0],
    cells,
    cwd,
    command: [process.execPath, ...peer.command],
    env: { ...peer.env, CELLS: String(cells) },
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
function folderOf(peer) {
  return join(tmpdir(), 'vitest-campaign-bench', peer.packages.join('+').replaceAll(/[^\w.@+-]/g, '_'))
}

/** @returns null, or why it cannot be had */
async function install(peer) {
  const folder = folderOf(peer)
  await writeFiles(folder, { 'package.json': '{ "name": "peer", "private": true }', ...peer.files })
  const done = join(folder, 'installed')
  if (await exists(done)) return null
  process.stderr.write(`  installing ${peer.packages.join(' ')}\n`)
  const npm = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...peer.packages]
  try {
    await exec('npm', npm, { cwd: folder, timeout: 20 * 60_000 })
  } catch (error) {
    return String(error.stderr || error.message)
      .trim()
      .split('\n')[0]
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
